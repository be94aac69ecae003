/**
 * Reconciliation: compares each partner's statement of a day with the nostro account of that connection and currency.
 *
 *  * Every day that has ended is a row of work, made by the calendar or on request, and a task. The days of one account
 *    are compared in order: a day that ends makes the next one due.
 *  * The statement is parsed in the worker pool and stored line by line. Its lines must add up and its opening balance
 *    must continue the previous statement; otherwise the reconciliation fails with the reason.
 *  * A payment of unknown outcome that the statement shows as paid is completed through the inbox of the bank's
 *    messages.
 *  * An account is compared from its first day on. What the bank had on it before is an item of that day.
 *  * An item that only the partner has is booked to suspense one day later (L93, L97). The ledger then matches the
 *    bank's balance, and staff find out what the item is.
 */
import { createHash } from 'node:crypto'
import { DAY_MS, HOUR_MS, MINUTE_MS, timestamp, type Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { suspend } from '../../lib/incoming-payments/credit.ts'
import { entry, NO_BALANCE } from '../../lib/ledger/entry.ts'
import { goesToSuspense } from '../../lib/reconciliation/item.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import type { Database } from '../../storage/db/database.ts'
import type { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { newestBlock } from '../../storage/journal/journal-chain.ts'
import { insertNotices, peopleInRoles } from '../../storage/notices/notices.ts'
import * as rows from '../../storage/reconciliation/reconciliations.ts'
import * as matching from '../../storage/reconciliation/reconciliation-matching.ts'
import * as items from '../../storage/reconciliation/reconciliation-items.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import type { ReadPartnerStatement } from '../../workers/reconciliation/statement-reader.ts'
import type { BankInbox } from '../providers/bank.ts'
import type { StatementPartner } from '../providers/statements.ts'
import type { Task } from '../runtime/tasks.ts'

/** Days end at midnight UTC; the timer gives the partners this much time to provide the statement. */
const STATEMENTS_DUE_MS = HOUR_MS
/** The delay before a missing statement is asked for again. */
const LATER_MS = 10 * MINUTE_MS
/** No other attempt takes the day within this time, unless the node of this one is dead. */
const TAKEN_MS = 15 * MINUTE_MS
/** The staff roles that are told of breaks. */
const ROLES = ['operator_admin', 'treasury']

export interface ReconciliationsOptions {
  readonly database: Database
  readonly accounts: InternalAccountCache
  readonly partner: StatementPartner
  readonly readStatement: ReadPartnerStatement
  /** Takes the payments shown on a statement, in the form of the bank's own messages. */
  readonly inbox: BankInbox
  readonly ids: IdSource
  readonly clock: Clock
  readonly onError: (error: unknown, what: string) => void
}

/** A statement that cannot be used; the message tells staff why. */
class Unusable extends Error {
  override readonly name = 'Unusable'
}

export class Reconciliations {
  readonly #options: ReconciliationsOptions

  constructor(options: ReconciliationsOptions) {
    this.#options = options
  }

  /** The tasks: to queue the days that have ended, and to compare a day that is queued. */
  tasks(): readonly Task[] {
    const { database, clock } = this.#options
    return [
      {
        name: 'reconciliation.schedule',
        cron: '*/5 * * * *',
        run: async () => {
          const now = clock.now()
          const until = timestamp(now - STATEMENTS_DUE_MS - DAY_MS).slice(0, 10)
          await rows.queueReconciliations(database, { until, now })
        },
      },
      {
        name: 'reconciliation.compare',
        run: async (id, { attempt }) => {
          const now = clock.now()
          const taken = await rows.takeReconciliation(database, id, {
            now,
            until: now + TAKEN_MS,
            evenIfTaken: attempt > 1,
          })
          if (taken !== null) await this.#work(taken)
        },
      },
    ]
  }

  async #work(taken: rows.TakenReconciliation): Promise<void> {
    const { database, clock, onError } = this.#options
    try {
      if (!(await this.#reconcile(taken)))
        await rows.giveBackReconciliation(database, taken, { laterAt: clock.now() + LATER_MS }, clock.now())
    } catch (error) {
      // Another node has claimed the day meanwhile and does all of it.
      if (error instanceof rows.TakenElsewhere) return
      if (!(error instanceof Unusable)) {
        onError(error, `reconciliation ${taken.id}`)
        await rows.giveBackReconciliation(database, taken, { laterAt: clock.now() + LATER_MS }, clock.now())
        return
      }
      const failed = await rows.giveBackReconciliation(database, taken, { error: error.message }, clock.now())
      if (failed) await this.#tell(taken, `The statement cannot be used: ${error.message}`)
    }
  }

  /** @returns whether there was a statement */
  async #reconcile(taken: rows.TakenReconciliation): Promise<boolean> {
    const { database, clock } = this.#options
    if (!taken.compared && !(await this.#compareStatement(taken))) return false
    await this.#completeExceptions(taken)
    const booked = await this.#bookSuspense(taken)
    const { breaks, unexplained } = await rows.endReconciliation(database, taken, clock.now())
    if (breaks > 0 || unexplained !== 0n) {
      await this.#tell(
        taken,
        [
          ...(breaks === 0
            ? []
            : [`${breaks} ${breaks === 1 ? 'break is' : 'breaks are'} open, ${booked} of them now in suspense.`]),
          ...(unexplained === 0n ? [] : ['The two balances differ by more than that.']),
        ].join(' '),
      )
    }
    return true
  }

  /** @returns whether there was a statement */
  async #compareStatement(taken: rows.TakenReconciliation): Promise<boolean> {
    const { database, accounts, partner, readStatement, clock } = this.#options
    const pieces = await partner.statement(taken)
    if (pieces === null) return false
    await rows.forgetEntries(database, taken)
    let kept = 1
    const statement = await readStatement(pieces, async (entries) => {
      await rows.keepEntries(database, taken, kept, entries)
      kept += entries.length
    })
    if (statement.error !== null) throw new Unusable(statement.error)
    const { nostro } = await accounts.accounts(taken)
    if (nostro === undefined)
      throw new Error(`The connection ${taken.connectionId} has no nostro account in ${taken.currency}.`)
    const block = await newestBlock(database)
    await inTransaction(database, (client) =>
      this.#compare(client, taken, { nostro, statement, block, now: clock.now() }),
    )
    return true
  }

  async #compare(
    client: TransactionClient,
    taken: rows.TakenReconciliation,
    {
      nostro,
      statement: { head, sha256 },
      block,
      now,
    }: {
      readonly nostro: string
      readonly statement: Awaited<ReturnType<ReadPartnerStatement>>
      readonly block: Awaited<ReturnType<typeof newestBlock>>
      readonly now: number
    },
  ): Promise<void> {
    if (!(await rows.isStillTaken(client, taken))) throw new rows.TakenElsewhere(taken)
    if (head.currency !== taken.currency) throw new Unusable(`It is in ${head.currency}, not in ${taken.currency}.`)
    const { count, total } = await rows.entriesTotal(client, taken.id)
    if (head.opening + total !== head.closing)
      throw new Unusable(`Its entries come to ${total}, its balances to ${head.closing - head.opening} (minor units).`)
    const before = await rows.dayBefore(client, taken)
    if (before !== null && before.partnerClosing !== head.opening)
      throw new Unusable(
        `It begins with ${head.opening}, the one before ended with ${before.partnerClosing} (minor units).`,
      )
    const nostroOpening = before?.nostroClosing ?? (await matching.nostroBefore(client, nostro, taken.day))
    const { matched, moved } = await matching.matchDay(client, taken, { nostro, now })
    const difference = head.opening - nostroOpening
    if (before === null && difference !== 0n) await matching.noteOpening(client, taken, { difference, now })
    const { timing, breaks, difference: explained } = await rows.itemsLeft(client, taken)
    const nostroClosing = nostroOpening + moved
    const unexplained = head.closing - nostroClosing - explained
    await rows.keepResult(client, taken.id, {
      head,
      sha256,
      entries: count,
      nostroOpening,
      nostroClosing,
      matched,
      timing,
      breaks,
      unexplained,
      block,
      now,
    })
  }

  /**
   * Reports the paid exceptions to the inbox: a statement proves an outcome as a message does. Each line has one
   * message id, so that it counts once.
   */
  async #completeExceptions(taken: rows.TakenReconciliation): Promise<void> {
    const { database, inbox } = this.#options
    const found = await items.exceptionsOnStatement(database, taken)
    if (found.length === 0) return
    await inbox(
      found.map(({ paymentId: reference, shard, itemId }) => ({
        id: evidenceId(itemId),
        type: 'settled',
        reference,
        shard,
        schemeCode: null,
        amount: null,
      })),
    )
  }

  /** Books breaks to suspense (L93 and L97). @returns the number booked */
  async #bookSuspense(taken: rows.TakenReconciliation): Promise<number> {
    const { database, clock, ids } = this.#options
    const unbooked = await items.unbookedBreaks(database, taken)
    const accounts = await this.#options.accounts.accounts(taken)
    let booked = 0
    for (const id of unbooked) {
      booked += await inTransaction(database, async (client) => {
        const item = await items.lockItem(client, id)
        if (item === null || !goesToSuspense(item) || item.partnerAmount === null) return 0
        const now = clock.now()
        const today = timestamp(now).slice(0, 10)
        const { operatorId, connectionId, currency, partnerAmount: amount, text } = item
        if (item.direction === 'DBIT') {
          const postings = entry({
            rule: 'L93',
            amounts: { A: amount },
            currency,
            accounts,
            balances: NO_BALANCE,
            entryId: ids.next(),
            customerId: operatorId,
            source: { object: items.BREAK_SOURCE, id },
            description: 'Unexplained debit on the partner’s statement',
            reference: item.bankRef,
            bookedAt: now,
            valueDate: today,
          })
          await writeEffects({ client, now }, { postings })
          await items.noteSuspense(client, id, null, now)
          return 1
        }
        // Uses the bank's own reference, so that a later message of the bank is a repeat; uses the item's id when that
        // reference is taken.
        const reference =
          item.reference === null || (await items.incomingExists(client, item.reference)) ? id : item.reference
        const credit = {
          reference,
          amount,
          currency,
          payerName: null,
          payerIdentifier: null,
          payerBankName: null,
          payerCountry: null,
          remittance: text,
          rail: null,
          endToEndId: null,
          uetr: null,
          valueDate: today,
        }
        const effects = suspend(
          { operatorId, connectionId, shard: shardOf(connectionId), customerId: null, balanceId: null },
          'owner_unknown',
          { key: { id, fingerprint: id }, event: { id, type: 'statement.credit' }, credit, accounts, ids },
          now,
          'L97',
        )
        await writeEffects({ client, now }, effects)
        await items.noteSuspense(client, id, reference, now)
        return 1
      })
    }
    return booked
  }

  /** Notifies the operator's staff. */
  async #tell({ id, operatorId, currency, day }: rows.TakenReconciliation, text: string): Promise<void> {
    const { database, clock, ids } = this.#options
    const title = `Reconciliation of ${currency} for ${day}`
    await inTransaction(database, async (client) => {
      const people = await peopleInRoles(client, operatorId, ROLES)
      await insertNotices(
        client,
        ids,
        people,
        { tenantId: operatorId, type: 'reconciliation_breaks', title, text, object: { type: 'reconciliation', id } },
        clock.now(),
      )
    })
  }
}

/** Derives the message id of a statement line: a UUID of version 8 from the item's id. */
function evidenceId(itemId: string): string {
  const hex = createHash('sha256').update(`statement ${itemId}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

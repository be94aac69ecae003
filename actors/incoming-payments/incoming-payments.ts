/**
 * Incoming payments: each credit that the partner reports becomes one incoming payment, once (I5), and each return is
 * sent to the partner until the partner has taken it.
 *
 * A credit that names a balance is decided by that balance in the group commit. A credit without a known balance is
 * booked to suspense, to wait for its owner (L03), in a transaction of its own. A message is acknowledged when its
 * content is committed, now or earlier.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { Screener, ScreeningHit } from '../../lib/compliance/screening.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { suspend, type ReceiveCredit } from '../../lib/incoming-payments/credit.ts'
import { settleReturn } from '../../lib/incoming-payments/moves.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { CommitConflict, writeEffects } from '../../storage/sections/write-effects.ts'
import type { BalanceCache } from '../../storage/balances/balance-cache.ts'
import type { Database } from '../../storage/db/database.ts'
import {
  changeIncoming,
  dueReturns,
  knownCredits,
  lockIncoming,
  operatorOfConnection,
  returnsSent,
} from '../../storage/incoming-payments/incoming-payments.ts'
import type { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import { creditedBalance } from '../balances/balance.ts'
import type { CreditInbox, CreditMessage, CreditPartner } from '../providers/credits.ts'
import { Poller } from '../runtime/poller.ts'
import { untilDue } from '../runtime/rest.ts'
import type { Wakes } from '../runtime/wakes.ts'
import type { ActorSystem } from '../runtime/system.ts'

/** The poll interval for money to be returned. */
const RETURNS_TICK_MS = 1_000

/** Moves of one balance between connections that a credit outlasts: far more than staff make within a second. */
const MOVES_MAX = 5

export interface IncomingPaymentsOptions {
  readonly wakes: Wakes
  readonly system: ActorSystem
  readonly database: Database
  readonly accounts: InternalAccountCache
  readonly balances: BalanceCache
  readonly partner: CreditPartner
  readonly screener: Screener
  readonly ids: IdSource
  readonly clock: Clock
  /** Returns are sent by the node that owns their shard. */
  readonly shards: Shards
  readonly onError: (error: unknown, what: string) => void
}

type Credited = Extract<CreditMessage, { readonly type: 'account.credited' }>

export class IncomingPayments {
  readonly #options: IncomingPaymentsOptions
  readonly #returns: Poller

  constructor(options: IncomingPaymentsOptions) {
    this.#options = options
    this.#returns = new Poller({
      everyMs: RETURNS_TICK_MS,
      poll: () => this.#giveBack(),
      rest: untilDue(options, ['incoming_payment'], ['events']),
      onError: (error) => options.onError(error, 'returned credits'),
    })
  }

  start(): void {
    this.#returns.start()
  }

  async stop(): Promise<void> {
    await this.#returns.stop()
  }

  /** Takes the partner's messages; resolves with the ids of the messages that need not be sent again. */
  readonly inbox: CreditInbox = async (messages) => {
    const { database, screener, onError } = this.#options
    const credits = messages.filter((message) => message.type === 'account.credited')
    const known = credits.length === 0 ? new Set<string>() : await knownCredits(database, credits)
    const unknown = credits.filter(({ id }) => !known.has(id))
    // The special amounts of the sandbox are for outgoing payments; for incoming money only the payer is screened.
    const hits =
      unknown.length === 0
        ? new Map<string, ScreeningHit>()
        : await screener.screen(
            unknown.map(({ reference: id, credit }) => ({
              id,
              amount: 0n,
              reference: '',
              recipientName: credit.payerName ?? '',
            })),
          )
    const taken = [...known]
    const take = async ({ id }: CreditMessage, work: () => Promise<void>): Promise<void> => {
      try {
        await work()
        taken.push(id)
      } catch (error) {
        // Not acknowledged, so the partner sends it again.
        onError(error, 'bank message')
      }
    }
    await Promise.all(
      unknown.map((message) => take(message, () => this.#receive(message, hits.get(message.reference) ?? null))),
    )
    // Returned credits are rare, so each is settled in a transaction of its own.
    for (const message of messages)
      if (message.type === 'account.credit_returned') await take(message, () => this.#settle(message))
    return taken
  }

  async #receive(message: Credited, hit: ScreeningHit | null): Promise<void> {
    const { id, shard, type, account, connectionId, credit } = message
    const { system, accounts, balances, ids } = this.#options
    const balance = account === null ? null : await balances.find(account)
    const operatorId = await this.#operatorOf(connectionId)
    const scope = { operatorId, connectionId, currency: credit.currency }
    const command: Omit<ReceiveCredit, 'accounts'> = {
      kind: 'receive_credit',
      key: { id, fingerprint: id },
      event: { id, type },
      connectionId,
      credit,
      hit,
      seed: ids.next(),
    }
    if (balance === null || account === null) {
      await this.#suspend({ ...command, accounts: await accounts.accounts(scope) }, { operatorId, connectionId, shard })
      return
    }
    const internal =
      hit === null
        ? await accounts.accounts(scope)
        : await accounts.accountsWith(scope, 'review_held', balance.customerId)
    // The balance may have moved to another connection, where it was read or afterwards.
    let home = balance.connectionId
    for (let moves = 0; moves <= MOVES_MAX; moves++) {
      const outcome = await system.ask(creditedBalance, account, shardOf(balance.customerId), {
        ...command,
        accounts: internal,
        ...(home === connectionId
          ? {}
          : { home: { connectionId: home, accounts: await accounts.accounts({ ...scope, connectionId: home }) } }),
      })
      if (outcome.kind !== 'decided' && outcome.kind !== 'recorded')
        throw new Error(`The credit ${credit.reference} met ${outcome.kind}.`)
      if (outcome.kind === 'recorded' || outcome.reply.kind === 'credit_received') return
      home = outcome.reply.connectionId
      balances.forget(account)
    }
    throw new Error(`The balance of the credit ${credit.reference} keeps moving.`)
  }

  async #suspend(
    command: ReceiveCredit,
    owner: { readonly operatorId: string; readonly connectionId: string; readonly shard: number },
  ): Promise<void> {
    const { database, clock, ids } = this.#options
    const now = clock.now()
    await unlessRecorded(() =>
      inTransaction(database, (client) =>
        writeEffects(
          { client, now },
          suspend({ ...owner, customerId: null, balanceId: null }, 'owner_unknown', { ...command, ids }, now),
        ),
      ),
    )
  }

  /** Books that returned money has left (L11). A message that fits no return was taken before. */
  async #settle({ id, type, reference }: CreditMessage): Promise<void> {
    const { database, accounts, ids, clock, onError } = this.#options
    await inTransaction(database, async (client) => {
      const record = await lockIncoming(client, reference)
      if (record === null || record.returnState === null) {
        onError(
          new Error(`The bank has returned ${reference}, which is no credit that was to go back.`),
          'bank message',
        )
        return
      }
      if (record.returnState === 'settled') return
      const now = clock.now()
      const move = settleReturn(record, { accounts: await accounts.within(client).accounts(record), ids, now })
      await writeEffects(
        { client, now },
        {
          ...move.effects,
          providerEvents: [
            { id, connectionId: record.connectionId, type, objectId: reference, code: null, receivedAt: now },
          ],
        },
      )
      await changeIncoming(client, reference, move.change, now)
    })
  }

  /** Sends the returns that are due. The partner treats a repeat as the same order. */
  async #giveBack(): Promise<void> {
    const { database, partner, shards } = this.#options
    const due = await dueReturns(database, shards.owned(), LIMITS.partnerBatchMax)
    if (due.length === 0) return
    const taken = await partner.giveBack(
      due.map(({ id: reference, shard, connectionId, amount, returnedAmount, currency, returnReason }) => ({
        reference,
        shard,
        connectionId,
        amount: returnedAmount ?? amount,
        currency,
        reasonCode: returnReason ?? 'NARR',
      })),
    )
    if (taken.length > 0) await returnsSent(database, taken)
  }

  async #operatorOf(connectionId: string): Promise<string> {
    const operatorId = await operatorOfConnection(this.#options.database, connectionId)
    if (operatorId === null)
      throw new Error(`A partner's message names the connection ${connectionId}, which does not exist.`)
    return operatorId
  }
}

/** Runs work whose message another node may have recorded meanwhile; the work counts as done then. */
async function unlessRecorded(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof CommitConflict) || !error.conflicts.every(({ kind }) => kind === 'recorded')) throw error
  }
}

/**
 * Incoming debits: each debit that the bank reports becomes one incoming debit, once (I5), is taken or refused by the
 * balance that pays it on its due date, and the bank is told of the outcome until it has taken the answer.
 *
 * A debit is decided by its balance in the group commit, on its arrival and again when it is due. The bank's messages
 * about a debit that is known are rare: each is taken in a transaction of its own, under the lock of the debit's row.
 * A message is acknowledged when its content is committed, now or earlier.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import type { DebitFacts, ReceiveDebit, TakeDebit } from '../../lib/incoming-debits/decide-debit.ts'
import type { PayerMandate } from '../../lib/incoming-debits/effects.ts'
import type { IncomingDebitRecord } from '../../lib/incoming-debits/incoming-debit.ts'
import { mayMove } from '../../lib/incoming-debits/incoming-debit-moves.ts'
import { REFUSALS } from '../../lib/incoming-debits/refusals.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import type { BalanceCache } from '../../storage/balances/balance-cache.ts'
import type { Database } from '../../storage/db/database.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import {
  answersTold,
  dueAnswers,
  dueDebits,
  findIncomingDebits,
  knownDebits,
  lockIncomingDebit,
} from '../../storage/incoming-debits/incoming-debits.ts'
import { payConsent, payerMandateId, payerMandates } from '../../storage/incoming-debits/payer-mandates.ts'
import { operatorOfConnection } from '../../storage/incoming-payments/incoming-payments.ts'
import type { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { debitedBalance } from '../balances/balance.ts'
import type {
  DebitArrival,
  IncomingDebitInbox,
  IncomingDebitMessage,
  IncomingDebitPartner,
} from '../providers/incoming-debits.ts'
import { askUntilDecided, type AskConflict } from '../runtime/ask-until-decided.ts'
import { readHome } from '../providers/cash/home-accounts.ts'
import { Poller } from '../runtime/poller.ts'
import { untilDue } from '../runtime/rest.ts'
import type { ActorSystem } from '../runtime/system.ts'
import type { Task } from '../runtime/tasks.ts'
import type { Wakes } from '../runtime/wakes.ts'
import { writeMove } from './write-move.ts'

/** The poll interval for answers to the bank. */
const ANSWERS_TICK_MS = 1_000
/** The delay before an answer is sent again that the bank has not taken. */
const ANSWER_AGAIN_MS = 30_000
/** The number of due debits that are read at a time. */
const DUE_MAX = 256

export interface IncomingDebitsOptions {
  readonly wakes: Wakes
  readonly system: ActorSystem
  readonly database: Database
  readonly accounts: InternalAccountCache
  readonly balances: BalanceCache
  readonly partner: IncomingDebitPartner
  readonly ids: IdSource
  readonly clock: Clock
  /** Answers are sent by the node that owns their shard. */
  readonly shards: Shards
  readonly onError: (error: unknown, what: string) => void
}

type Later = Exclude<IncomingDebitMessage, DebitArrival>

export class IncomingDebits {
  readonly #options: IncomingDebitsOptions
  readonly #answers: Poller

  constructor(options: IncomingDebitsOptions) {
    this.#options = options
    this.#answers = new Poller({
      everyMs: ANSWERS_TICK_MS,
      poll: () => this.#answer(),
      rest: untilDue(options, ['incoming_debit'], ['events']),
      onError: (error) => options.onError(error, 'answers to debits'),
    })
  }

  start(): void {
    this.#answers.start()
  }

  async stop(): Promise<void> {
    await this.#answers.stop()
  }

  /** Takes the bank's messages; resolves with the ids of the messages that need not be sent again. */
  readonly inbox: IncomingDebitInbox = async (messages) => {
    const { database, onError } = this.#options
    const known = await knownDebits(
      database,
      messages.map((message) => ({ id: message.id, reference: message.reference, isNew: 'debit' in message })),
    )
    const taken = [...known]
    const unknown = messages.filter(({ id }) => !known.has(id))
    const arrivals = unknown.filter((message) => 'debit' in message)
    const take = async ({ id }: IncomingDebitMessage, work: () => Promise<void>): Promise<void> => {
      try {
        await work()
        taken.push(id)
      } catch (error) {
        // Not acknowledged, so the bank sends it again.
        onError(error, 'bank message')
      }
    }
    await Promise.all(arrivals.map((message) => take(message, () => this.#receive(message))))
    for (const message of unknown) if (!('debit' in message)) await take(message, () => this.#endByBank(message))
    return taken
  }

  /** Takes the debits of a shard that are due; without a shard, all. */
  task(): Task {
    return {
      name: 'incoming_debits.take',
      cron: '*/10 * * * *',
      run: async (shard) => {
        const { database, clock, onError } = this.#options
        const owned = shard === '' ? null : [Number(shard)]
        for (;;) {
          const due = await dueDebits(database, { now: clock.now(), owned, max: DUE_MAX })
          if (due.length === 0) return
          const failures = (
            await Promise.all(
              due.map((debit) =>
                this.#take(debit).then(
                  () => null,
                  (error: unknown) => error ?? 'unknown',
                ),
              ),
            )
          ).filter((error) => error !== null)
          for (const error of failures) onError(error, 'a due debit')
          // The task begins again later, with those that failed.
          if (failures.length === due.length) throw failures[0]
        }
      },
    }
  }

  /** Brings a debit that has arrived to its balance. */
  async #receive({ id, shard, type, account, connectionId, debit }: DebitArrival): Promise<void> {
    const { database, accounts, ids } = this.#options
    if (account === null) throw new Error(`The debit ${debit.reference} is of an account that is not known.`)
    const operatorId = await operatorOfConnection(database, connectionId)
    if (operatorId === null) throw new Error(`A debit names the connection ${connectionId}, which does not exist.`)
    const scope = { operatorId, connectionId, currency: debit.currency }
    const internal = await accounts.accounts(scope)
    await this.#ask(
      account,
      shard,
      async (): Promise<ReceiveDebit> => ({
        kind: 'receive_debit',
        // Two messages of one debit, at two nodes at once, are one command.
        key: { id: debit.reference, fingerprint: debit.reference },
        event: { id, type },
        debit,
        connectionId,
        mandate: await this.#mandateOf(account, debit),
        consent: await payConsent(database, { ...debit, balanceId: account }),
        accounts: internal,
        home: await readHome(database, accounts, { ...scope, balanceId: account }),
        seed: ids.next(),
      }),
    )
  }

  /** Brings a debit that is due to its balance. */
  async #take(found: IncomingDebitRecord): Promise<void> {
    const { database, accounts, ids } = this.#options
    const internal = await accounts.accounts(found)
    let debit: IncomingDebitRecord | undefined = found
    await this.#ask(found.balanceId, found.shard, async (): Promise<TakeDebit> => {
      debit ??= (await findIncomingDebits(database, [found.id])).get(found.id)
      if (debit === undefined) throw new Error(`The incoming debit ${found.id} is gone.`)
      const read = debit
      debit = undefined
      const mandates = await payerMandates(database, read.mandateId === null ? [] : [read.mandateId])
      return {
        kind: 'take_debit',
        debit: read,
        mandate: read.mandateId === null ? null : (mandates.get(read.mandateId) ?? null),
        consent: await payConsent(database, read),
        accounts: internal,
        home: await readHome(database, accounts, read),
        seed: ids.next(),
      }
    })
  }

  /** Asks the balance; a debit or a mandate that has changed since it was read is read again. */
  async #ask(balanceId: string, shard: number, make: () => Promise<ReceiveDebit | TakeDebit>): Promise<void> {
    const { system, clock } = this.#options
    const deadline = clock.now() + LIMITS.requestDeadlineMs
    await askUntilDecided(
      { system, actor: debitedBalance, id: balanceId, shard, deadline },
      make,
      (conflict: AskConflict) => {
        if (conflict.kind === 'incoming_debit_stale' || conflict.kind === 'mandate_stale') return 'again'
        // The balance has moved to another connection.
        if (conflict.kind === 'fact_stale') return 'again'
        throw new Error(`A debit of the balance ${balanceId} met ${conflict.kind}.`)
      },
      'balance',
    )
  }

  /** Returns the mandate that a debit names: as it is stored, or as its first debit makes it; null where it names none. */
  async #mandateOf(balanceId: string, debit: DebitFacts): Promise<PayerMandate | null> {
    const { database, balances } = this.#options
    const { scheme, creditorId, creditorName, mandateReference: reference } = debit
    if (reference === null) return null
    const balance = await balances.find(balanceId)
    if (balance === null) throw new Error(`The debit ${debit.reference} is of a balance that does not exist.`)
    const named = { balanceId, scheme, creditorId, creditorName, reference }
    const id = payerMandateId(named)
    const found = (await payerMandates(database, [id])).get(id)
    return found ?? { ...named, id, customerId: balance.customerId, status: 'seen', lastDueDate: null, version: 0 }
  }

  /** Takes the bank's word that a debit is collected no longer, or that its money came back. */
  async #endByBank({ id, type, reference, reasonCode, amount }: Later): Promise<void> {
    const { database, accounts, ids, clock, onError } = this.#options
    await inTransaction(database, async (client) => {
      const record = await lockIncomingDebit(client, reference)
      const move = type === 'debit.withdrawn' ? 'withdraw' : 'return'
      if (record === null || (amount !== null && amount !== record.amount)) {
        onError(new Error(`The bank tells ${type} of ${reference}, which is no such debit.`), 'bank message')
        return
      }
      // A message that comes late or twice changes nothing.
      if (mayMove(record, move) !== null) return
      const now = clock.now()
      const tx = { client, ids, now }
      await writeMove({ accounts }, tx, record, {
        move,
        given:
          move === 'withdraw'
            ? { refusal: 'withdrawn', reasonCode: reasonCode ?? REFUSALS.withdrawn.code }
            : { reasonCode },
        also: {
          providerEvents: [
            {
              id,
              connectionId: record.connectionId,
              type,
              objectId: record.id,
              code: reasonCode,
              receivedAt: now,
            },
          ],
        },
      })
    })
  }

  /** Sends the answers that are due. The bank treats a repeat as the same answer. */
  async #answer(): Promise<void> {
    const { database, partner, shards, clock } = this.#options
    const due = await dueAnswers(database, { now: clock.now(), owned: shards.owned(), max: LIMITS.partnerBatchMax })
    if (due.length === 0) return
    const taken = new Set(
      await partner.answerDebits(
        due.flatMap(({ id: reference, answer, ...debit }) =>
          answer === null ? [] : [{ ...debit, reference, answer, shard: shardOf(debit.customerId) }],
        ),
      ),
    )
    await answersTold(
      database,
      due.filter(({ id }) => taken.has(id)),
      null,
    )
    await answersTold(
      database,
      due.filter(({ id }) => !taken.has(id)),
      clock.now() + ANSWER_AGAIN_MS,
    )
  }
}

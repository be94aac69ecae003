/**
 * Payments on their way to the bank, and the bank's answers on their way back.
 *
 * Promises:
 *  * The queue is the rows of partner_instruction, written with the payment and deleted with its outcome. Memory holds
 *    a bounded window of the rows. After a crash, the rows show which payments still have to be submitted.
 *  * The compliance gate screens each payment before its hand-over entry (L10). A payment with a hit leaves the queue
 *    and is under review.
 *  * The hand-over entry (L10) is committed before the bank is called (I1). A submission that times out is not
 *    repeated: the payment becomes `exception`, and the queue asks the bank for its status (I7).
 *  * A payment on the rail `internal` is booked instead of handed over: one commit debits the payer and credits the
 *    payee, and no bank is called.
 *  * For a payment that was handed over by a process that died, the queue first asks the bank for its status. The
 *    payment is submitted, under the same reference, only when the bank answers that it never arrived. When the bank
 *    gives no status, the payment is treated as if the submission had timed out.
 */
import { HOUR_MS, type Clock, timestamp } from '../../lib/base/clock.ts'
import type { Screener, ScreeningHit } from '../../lib/compliance/screening.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { railDate } from '../../lib/rails/business-days.ts'
import type {
  InternalPayee,
  PaymentMoveContext,
  PaymentCommand,
  PaymentReply,
  PaymentState,
} from '../../lib/payments/payment-state.ts'
import type { RecallCommand } from '../../lib/payments/recall.ts'
import type { QueuePlace } from '../../lib/payments/payment.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { OutcomeUnknown } from '../../storage/db/connection.ts'
import type { Database } from '../../storage/db/database.ts'
import type { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { internalPayees } from '../../storage/payments/internal-payees.ts'
import { isKeptAlready, keepMessages } from '../../storage/providers/provider-events.ts'
import {
  countUnsentPayments,
  placesOfPayments,
  resubmittablePayments,
  silentPayments,
  unknownPayments,
  unsentPayments,
  type QueuedPayment,
} from '../../storage/payments/partner-instructions.ts'
import { loadPayments } from '../../storage/payments/payment-states.ts'
import type { BankInbox, BankMessage, BankPartner, PaymentOrder, Submission } from '../providers/bank.ts'
import { paymentActor } from './payment.ts'
import { moveOf, outcomeOf } from './bank-messages.ts'
import { ComplianceGate } from './compliance-gate.ts'
import type { Outcome } from '../runtime/actor.ts'
import type { ActorSystem } from '../runtime/system.ts'
import { readerOf } from '../../storage/db/transaction.ts'

/** Batches handed over at the same time: while one is at the bank, the next one commits. */
const BATCHES_MAX = 2
/** Pause of the queue after a failure of the database or the bank. */
const PAUSE_MS = 500
/** Time between two polls for payments whose outcome is unknown. */
const ATTENTION_TICK_MS = 1_000
/** A bank that does not know the outcome of a payment yet is asked again after this time. */
const ASK_AGAIN_MS = 5_000
/** Questions about one payment before the time between two questions begins to double: two minutes of questions. */
const PATIENT_ATTEMPTS = 24
/** A bank that still does not know a payment after this many questions (15 seconds in all) never received it. */
const LOST_ATTEMPTS = 3
/** The bank is asked about a payment handed over this long ago without any message; also the time between two polls. */
const SILENCE_MS = 30_000
/**
 * Time between two polls of the rows for payments that were never offered to this queue: payments whose commit got no
 * answer, and payments of a shard that moved to this node during their commit.
 */
const LOOK_MS = 5_000
/**
 * Lowest rate, in payments a second, also used before the first measurement: the sandbox bank takes at least this many.
 */
const RATE_MIN = 50
/** The rate is measured over this time. */
const RATE_WINDOW_MS = 5_000

export interface PaymentQueueOptions {
  readonly system: ActorSystem
  readonly database: Database
  readonly accounts: InternalAccountCache
  readonly bank: BankPartner
  /** Screens every payment before it is handed over. */
  readonly screener: Screener
  readonly ids: IdSource
  readonly clock: Clock
  /** Only the node that owns a shard works on the rows of that shard. */
  readonly shards: Shards
  /**
   * Tells the owner of a shard that a payment waits there, when a request on this node queued a payment of that shard.
   */
  readonly elsewhere?: (shard: number) => void
  readonly onError: (error: unknown, what: string) => void
}

const NO_PAYEES: ReadonlyMap<string, InternalPayee> = new Map()
const NO_HITS: ReadonlyMap<string, ScreeningHit> = new Map()

/** The context of the moves of one payment, with its rail. */
interface Context extends PaymentMoveContext {
  readonly rail: string
}

export class PaymentQueue {
  readonly #options: PaymentQueueOptions
  readonly #gate: ComplianceGate
  #waiting: QueuedPayment[] = []
  /** True when there may be rows that memory does not hold: the window was full, or nothing has been read yet. */
  #more = true
  #batches = 0
  #running = false
  #pausedUntil = 0
  #timers = new Set<NodeJS.Timeout>()
  #work = new Set<Promise<void>>()
  /** Ids of the payments that this process is handing over: a refill must not take them twice. */
  readonly #moving = new Set<string>()
  /**
   * Payments that may have been handed over: their commit got no answer (I7). The next tick asks the bank about them.
   * If the process dies first, the poll for payments without a message finds them.
   */
  readonly #doubtful = new Map<string, number>()
  #backlog = 0
  #handedOver = { since: 0, count: 0, rate: RATE_MIN }

  constructor(options: PaymentQueueOptions) {
    this.#options = options
    this.#gate = new ComplianceGate(options)
  }

  /** Number of payments that wait for the bank, as far as this node knows. */
  get backlog(): number {
    return this.#backlog
  }

  /**
   * Starts the queue with the payments left over from before; new payments follow.
   *
   * @throws what the driver throws
   */
  async start(): Promise<void> {
    const { database, shards } = this.#options
    this.#backlog = await countUnsentPayments(database, shards.owned())
    this.#running = true
    shards.onChange((change) => this.#moved(change))
    this.#background(this.#recover(this.#options.clock.now()))
    const silence = setInterval(
      () => this.#background(this.#recover(this.#options.clock.now() - SILENCE_MS)),
      SILENCE_MS,
    )
    this.#timers.add(silence)
    this.#timers.add(setInterval(() => this.#tick(), ATTENTION_TICK_MS))
    this.#timers.add(setInterval(() => this.look(), LOOK_MS))
    this.#pump()
  }

  /** Stops taking payments, and waits until the work already begun is finished. */
  async stop(): Promise<void> {
    this.#running = false
    for (const timer of this.#timers) clearTimeout(timer)
    await this.#idle()
  }

  /** Does what the timers do, once; resolves when all work that has begun is finished. */
  async runOnce(): Promise<void> {
    await this.#idle()
    this.#tick()
    this.look()
    await this.#idle()
  }

  #tick(): void {
    this.#background(this.#attend())
    this.#background(this.#clear())
    this.#pump()
  }

  async #idle(): Promise<void> {
    while (this.#work.size > 0) await Promise.allSettled(this.#work)
  }

  /** Returns the position that a payment made now would have in the queue, with an estimate of its waiting time. */
  place(now: number): QueuePlace {
    const position = this.#backlog + 1
    const etaSeconds = Math.ceil(position / this.#handedOver.rate)
    return { position, etaSeconds, estimatedAt: timestamp(now + etaSeconds * 1_000) }
  }

  /** Rate at which payments leave the queue, in payments a second; at least `RATE_MIN`. */
  get rate(): number {
    return this.#handedOver.rate
  }

  /** Reads the rows for payments that were never offered to this queue. */
  look(): void {
    this.#more = true
    this.#pump()
  }

  /**
   * Adds a committed payment to the queue. When another node owns its shard, that node is told through `elsewhere`, and
   * finds the row there.
   */
  offer(id: string, shard: number): void {
    if (!this.#options.shards.owns(shard)) {
      this.#options.elsewhere?.(shard)
      return
    }
    this.#backlog += 1
    if (!this.#running) return
    if (this.#waiting.length < LIMITS.dispatchQueueMax) this.#waiting.push({ id, shard })
    else this.#more = true
    this.#pump()
  }

  /** Processes the bank's messages; resolves with the ids of the messages that the bank need not send again. */
  readonly inbox: BankInbox = async (messages) => {
    const acknowledged: string[] = []
    // Messages that come late or twice, or that contradict an earlier message.
    const ignored: BankMessage[] = []
    const states = await this.#statesOf(messages)
    await Promise.all(
      messages.map(async (message) => {
        const context = states.get(message.reference)
        // A reference of no payment here: logged once and acknowledged, because the bank would send the message for ever.
        if (context === undefined) {
          this.#options.onError(
            new Error(`The bank reports on ${message.reference}, which is not a payment of ours.`),
            'bank message',
          )
          acknowledged.push(message.id)
          return
        }
        try {
          const outcome = await this.#ask(
            message.reference,
            message.shard,
            moveOf(message, context, this.#options.clock.now() + ASK_AGAIN_MS),
          )
          if (outcome.kind === 'decided' && outcome.reply.kind === 'ignored') ignored.push(message)
          else acknowledged.push(message.id)
        } catch (error) {
          if (isKeptAlready(error)) {
            acknowledged.push(message.id)
            return
          }
          // Not acknowledged, so the bank sends it again. If its move was committed after all, the repeat fits no row.
          this.#options.onError(error, 'bank message')
        }
      }),
    )
    if (ignored.length > 0) {
      await keepMessages(this.#options.database, ignored, this.#options.clock.now())
      acknowledged.push(...ignored.map(({ id }) => id))
    }
    return acknowledged
  }

  /**
   * Reads the rows of gained shards, and drops the payments of lost shards from memory: their new owner reads the rows.
   */
  #moved({ gained, lost }: { readonly gained: readonly number[]; readonly lost: readonly number[] }): void {
    if (lost.length > 0) {
      const gone = new Set(lost)
      this.#waiting = this.#waiting.filter(({ shard }) => !gone.has(shard))
    }
    if (gained.length > 0 && this.#running) {
      this.#more = true
      this.#background(this.#recover(this.#options.clock.now()))
      this.#pump()
    }
  }

  #background(work: Promise<void>): void {
    const guarded = work
      .catch((error: unknown) => this.#options.onError(error, 'payment queue'))
      .finally(() => this.#work.delete(guarded))
    this.#work.add(guarded)
  }

  #pump(): void {
    if (!this.#running || this.#options.clock.now() < this.#pausedUntil) return
    while (this.#batches < BATCHES_MAX && (this.#waiting.length > 0 || this.#more)) {
      this.#batches += 1
      this.#background(
        this.#batch().finally(() => {
          this.#batches -= 1
          this.#pump()
        }),
      )
      // While one batch has to read the rows first, no second batch starts: it would read the same rows.
      if (this.#waiting.length === 0) break
    }
  }

  async #batch(): Promise<void> {
    if (this.#waiting.length === 0) await this.#refill()
    const batch = this.#waiting.splice(0, LIMITS.partnerBatchMax)
    if (batch.length === 0) return
    for (const { id } of batch) this.#moving.add(id)
    try {
      await this.#handOver(batch)
    } catch (error) {
      this.#pausedUntil = this.#options.clock.now() + PAUSE_MS
      this.#more = true
      throw error
    } finally {
      for (const { id } of batch) this.#moving.delete(id)
    }
  }

  async #refill(): Promise<void> {
    if (!this.#more) return
    this.#more = false
    const { database, shards, clock } = this.#options
    const unsent = await unsentPayments(database, {
      now: clock.now(),
      owned: shards.owned(),
      max: LIMITS.dispatchQueueMax,
    })
    this.#more ||= unsent.length === LIMITS.dispatchQueueMax
    const known = new Set(this.#waiting.map(({ id }) => id))
    this.#waiting.unshift(...unsent.filter(({ id }) => !this.#moving.has(id) && !known.has(id)))
    if (!this.#more) this.#backlog = this.#waiting.length + this.#moving.size
  }

  /**
   * Puts payments with a screening hit on hold (P14); hands over all others (P17) and then submits them to the bank.
   */
  async #handOver(batch: readonly QueuedPayment[]): Promise<void> {
    const [contexts, outgoing] = await Promise.all([
      this.#contextsOf(batch.map(({ id }) => id)),
      this.#gate.hits(batch),
    ])
    const payees = await this.#payeesOf(contexts)
    // The payer of an internal payment is screened for the payee, like the payer of any incoming payment, before the
    // move.
    const incoming =
      payees.size === 0
        ? NO_HITS
        : await this.#gate.screen(
            [...payees].map(([id, { payer }]) => ({ id, amount: 0n, reference: '', recipientName: payer.name })),
          )
    const settled = await Promise.allSettled(
      batch.map(({ id, shard }) => {
        const context = contexts.get(id)
        const hit = outgoing.get(id) ?? incoming.get(id)
        if (context === undefined) return Promise.resolve(null)
        if (hit !== undefined) return this.#ask(id, shard, { kind: 'hold', hit, context })
        const payee = payees.get(id)
        return this.#ask(
          id,
          shard,
          payee === undefined ? { kind: 'hand_over', context } : { kind: 'book', payee, context },
        )
      }),
    )
    const handedOver: PaymentState[] = []
    let failure: unknown
    settled.forEach((result, nth) => {
      if (result.status === 'rejected') {
        failure ??= result.reason
        if (result.reason instanceof OutcomeUnknown) this.#doubt(batch[nth] as QueuedPayment)
      } else {
        this.#backlog = Math.max(0, this.#backlog - 1)
        const outcome = result.value
        if (
          outcome?.kind === 'decided' &&
          outcome.reply.kind === 'moved' &&
          outcome.reply.state.sent &&
          outcome.reply.state.status === 'processing'
        )
          handedOver.push(outcome.reply.state)
      }
    })
    this.#measure(handedOver.length)
    if (handedOver.length > 0) await this.#submit(handedOver, contexts)
    if (failure !== undefined) throw failure
  }

  async #submit(payments: readonly PaymentState[], contexts: ReadonlyMap<string, PaymentMoveContext>): Promise<void> {
    const { bank, clock, onError } = this.#options
    const submissions = await bank.submit(payments.map(orderOf)).catch((error: unknown) => {
      // The outcome of the whole batch is unknown: each payment becomes an exception, and the bank is asked about it.
      onError(error, 'bank submission')
      return new Map<string, { kind: 'timeout' }>()
    })
    const booked = await Promise.allSettled(
      payments.map(async (payment) => {
        const context = contexts.get(payment.id) as PaymentMoveContext
        const submission = submissions.get(payment.id) ?? { kind: 'timeout' as const }
        if (submission.kind === 'refused')
          await this.#ask(payment.id, payment.shard, { kind: 'refused', schemeCode: submission.schemeCode, context })
        if (submission.kind === 'timeout')
          await this.#ask(payment.id, payment.shard, {
            kind: 'timeout',
            context,
            askAgainAt: clock.now() + ASK_AGAIN_MS,
          })
      }),
    )
    booked.forEach(({ status }, nth) => {
      if (status === 'rejected') this.#doubt(payments[nth] as PaymentState)
    })
    const failed = booked.find(({ status }) => status === 'rejected')
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason
  }

  #doubt({ id, shard }: QueuedPayment): void {
    if (this.#doubtful.size < LIMITS.dispatchQueueMax) this.#doubtful.set(id, shard)
  }

  /** Asks the bank about the payments whose commit got no answer. */
  async #clear(): Promise<void> {
    const doubtful = Array.from(this.#doubtful, ([id, shard]) => ({ id, shard })).slice(0, LIMITS.partnerBatchMax)
    if (doubtful.length === 0) return
    for (const { id } of doubtful) this.#doubtful.delete(id)
    try {
      await this.#lookInto(doubtful)
    } catch (error) {
      for (const payment of doubtful) this.#doubt(payment)
      throw error
    }
  }

  /**
   * Recovers payments handed over before `sentBefore` that got no message, because a process died or a message was
   * lost: asks the bank for their status, books it, and submits those that never arrived under the same reference.
   */
  async #recover(sentBefore: number): Promise<void> {
    const { database, shards } = this.#options
    let after = '00000000-0000-0000-0000-000000000000'
    while (this.#running) {
      const silent = await silentPayments(database, {
        sentBefore,
        after,
        max: LIMITS.partnerBatchMax,
        owned: shards.owned(),
      })
      const last = silent.at(-1)
      if (last === undefined) return
      after = last.id
      await this.#lookInto(silent.filter(({ id }) => !this.#moving.has(id)))
    }
  }

  /**
   * Asks the bank for the status of these payments, and books the answers. Payments that were handed over and never
   * reached the bank are submitted. Payments without an answer become exceptions: their outcome is unknown (I7).
   */
  async #lookInto(payments: readonly QueuedPayment[]): Promise<void> {
    const { clock, bank } = this.#options
    const ids = payments.map(({ id }) => id)
    const statuses = await bank.status(ids)
    const contexts = await this.#contextsOf(ids)
    await Promise.all(
      payments.map(async ({ id, shard }) => {
        const context = contexts.get(id)
        const status = statuses.get(id)
        if (context === undefined) return
        const outcome =
          status === undefined
            ? { kind: 'timeout' as const, context, askAgainAt: clock.now() + ASK_AGAIN_MS }
            : outcomeOf(status, context)
        if (outcome !== null) await this.#ask(id, shard, outcome)
      }),
    )
    const lost = ids.filter((id) => statuses.get(id)?.kind === 'unknown')
    const states =
      lost.length === 0
        ? new Map<string, PaymentState>()
        : await this.#states(await resubmittablePayments(this.#options.database, lost))
    const unsent = [...states.values()].filter(({ status, sent }) => status === 'processing' && sent)
    if (unsent.length > 0) await this.#submit(unsent, contexts)
  }

  /** Asks the bank for the status of the payments whose outcome is unknown, and books the answers (P22). */
  async #attend(): Promise<void> {
    const { database, clock, bank, shards } = this.#options
    const now = clock.now()
    const payments = await unknownPayments(database, { now, max: LIMITS.partnerBatchMax, owned: shards.owned() })
    if (payments.length === 0) return
    const references = payments.map(({ id }) => id)
    const statuses = await bank.status(references)
    const contexts = await this.#contextsOf(references)
    await Promise.all(
      payments.map(async ({ id, shard, attempts }) => {
        const context = contexts.get(id)
        if (context !== undefined)
          await this.#ask(
            id,
            shard,
            outcomeOf(statuses.get(id), context) ?? { kind: 'still_unknown', askAgainAt: askAgainAt(now, attempts) },
          )
      }),
    )
    const lost = payments
      .filter(({ id, attempts }) => statuses.get(id)?.kind === 'unknown' && attempts >= LOST_ATTEMPTS)
      .map(({ id }) => id)
    if (lost.length > 0) await this.#sendAgain(lost, contexts)
  }

  /**
   * Submits payments again under the same reference: the bank was asked about them often enough to be sure that they
   * never arrived.
   */
  async #sendAgain(ids: readonly string[], contexts: ReadonlyMap<string, PaymentMoveContext>): Promise<void> {
    const { bank, onError } = this.#options
    const states = [...(await this.#states(await resubmittablePayments(this.#options.database, ids))).values()].filter(
      ({ status }) => status === 'exception',
    )
    if (states.length === 0) return
    const submissions = await bank.submit(states.map(orderOf)).catch((error: unknown) => {
      // The outcome is still unknown; the payments stay exceptions, and the bank is asked about them again.
      onError(error, 'bank submission')
      return new Map<string, Submission>()
    })
    await Promise.all(
      states.map(async ({ id, shard }) => {
        const context = contexts.get(id) as PaymentMoveContext
        const submission = submissions.get(id)
        if (submission?.kind === 'accepted') await this.#ask(id, shard, { kind: 'accepted', context })
        if (submission?.kind === 'refused')
          await this.#ask(id, shard, { kind: 'rejected', schemeCode: submission.schemeCode, context, event: null })
      }),
    )
  }

  async #states(ids: readonly string[]): Promise<Map<string, PaymentState>> {
    return await loadPayments(readerOf(this.#options.database), ids, false)
  }

  /** Reads the context that a move of each payment needs beside its state. Payments that do not exist are absent. */
  async #contextsOf(ids: readonly string[]): Promise<Map<string, Context>> {
    const { database, accounts, ids: idSource, clock } = this.#options
    const places = await placesOfPayments(database, ids)
    const now = clock.now()
    const contexts = new Map<string, Context>()
    for (const { id, operatorId, connectionId, currency, rail } of places) {
      contexts.set(id, {
        accounts: await accounts.accounts({ operatorId, connectionId, currency }),
        ids: idSource,
        valueDate: railDate(rail, now),
        rail,
      })
    }
    return contexts
  }

  /** Reads the payees of the payments on the rail `internal`, which no bank carries. */
  async #payeesOf(contexts: ReadonlyMap<string, Context>): Promise<ReadonlyMap<string, InternalPayee>> {
    const internal = [...contexts].filter(([, { rail }]) => rail === 'internal').map(([id]) => id)
    return internal.length === 0 ? NO_PAYEES : await internalPayees(this.#options.database, internal)
  }

  async #statesOf(messages: readonly BankMessage[]): Promise<Map<string, PaymentMoveContext>> {
    return await this.#contextsOf(messages.map(({ reference }) => reference))
  }

  async #ask(id: string, shard: number, command: PaymentCommand | RecallCommand): Promise<Outcome<PaymentReply>> {
    const outcome = await this.#options.system.ask(paymentActor, id, shard, command)
    if (outcome.kind === 'credit_refused' && command.kind === 'book')
      return await this.#ask(id, shard, { kind: 'payee_closed', context: command.context })
    if (outcome.kind === 'credit_refused' && 'suspenseId' in command === false && givesBack(command))
      return await this.#ask(id, shard, { ...command, suspenseId: this.#options.ids.next() })
    if (outcome.kind === 'decided' && outcome.reply.kind === 'moved' && isAtRest(outcome.reply.state))
      this.#options.system.forget('payment', id)
    return outcome
  }

  #measure(count: number): void {
    const now = this.#options.clock.now()
    const window = this.#handedOver
    if (now - window.since > RATE_WINDOW_MS) {
      if (window.count > 0) window.rate = Math.max(RATE_MIN, Math.round((window.count * 1_000) / (now - window.since)))
      window.since = now
      window.count = 0
    }
    window.count += count
  }
}

/** Whether a command credits the paying balance with returned money; the balance may have been closed since. */
const givesBack = (
  command: PaymentCommand | RecallCommand,
): command is Extract<PaymentCommand, { kind: 'returned' | 'rejected' | 'refused' }> =>
  command.kind === 'returned' || command.kind === 'rejected' || command.kind === 'refused'

/** Whether the queue has nothing more to do for the payment, at least for a while. */
const isAtRest = ({ status }: PaymentState): boolean =>
  status === 'completed' ||
  status === 'failed' ||
  status === 'returned' ||
  status === 'cancelled' ||
  status === 'on_hold'

function orderOf(payment: PaymentState): PaymentOrder {
  return {
    reference: payment.id,
    shard: payment.shard,
    connectionId: payment.connectionId,
    rail: payment.rail,
    currency: payment.currency,
    amount: payment.amount,
    creditorName: payment.recipientName,
    remittance: payment.reference,
    ...(payment.payeeBalanceId === undefined ? {} : { creditorAccount: payment.payeeBalanceId }),
  }
}

/**
 * Returns when to ask the bank again, epoch milliseconds: after `ASK_AGAIN_MS` at first, later after twice as long each
 * time, after an hour at most, so that a bank that does not know the outcome is not flooded with questions.
 */
function askAgainAt(now: number, attempts: number): number {
  return now + Math.min(ASK_AGAIN_MS * 2 ** Math.max(0, Math.min(attempts - PATIENT_ATTEMPTS, 10)), HOUR_MS)
}

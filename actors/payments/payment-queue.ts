/**
 * Payments on their way to the bank, and the bank's answers on their way back.
 *
 * What it promises
 *  * The queue is rows (partner_instruction), written with the payment and deleted with its outcome; memory holds a
 *    bounded window of it. After a death the rows say what is left to do.
 *  * A payment in which the compliance gate finds something leaves the queue and is under review; it is asked before L10.
 *  * L10 is committed before the bank is called (I1). A submission that times out is not repeated: the payment becomes
 *    `exception` and the bank is asked (I7).
 *  * A payment on the rail `internal` is booked where others are handed over: one commit debits the payer and credits the payee, and
 *    no bank is called.
 *  * A payment that was handed over by a process that died is asked about first, and only submitted, under the same
 *    reference, when the bank says that it never arrived. When it says nothing, it is as if the submission had timed out.
 */
import { type Clock, timestamp } from '../../lib/base/clock.ts'
import type { Screener, ScreeningHit } from '../../lib/compliance/screening.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { railDate } from '../../lib/rails/business-days.ts'
import type { InternalPayee, MoveContext, PaymentCommand, PaymentReply, PaymentState } from '../../lib/payments/payment-state.ts'
import type { RecallCommand } from '../../lib/payments/recall.ts'
import type { QueuePlace } from '../../lib/payments/payment.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { OutcomeUnknown } from '../../storage/db/connection.ts'
import type { Database } from '../../storage/db/database.ts'
import type { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { internalPayees } from '../../storage/payments/internal-payees.ts'
import { isKeptAlready, keepMessages } from '../../storage/providers/provider-events.ts'
import { countUnsentPayments, placesOfPayments, resubmittablePayments, silentPayments, unknownPayments, unsentPayments, type QueuedPayment } from '../../storage/payments/partner-instructions.ts'
import { loadPayments } from '../../storage/payments/payment-states.ts'
import type { BankInbox, BankMessage, BankPartner, PaymentOrder, Submission } from '../providers/bank.ts'
import { paymentActor } from './payment.ts'
import { moveOf, outcomeOf } from './bank-messages.ts'
import { ComplianceGate } from './compliance-gate.ts'
import type { Outcome } from '../runtime/actor.ts'
import type { ActorSystem } from '../runtime/system.ts'

/** Batches on their way to the bank at a time: one committing while another is at the bank. */
const BATCHES_MAX = 2
/** After a failure of the world (database or bank away), how long until the queue looks again. */
const PAUSE_MS = 500
/** How often payments whose outcome is unknown are looked at. */
const ATTENTION_TICK_MS = 1_000
/** A partner that does not know yet is asked again after this. */
const ASK_AGAIN_MS = 5_000
/** How often it is asked before the time between doubles: two minutes' worth. */
const PATIENT_ATTEMPTS = 24
/** Asked this often, a quarter of a minute apart in all, a partner that knows nothing of a payment never got it. */
const LOST_ATTEMPTS = 3
/** A payment handed over this long ago without a word is looked into, and how often such are looked for. */
const SILENCE_MS = 30_000
/**
 * How often the rows are looked at for payments that nobody offered: those whose commit was not heard of, and those of a
 * shard that moved while they were being committed.
 */
const LOOK_MS = 5_000
/** The first hand-overs have no rate to go by; the sandbox bank takes at least this many a second. */
const RATE_MIN = 50
/** The rate is measured over this. */
const RATE_WINDOW_MS = 5_000

export interface PaymentQueueOptions {
  readonly system: ActorSystem
  readonly database: Database
  readonly accounts: InternalAccountCache
  readonly bank: BankPartner
  /** Asked about every payment before it is handed over. */
  readonly screener: Screener
  readonly ids: IdSource
  readonly clock: Clock
  /** The rows of a shard are worked on where it is at home, once. */
  readonly shards: Shards
  /** Tells the home of a shard that a payment of it waits: it was moved by a request that another node answered. */
  readonly elsewhere?: (shard: number) => void
  readonly onError: (error: unknown, what: string) => void
}

const NO_PAYEES: ReadonlyMap<string, InternalPayee> = new Map()
const NO_HITS: ReadonlyMap<string, ScreeningHit> = new Map()

/** What the moves of one payment need, and the rail that it goes by. */
interface Context extends MoveContext { readonly rail: string }

export class PaymentQueue {
  readonly #options: PaymentQueueOptions
  readonly #gate: ComplianceGate
  #waiting: QueuedPayment[] = []
  /** Rows exist that memory does not hold: the window was full, or nothing has been read yet. */
  #more = true
  #batches = 0
  #running = false
  #pausedUntil = 0
  #timers = new Set<NodeJS.Timeout>()
  #work = new Set<Promise<void>>()
  /** On their way to the bank in this process: a refill must not take them twice. */
  readonly #moving = new Set<string>()
  /** Handed over, perhaps: a commit that was not heard of (I7). Looked into at the next tick; a process that dies leaves them to the silence. */
  readonly #doubtful = new Map<string, number>()
  #backlog = 0
  #handedOver = { since: 0, count: 0, rate: RATE_MIN }

  constructor(options: PaymentQueueOptions) {
    this.#options = options
    this.#gate = new ComplianceGate(options)
  }

  /** Payments that wait for the bank, as far as this node knows. */
  get backlog(): number { return this.#backlog }

  /** Takes up what is left from before, then whatever comes. @throws what the driver throws */
  async start(): Promise<void> {
    const { database, shards } = this.#options
    this.#backlog = await countUnsentPayments(database, shards.owned())
    this.#running = true
    shards.onChange((change) => this.#moved(change))
    this.#background(this.#recover(this.#options.clock.now()))
    const silence = setInterval(() => this.#background(this.#recover(this.#options.clock.now() - SILENCE_MS)), SILENCE_MS)
    this.#timers.add(silence)
    const timer = setInterval(() => { this.#background(this.#attend()); this.#background(this.#clear()); this.#pump() }, ATTENTION_TICK_MS)
    this.#timers.add(timer)
    this.#timers.add(setInterval(() => this.look(), LOOK_MS))
    this.#pump()
  }

  /** Stops taking; what was taken is finished. */
  async stop(): Promise<void> {
    this.#running = false
    for (const timer of this.#timers) clearTimeout(timer)
    while (this.#work.size > 0) await Promise.allSettled(this.#work)
  }

  /** Where a payment made now would stand. */
  place(now: number): QueuePlace {
    const position = this.#backlog + 1
    const etaSeconds = Math.ceil(position / this.#handedOver.rate)
    return { position, etaSeconds, estimatedAt: timestamp(now + etaSeconds * 1_000) }
  }

  /** Payments a second that leave the queue, at least one. */
  get rate(): number { return this.#handedOver.rate }

  /** Looks at the rows for payments that nobody offered here. */
  look(): void {
    this.#more = true
    this.#pump()
  }

  /** A payment was committed and waits. When its shard is not here, its row is found where it is. */
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

  /** Takes the bank's messages; resolves with the ids of those that need not come again. */
  readonly inbox: BankInbox = async (messages) => {
    const acknowledged: string[] = []
    // Late, repeated, or at odds with what was said before.
    const ignored: BankMessage[] = []
    const states = await this.#statesOf(messages)
    await Promise.all(messages.map(async (message) => {
      const context = states.get(message.reference)
      // A reference that is not ours: said once to the log, and acknowledged, or it would come for ever.
      if (context === undefined) {
        this.#options.onError(new Error(`The bank reports on ${message.reference}, which is not a payment of ours.`), 'bank message')
        acknowledged.push(message.id)
        return
      }
      try {
        const outcome = await this.#ask(message.reference, message.shard, moveOf(message, context, this.#options.clock.now() + ASK_AGAIN_MS))
        if (outcome.kind === 'decided' && outcome.reply.kind === 'ignored') ignored.push(message)
        else acknowledged.push(message.id)
      } catch (error) {
        if (isKeptAlready(error)) {
          acknowledged.push(message.id)
          return
        }
        // Not acknowledged, so it comes again; what was committed meanwhile makes the repeat a message that fits no row.
        this.#options.onError(error, 'bank message')
      }
    }))
    if (ignored.length > 0) {
      await keepMessages(this.#options.database, ignored, this.#options.clock.now())
      acknowledged.push(...ignored.map(({ id }) => id))
    }
    return acknowledged
  }

  /** Rows of shards that came are read; what memory holds of shards that went is theirs now. */
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
    const guarded = work.catch((error: unknown) => this.#options.onError(error, 'payment queue')).finally(() => this.#work.delete(guarded))
    this.#work.add(guarded)
  }

  #pump(): void {
    if (!this.#running || this.#options.clock.now() < this.#pausedUntil) return
    while (this.#batches < BATCHES_MAX && (this.#waiting.length > 0 || this.#more)) {
      this.#batches += 1
      this.#background(this.#batch().finally(() => { this.#batches -= 1; this.#pump() }))
      // A batch that has to read the rows first must not be joined by another that would read the same.
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
    const unsent = await unsentPayments(database, { now: clock.now(), owned: shards.owned(), max: LIMITS.dispatchQueueMax })
    this.#more ||= unsent.length === LIMITS.dispatchQueueMax
    const known = new Set(this.#waiting.map(({ id }) => id))
    this.#waiting.unshift(...unsent.filter(({ id }) => !this.#moving.has(id) && !known.has(id)))
    if (!this.#more) this.#backlog = this.#waiting.length + this.#moving.size
  }

  /** P14 for those in which the gate finds something; P17 for each of the others, then the bank. */
  async #handOver(batch: readonly QueuedPayment[]): Promise<void> {
    const [contexts, outgoing] = await Promise.all([this.#contextsOf(batch.map(({ id }) => id)), this.#gate.hits(batch)])
    const payees = await this.#payeesOf(contexts)
    // The payee of an internal payment has its payer screened as of any money that comes in, before anything is moved.
    const incoming = payees.size === 0 ? NO_HITS : await this.#gate.screen([...payees].map(([id, { payer }]) => ({ id, amount: 0n, reference: '', recipientName: payer.name })))
    const settled = await Promise.allSettled(batch.map(({ id, shard }) => {
      const context = contexts.get(id)
      const hit = outgoing.get(id) ?? incoming.get(id)
      if (context === undefined) return Promise.resolve(null)
      if (hit !== undefined) return this.#ask(id, shard, { kind: 'hold', hit, context })
      const payee = payees.get(id)
      return this.#ask(id, shard, payee === undefined ? { kind: 'hand_over', context } : { kind: 'book', payee, context })
    }))
    const handedOver: PaymentState[] = []
    let failure: unknown
    settled.forEach((result, nth) => {
      if (result.status === 'rejected') {
        failure ??= result.reason
        if (result.reason instanceof OutcomeUnknown) this.#doubt(batch[nth] as QueuedPayment)
      } else {
        this.#backlog = Math.max(0, this.#backlog - 1)
        const outcome = result.value
        if (outcome?.kind === 'decided' && outcome.reply.kind === 'moved' && outcome.reply.state.sent && outcome.reply.state.status === 'processing') handedOver.push(outcome.reply.state)
      }
    })
    this.#measure(handedOver.length)
    if (handedOver.length > 0) await this.#submit(handedOver, contexts)
    if (failure !== undefined) throw failure
  }

  async #submit(payments: readonly PaymentState[], contexts: ReadonlyMap<string, MoveContext>): Promise<void> {
    const { bank, clock, onError } = this.#options
    const submissions = await bank.submit(payments.map(orderOf)).catch((error: unknown) => {
      // Nobody knows any of them: each becomes an exception, and is asked about.
      onError(error, 'bank submission')
      return new Map<string, { kind: 'timeout' }>()
    })
    const booked = await Promise.allSettled(payments.map(async (payment) => {
      const context = contexts.get(payment.id) as MoveContext
      const submission = submissions.get(payment.id) ?? { kind: 'timeout' as const }
      if (submission.kind === 'refused') await this.#ask(payment.id, payment.shard, { kind: 'refused', schemeCode: submission.schemeCode, context })
      if (submission.kind === 'timeout') await this.#ask(payment.id, payment.shard, { kind: 'timeout', context, askAgainAt: clock.now() + ASK_AGAIN_MS })
    }))
    booked.forEach(({ status }, nth) => { if (status === 'rejected') this.#doubt(payments[nth] as PaymentState) })
    const failed = booked.find(({ status }) => status === 'rejected')
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason
  }

  #doubt({ id, shard }: QueuedPayment): void {
    if (this.#doubtful.size < LIMITS.dispatchQueueMax) this.#doubtful.set(id, shard)
  }

  /** Finds out about the payments in doubt. */
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
   * Payments handed over before `sentBefore` that have heard nothing, because a process died or a message was lost: the
   * bank is asked, what it knows is booked, and what never reached it is submitted under the same reference.
   */
  async #recover(sentBefore: number): Promise<void> {
    const { database, shards } = this.#options
    let after = '00000000-0000-0000-0000-000000000000'
    while (this.#running) {
      const silent = await silentPayments(database, { sentBefore, after, max: LIMITS.partnerBatchMax, owned: shards.owned() })
      const last = silent.at(-1)
      if (last === undefined) return
      after = last.id
      await this.#lookInto(silent.filter(({ id }) => !this.#moving.has(id)))
    }
  }

  /**
   * What the bank knows of these payments is booked; what was handed over and never reached it is submitted; of what it
   * does not say a word nobody knows (I7).
   */
  async #lookInto(payments: readonly QueuedPayment[]): Promise<void> {
    const { clock, bank } = this.#options
    const ids = payments.map(({ id }) => id)
    const statuses = await bank.status(ids)
    const contexts = await this.#contextsOf(ids)
    await Promise.all(payments.map(async ({ id, shard }) => {
      const context = contexts.get(id)
      const status = statuses.get(id)
      if (context === undefined) return
      const outcome = status === undefined ? { kind: 'timeout' as const, context, askAgainAt: clock.now() + ASK_AGAIN_MS } : outcomeOf(status, context)
      if (outcome !== null) await this.#ask(id, shard, outcome)
    }))
    const lost = ids.filter((id) => statuses.get(id)?.kind === 'unknown')
    const states = lost.length === 0 ? new Map<string, PaymentState>() : await this.#states(await resubmittablePayments(this.#options.database, lost))
    const unsent = [...states.values()].filter(({ status, sent }) => status === 'processing' && sent)
    if (unsent.length > 0) await this.#submit(unsent, contexts)
  }

  /** Payments whose outcome is unknown: the bank is asked what became of them (P22). */
  async #attend(): Promise<void> {
    const { database, clock, bank, shards } = this.#options
    const now = clock.now()
    const payments = await unknownPayments(database, { now, max: LIMITS.partnerBatchMax, owned: shards.owned() })
    if (payments.length === 0) return
    const references = payments.map(({ id }) => id)
    const statuses = await bank.status(references)
    const contexts = await this.#contextsOf(references)
    await Promise.all(payments.map(async ({ id, shard, attempts }) => {
      const context = contexts.get(id)
      if (context !== undefined) await this.#ask(id, shard, outcomeOf(statuses.get(id), context) ?? { kind: 'still_unknown', askAgainAt: askAgainAt(now, attempts) })
    }))
    const lost = payments.filter(({ id, attempts }) => statuses.get(id)?.kind === 'unknown' && attempts >= LOST_ATTEMPTS).map(({ id }) => id)
    if (lost.length > 0) await this.#sendAgain(lost, contexts)
  }

  /** Payments that the bank has been asked about often enough to be sure that they never arrived: the same reference again. */
  async #sendAgain(ids: readonly string[], contexts: ReadonlyMap<string, MoveContext>): Promise<void> {
    const { bank, onError } = this.#options
    const states = [...(await this.#states(await resubmittablePayments(this.#options.database, ids))).values()].filter(({ status }) => status === 'exception')
    if (states.length === 0) return
    const submissions = await bank.submit(states.map(orderOf)).catch((error: unknown) => {
      // Still nobody knows; they stay as they are and are asked about again.
      onError(error, 'bank submission')
      return new Map<string, Submission>()
    })
    await Promise.all(states.map(async ({ id, shard }) => {
      const context = contexts.get(id) as MoveContext
      const submission = submissions.get(id)
      if (submission?.kind === 'accepted') await this.#ask(id, shard, { kind: 'accepted', context })
      if (submission?.kind === 'refused') await this.#ask(id, shard, { kind: 'rejected', schemeCode: submission.schemeCode, context, event: null })
    }))
  }

  async #states(ids: readonly string[]): Promise<Map<string, PaymentState>> {
    return await loadPayments({ query: async (statement) => ({ rows: await this.#options.database.query(statement) }) }, ids, false)
  }

  /** What a move of each payment needs beside its state. Payments that do not exist are absent. */
  async #contextsOf(ids: readonly string[]): Promise<Map<string, Context>> {
    const { database, accounts, ids: idSource, clock } = this.#options
    const places = await placesOfPayments(database, ids)
    const now = clock.now()
    const contexts = new Map<string, Context>()
    for (const { id, operatorId, connectionId, currency, rail } of places) {
      contexts.set(id, { accounts: await accounts.accounts({ operatorId, connectionId, currency }), ids: idSource, valueDate: railDate(rail, now), rail })
    }
    return contexts
  }

  /** The payees of those that no bank carries. */
  async #payeesOf(contexts: ReadonlyMap<string, Context>): Promise<ReadonlyMap<string, InternalPayee>> {
    const internal = [...contexts].filter(([, { rail }]) => rail === 'internal').map(([id]) => id)
    return internal.length === 0 ? NO_PAYEES : await internalPayees(this.#options.database, internal)
  }

  async #statesOf(messages: readonly BankMessage[]): Promise<Map<string, MoveContext>> {
    return await this.#contextsOf(messages.map(({ reference }) => reference))
  }

  async #ask(id: string, shard: number, command: PaymentCommand | RecallCommand): Promise<Outcome<PaymentReply>> {
    const outcome = await this.#options.system.ask(paymentActor, id, shard, command)
    if (outcome.kind === 'credit_refused' && command.kind === 'book') return await this.#ask(id, shard, { kind: 'payee_closed', context: command.context })
    if (outcome.kind === 'credit_refused' && 'suspenseId' in command === false && givesBack(command)) return await this.#ask(id, shard, { ...command, suspenseId: this.#options.ids.next() })
    if (outcome.kind === 'decided' && outcome.reply.kind === 'moved' && isAtRest(outcome.reply.state)) this.#options.system.forget('payment', id)
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

/** Whether a move brings money back to the balance that pays, which may have been closed since. */
const givesBack = (command: PaymentCommand | RecallCommand): command is Extract<PaymentCommand, { kind: 'returned' | 'rejected' | 'refused' }> =>
  command.kind === 'returned' || command.kind === 'rejected' || command.kind === 'refused'

/** Nothing more to do, at least for a while. */
const isAtRest = ({ status }: PaymentState): boolean => status === 'completed' || status === 'failed' || status === 'returned' || status === 'cancelled' || status === 'on_hold'

function orderOf(payment: PaymentState): PaymentOrder {
  return { reference: payment.id, shard: payment.shard, connectionId: payment.connectionId, rail: payment.rail, currency: payment.currency, amount: payment.amount,
    creditorName: payment.recipientName, remittance: payment.reference, ...(payment.payeeBalanceId === undefined ? {} : { creditorAccount: payment.payeeBalanceId }) }
}

/** Steadily at first, then twice as long each time, an hour at most: a bank that does not know is not asked to death. */
function askAgainAt(now: number, attempts: number): number {
  return now + Math.min(ASK_AGAIN_MS * 2 ** Math.max(0, Math.min(attempts - PATIENT_ATTEMPTS, 10)), 3_600_000)
}

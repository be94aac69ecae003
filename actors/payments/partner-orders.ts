/**
 * Payments at the bank: submits them, and asks for the status of those whose outcome is unknown (I7). A payment is
 * submitted again, under the same reference, only when the bank answers that it never arrived.
 */
import { HOUR_MS, type Clock } from '../../lib/base/clock.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import type { Detour, PaymentState } from '../../lib/payments/payment-state.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import {
  postponeQuestions,
  resubmittablePayments,
  silentPayments,
  unknownPayments,
  type QueuedPayment,
} from '../../storage/payments/partner-instructions.ts'
import type { BankPartner, OrderStatus, PaymentOrder, Submission } from '../providers/bank.ts'
import type { Detours } from '../providers/routing/detours.ts'
import { ASK_AGAIN_MS, outcomeOf } from './bank-messages.ts'
import type { PaymentContext, PaymentMover } from './payment-mover.ts'

/** Questions about one payment before the time between two questions begins to double: two minutes of questions. */
const PATIENT_ATTEMPTS = 24
/** A bank that still does not know a payment after this many questions (15 seconds in all) never received it. */
const LOST_ATTEMPTS = 3

export interface PartnerOrdersOptions {
  readonly database: Database
  readonly bank: BankPartner
  readonly clock: Clock
  /** Only the node that owns a shard asks about the payments of that shard. */
  readonly shards: Shards
  readonly mover: PaymentMover
  readonly detours?: Pick<Detours, 'afterRefusal'>
  /** Checks whether this process is handing a payment over, so that the bank is not asked about it. */
  readonly isMoving: (id: string) => boolean
  /** Checks whether the queue runs; a recovery ends with it. */
  readonly isRunning: () => boolean
  readonly onError: (error: unknown, what: string) => void
}

export class PartnerOrders {
  readonly #options: PartnerOrdersOptions
  /**
   * Payments that may have been handed over: their commit got no answer (I7). The next tick asks the bank about them.
   * If the process dies first, the poll for payments without a message finds them.
   */
  readonly #doubtful = new Map<string, number>()

  constructor(options: PartnerOrdersOptions) {
    this.#options = options
  }

  /**
   * Submits payments whose hand-over is committed. Each refusal and each submission of unknown outcome is written with
   * its payment.
   *
   * @param isFirst false for orders that may have been sent before, which leave through no other connection: the first
   *   one may still reach the bank
   * @throws what the moves throw; the bank is asked about these payments
   */
  async submit(
    payments: readonly PaymentState[],
    contexts: ReadonlyMap<string, PaymentContext>,
    isFirst = true,
  ): Promise<void> {
    const { bank, clock, mover, onError } = this.#options
    const submissions = await bank.submit(payments.map(orderOf)).catch((error: unknown) => {
      // The outcome of the whole batch is unknown: each payment becomes an exception, and the bank is asked about it.
      onError(error, 'bank submission')
      return new Map<string, { kind: 'timeout' }>()
    })
    const detours = this.#detours(isFirst ? payments.filter(({ id }) => isTurnedAway(submissions.get(id))) : [])
    const rerouted: PaymentState[] = []
    const booked = await Promise.allSettled(
      payments.map(async (payment) => {
        const context = contexts.get(payment.id) as PaymentContext
        const submission: Submission = submissions.get(payment.id) ?? { kind: 'timeout' as const }
        const to = isTurnedAway(submission) ? (await detours).get(payment.id) : undefined
        if (to !== undefined) {
          const outcome = await mover.ask(payment.id, payment.shard, { kind: 'reroute', to, context })
          if (outcome.kind === 'decided' && outcome.reply.kind === 'moved') rerouted.push(outcome.reply.state)
        } else if (submission.kind === 'refused')
          await mover.ask(payment.id, payment.shard, { kind: 'refused', schemeCode: submission.schemeCode, context })
        else if (submission.kind === 'timeout' || submission.kind === 'unsent')
          await mover.ask(payment.id, payment.shard, {
            kind: 'timeout',
            context,
            askAgainAt: clock.now() + ASK_AGAIN_MS,
          })
      }),
    )
    booked.forEach(({ status }, nth) => {
      if (status === 'rejected') this.doubt(payments[nth] as PaymentState)
    })
    // Ends, because every connection refuses a payment once.
    if (rerouted.length > 0) await this.submit(rerouted, await mover.handOverContextsOf(rerouted.map(({ id }) => id)))
    const failed = booked.find(({ status }) => status === 'rejected')
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason
  }

  async #detours(refused: readonly PaymentState[]): Promise<ReadonlyMap<string, Detour>> {
    const { detours } = this.#options
    if (detours === undefined || refused.length === 0) return NO_DETOURS
    return await detours.afterRefusal(refused.map(({ id }) => id))
  }

  /** Remembers a payment that may have been handed over; the bank is asked about it with the next tick. */
  doubt({ id, shard }: QueuedPayment): void {
    if (this.#doubtful.size < LIMITS.dispatchQueueMax) this.#doubtful.set(id, shard)
  }

  /** Whether there are payments that may have been handed over. */
  get isDoubtful(): boolean {
    return this.#doubtful.size > 0
  }

  /** Asks the bank about the payments whose commit got no answer. */
  async askAboutDoubtful(): Promise<void> {
    const doubtful = Array.from(this.#doubtful, ([id, shard]) => ({ id, shard })).slice(0, LIMITS.partnerBatchMax)
    if (doubtful.length === 0) return
    for (const { id } of doubtful) this.#doubtful.delete(id)
    try {
      await this.#lookInto(doubtful)
    } catch (error) {
      for (const payment of doubtful) this.doubt(payment)
      throw error
    }
  }

  /**
   * Recovers payments handed over before `sentBefore` that got no message, because a process died or a message was
   * lost: asks the bank for their status, books it, and submits those that never arrived under the same reference.
   */
  async recover(sentBefore: number): Promise<void> {
    const { database, clock, shards, isMoving, isRunning } = this.#options
    let after = '00000000-0000-0000-0000-000000000000'
    while (isRunning()) {
      const silent = await silentPayments(database, {
        now: clock.now(),
        sentBefore,
        after,
        max: LIMITS.partnerBatchMax,
        owned: shards.owned(),
      })
      const last = silent.at(-1)
      if (last === undefined) return
      after = last.id
      await this.#lookInto(silent.filter(({ id }) => !isMoving(id)))
    }
  }

  /**
   * Asks the bank for the status of these payments, and books the answers. Payments that were handed over and never
   * reached the bank are submitted. Payments without an answer become exceptions: their outcome is unknown (I7).
   */
  async #lookInto(payments: readonly QueuedPayment[]): Promise<void> {
    const { database, clock, bank, mover } = this.#options
    const ids = payments.map(({ id }) => id)
    // Read before the bank is asked: an answer is no answer for a payment that has left its connection meanwhile.
    const contexts = await mover.contextsOf(ids)
    const statuses = await bank.status(ids)
    await Promise.all(
      payments.map(async ({ id, shard }) => {
        const context = contexts.get(id)
        const status = statuses.get(id)
        if (context === undefined) return
        const outcome =
          status === undefined
            ? { kind: 'timeout' as const, context, askAgainAt: clock.now() + ASK_AGAIN_MS }
            : outcomeOf(status, context)
        if (outcome !== null) await mover.ask(id, shard, outcome)
      }),
    )
    const waiting = ids.filter((id) => isWaiting(statuses.get(id)))
    if (waiting.length > 0) await postponeQuestions(database, waiting, clock.now())
    const lost = ids.filter((id) => statuses.get(id)?.kind === 'unknown')
    const states =
      lost.length === 0
        ? new Map<string, PaymentState>()
        : await mover.statesOf(await resubmittablePayments(database, lost))
    const unsent = [...states.values()].filter(
      ({ id, status, sent, connectionId }) =>
        status === 'processing' && sent && contexts.get(id)?.connectionId === connectionId,
    )
    if (unsent.length > 0) await this.submit(unsent, contexts, false)
  }

  /** Asks the bank for the status of the payments whose outcome is unknown, and books the answers (P22). */
  async askAboutUnknown(): Promise<void> {
    const { database, clock, bank, shards, mover } = this.#options
    const now = clock.now()
    const payments = await unknownPayments(database, { now, max: LIMITS.partnerBatchMax, owned: shards.owned() })
    if (payments.length === 0) return
    const references = payments.map(({ id }) => id)
    const contexts = await mover.contextsOf(references)
    const statuses = await bank.status(references)
    await Promise.all(
      payments.map(async ({ id, shard, attempts }) => {
        const context = contexts.get(id)
        if (context !== undefined)
          await mover.ask(
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
  async #sendAgain(ids: readonly string[], contexts: ReadonlyMap<string, PaymentContext>): Promise<void> {
    const { database, bank, mover, onError } = this.#options
    const states = [...(await mover.statesOf(await resubmittablePayments(database, ids))).values()].filter(
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
        const context = contexts.get(id) as PaymentContext
        const submission = submissions.get(id)
        if (submission?.kind === 'accepted') await mover.ask(id, shard, { kind: 'accepted', context })
        if (submission?.kind === 'refused')
          await mover.ask(id, shard, { kind: 'rejected', schemeCode: submission.schemeCode, context, event: null })
      }),
    )
  }
}

/** Whether the partner still works on an order, or could not be asked about it: the payment stays as it is. */
const isWaiting = (status: OrderStatus | undefined): boolean => status?.kind === 'pending' || status?.kind === 'unasked'

const NO_DETOURS: ReadonlyMap<string, Detour> = new Map()

/** Whether the partner has not taken an order for certain, so that another may carry it. */
const isTurnedAway = (submission: Submission | undefined): boolean =>
  submission?.kind === 'unsent' || (submission?.kind === 'refused' && submission.beforeAcceptance === true)

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

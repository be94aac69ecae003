/**
 * Makes scheduled payments when they are due, and follows how the payments end.
 *
 *  * An occurrence begins with a row that fixes the id of its payment. The payment is then requested like any other,
 *    under a key made of the schedule and the occurrence's number. Then the schedule moves to its next date. A second
 *    node finds the row, the key or the payment, so an occurrence is made once in every case (I5).
 *  * Stopping a schedule uses up the key of the occurrence in progress: its payment was made before that, or never will
 *    be.
 *  * A row that a node claimed and left is taken again after a minute, when no request of that node can still be in
 *    flight.
 *  * The ends of payments are read from the events, by one node at a time, in the order of their transactions. The row
 *    with the payment's id is older than the payment, so no end can be missed.
 *  * Due times are columns; the node that owns a schedule's shard polls them. When nothing is due, a poll reads two
 *    empty index pages.
 */
import { laterThan, type Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { ProblemError, PROBLEMS, type Problem } from '../../lib/base/problems.ts'
import { occurrenceKey } from '../../lib/scheduled-payments/key.ts'
import { calendarOf } from '../../lib/scheduled-payments/rail-calendar.ts'
import { begun, FAILURES_MAX, made, paymentEnded, type MadeOutcome } from '../../lib/scheduled-payments/schedule.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import type { Database } from '../../storage/db/database.ts'
import { findPayment } from '../../storage/payments/payment-queries.ts'
import type { ScheduleRecord } from '../../storage/scheduled-payments/scheduled-payment-queries.ts'
import { followOutcomes } from '../../storage/scheduled-payments/scheduled-payment-follow-up.ts'
import * as rows from '../../storage/scheduled-payments/scheduled-payments.ts'
import * as occurrences from '../../storage/scheduled-payments/scheduled-occurrences.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import { blocked, moveSchedule, RECIPIENT_BLOCKED, STOPPED_STATUSES } from './change-schedule.ts'
import { submitPayment, type FlowDeps, type PayDeps } from '../payments/submit-payment.ts'
import { Poller, type Rest } from '../runtime/poller.ts'
import { earliest, untilDue, untilEvents } from '../runtime/rest.ts'
import { nextDue } from '../../storage/db/due-work.ts'
import type { Wakes } from '../runtime/wakes.ts'

/** The poll interval, and the number of due schedules taken per poll. */
const TICK_MS = 1_000
const DUE_MAX = 256
/** The number of occurrences made at once, which is also the maximum number of connections used. */
const AT_ONCE = 4
/**
 * The age at which a claimed occurrence counts as left: a command that is not decided within its deadline is dropped
 * undecided.
 */
const LEFT_AFTER_MS = LIMITS.requestDeadlineMs * 4

export interface ScheduledPaymentsOptions {
  readonly wakes: Wakes
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly shards: Shards
  /** The dependencies for making payments. */
  readonly flow: FlowDeps & Pick<PayDeps, 'queue' | 'balances'>
  readonly problemBase: string
  readonly onError: (error: unknown, what: string) => void
}

/** The reason why an occurrence became no payment. */
interface Refusal {
  readonly code: string
  readonly message: string
  readonly recipientStatus?: unknown
}

type Made = { readonly status: MadeOutcome; readonly refusal: Refusal | null }

/** An occurrence that this node has claimed. */
interface Taken {
  readonly schedule: ScheduleRecord
  readonly due: occurrences.DueOccurrence
  /** True when another node had claimed it before, and left it. */
  readonly again: boolean
}

const REFUSED_STATUS_MIN = 400
const STOPPED = `The last ${FAILURES_MAX} payments in a row came to nothing, so no more are made.`

export class ScheduledPayments {
  readonly #options: ScheduledPaymentsOptions
  readonly #making: Poller
  readonly #following: Poller

  constructor(options: ScheduledPaymentsOptions) {
    this.#options = options
    const onError = (what: string) => (error: unknown) => options.onError(error, what)
    this.#making = new Poller({
      everyMs: TICK_MS,
      poll: () => this.#poll(),
      rest: this.#untilDue(),
      onError: onError('scheduled payments that are due'),
    })
    this.#following = new Poller({
      everyMs: TICK_MS,
      poll: () => this.#follow(),
      rest: untilEvents(options, 'scheduled_payment_follow_up'),
      onError: onError('outcomes of scheduled payments'),
    })
  }

  /** Rests until a schedule is due, or until an occurrence that a node has claimed counts as left. */
  #untilDue(): Rest {
    const { database, shards } = this.#options
    const schedules = untilDue(this.#options, ['scheduled_payment'])
    return {
      ...schedules,
      next: async () => {
        const taken = await nextDue(database, 'scheduled_occurrence', shards.owned())
        return earliest([await schedules.next(), taken === null ? null : taken + LEFT_AFTER_MS])
      },
    }
  }

  /** Starts polling. */
  start(): void {
    this.#making.start()
    this.#following.start()
  }

  /** Stops polling; finishes the work in progress. */
  async stop(): Promise<void> {
    await Promise.all([this.#making.stop(), this.#following.stop()])
  }

  /** Polls now, because a schedule has become due on this node. */
  nudge(): void {
    this.#making.nudge()
    this.#following.nudge()
  }

  /** Polls once, as the timers do; resolves when what was due is done. */
  async runOnce(): Promise<void> {
    await Promise.all([this.#making.runOnce(), this.#following.runOnce()])
  }

  async #transaction<Result>(work: (tx: ApprovalTx) => Promise<Result>): Promise<Result> {
    const { database, clock, ids } = this.#options
    return await inTransaction(database, async (client) => work({ client, ids, now: clock.now() }))
  }

  // ── Due rows
  // ────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #poll(): Promise<void> {
    const { database, clock, shards, onError } = this.#options
    const owned = shards.owned()
    const now = clock.now()
    const due = await occurrences.dueSchedules(database, { now, owned, max: DUE_MAX })
    const left = await occurrences.schedulesWithAbandonedOccurrences(database, {
      takenBefore: now - LEFT_AFTER_MS,
      owned,
      max: DUE_MAX,
    })
    const waiting = [...left, ...due]
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
          await this.#make(id).catch((error: unknown) => onError(error, `scheduled payment ${id}`))
        }
      }),
    )
  }

  async #make(id: string): Promise<void> {
    const taken = await this.#transaction((tx) => this.#take(tx, id))
    if (taken === null) return
    const outcome = await this.#pay(taken)
    await this.#transaction((tx) => this.#goOn(tx, taken, outcome))
  }

  async #take({ client, ids, now }: ApprovalTx, id: string): Promise<Taken | null> {
    const schedule = await rows.lockSchedule(client, id)
    if (schedule === null) return null
    const left = await occurrences.dueOccurrence(client, id)
    if (left !== null) {
      if (left.takenAt > now - LEFT_AFTER_MS) return null
      await occurrences.retakeOccurrence(client, left.paymentId, now)
      return { schedule, due: left, again: true }
    }
    const { status, next, nextOccurrenceAt, occurrencesBegun } = schedule.state
    if (status !== 'active' || next === null || nextOccurrenceAt === null || nextOccurrenceAt > now) return null
    const due = { ...next, paymentId: ids.next(), number: occurrencesBegun + 1, takenAt: now }
    await occurrences.insertOccurrence(client, schedule, due)
    await rows.updateSchedule(
      client,
      rows.withState(schedule, begun(schedule.state)),
      laterThan(schedule.updatedAt, now),
    )
    return { schedule, due, again: false }
  }

  /** Requests the payment. @throws an error that leaves the outcome open; the payment is requested again later */
  async #pay({ schedule, due, again }: Taken): Promise<Made> {
    const { database, clock, flow, problemBase } = this.#options
    if (again) {
      if ((await findPayment(database, due.paymentId)) !== null) return CREATED
      if (STOPPED_STATUSES.has(schedule.state.status)) return SKIPPED
    }
    const caller = {
      customerId: schedule.customerId,
      shard: schedule.shard,
      createdBy: schedule.createdBy,
      createdByName: schedule.createdByName,
      createdVia: 'schedule' as const,
      shapedBy: schedule.editors.map((editor) => editor.id),
      termsSince: schedule.createdAt,
      spenderId: schedule.amountSetBy ?? schedule.createdBy,
      scheduledPaymentId: schedule.id,
      paymentId: due.paymentId,
      key: occurrenceKey(schedule.id, due.number),
      deadline: clock.now() + LIMITS.requestDeadlineMs,
      problemRequest: { problemBase, instance: '/v1/payments', requestId: due.paymentId },
    }
    try {
      const outcome = await submitPayment(flow, caller, {
        sourceBalanceId: schedule.sourceBalanceId,
        recipientId: schedule.recipientId,
        amount: { amountMinor: schedule.amount.toString(), currency: schedule.currency },
        reference: schedule.reference,
        requestedRail: schedule.requestedRail,
        purposeCode: schedule.purposeCode,
        chargeBearer: schedule.chargeBearer,
        metadata: schedule.metadata,
      })
      if (outcome.kind === 'refused') return { status: 'refused', refusal: refusalOf(outcome.problem) }
      if (outcome.kind !== 'recorded') return CREATED
      const { status, answer } = outcome.outcome
      if (status < REFUSED_STATUS_MIN) return CREATED
      const refusal = recordedRefusal(answer as string)
      return refusal.code === occurrences.GIVEN_UP ? SKIPPED : { status: 'refused', refusal }
    } catch (error) {
      // A refusal found before the balance was asked. A retryable refusal is no final answer.
      if (error instanceof ProblemError && PROBLEMS[error.problem.slug].retryable === false)
        return { status: 'refused', refusal: refusalOf(error.problem) }
      throw error
    }
  }

  async #goOn(tx: ApprovalTx, { schedule: { id }, due }: Taken, outcome: Made): Promise<void> {
    const schedule = await rows.lockSchedule(tx.client, id)
    if (schedule === null) return
    const { status, refusal } = await this.#ended(tx, id, due, outcome)
    const { code = '', message = '', recipientStatus } = refusal ?? {}
    if (
      !(await occurrences.endOccurrence(tx.client, due.paymentId, {
        status,
        refusal: refusal === null ? null : { code, message },
      }))
    )
      return
    const stopped = recipientStatus === 'blocked'
    // A blocked recipient pauses a schedule, and a customer that may not pay at present keeps it; neither counts as failed.
    const counted = stopped || BARRED.includes(code) ? 'skipped' : status
    const state = made(schedule.state, due, counted, calendarOf(schedule.rail, schedule.calendar))
    const after = {
      ...schedule,
      state: stopped ? blocked(state, tx.now) : state,
      ...(status === 'created' ? { lastPaymentId: due.paymentId } : {}),
    }
    await moveSchedule(tx, schedule, after, stopped ? RECIPIENT_BLOCKED : `${STOPPED} ${message}`.trim())
  }

  /**
   * A slow node that claimed the occurrence earlier may still make its payment. So a refused occurrence is given up for
   * good; when its payment exists after all, it counts as created.
   */
  async #ended(
    { client, now }: ApprovalTx,
    scheduleId: string,
    due: occurrences.DueOccurrence,
    outcome: Made,
  ): Promise<Made> {
    return outcome.status === 'created' || (await occurrences.giveUpOccurrence(client, scheduleId, due, now))
      ? outcome
      : CREATED
  }

  // ── Ends of payments
  // ────────────────────────────────────────────────────────────────────────────────────────────────

  async #follow(): Promise<void> {
    const { database, clock } = this.#options
    for (let more = true; more; ) {
      const followed = await inTransaction(database, (client) =>
        followOutcomes(client, clock.now(), async (ended) => {
          const tx = { client, ids: this.#options.ids, now: clock.now() }
          const schedule = await rows.lockSchedule(client, ended.scheduledPaymentId)
          if (schedule === null || !(await occurrences.noteOutcome(client, ended.paymentId, ended.outcome))) return
          const state = paymentEnded(schedule.state, ended.outcome)
          if (
            state === schedule.state ||
            (state.status === schedule.state.status && state.consecutiveFailures === schedule.state.consecutiveFailures)
          )
            return
          await moveSchedule(tx, schedule, rows.withState(schedule, state), `${STOPPED} ${ended.message ?? ''}`.trim())
        }),
      )
      more = followed.more
    }
  }
}

/** The problems of a customer that may not pay at present. */
const BARRED: readonly string[] = ['customer-restricted', 'customer-not-active'] satisfies readonly Problem['slug'][]

const CREATED: Made = { status: 'created', refusal: null }
const SKIPPED: Made = { status: 'skipped', refusal: null }

/** Reads a recorded refusal: a problem document, or the refusal itself as earlier versions recorded it. */
function recordedRefusal(answer: string): Refusal {
  const recorded = JSON.parse(answer) as
    | Refusal
    | (Pick<Problem, 'detail' | 'errors'> & { readonly code: Problem['slug'] })
  return 'detail' in recorded ? refusalOf({ ...recorded, slug: recorded.code, extra: { ...recorded } }) : recorded
}

function refusalOf({ slug, detail, errors, extra }: Problem): Refusal {
  const { recipientStatus } = extra ?? {}
  return {
    code: slug,
    message: errors?.[0]?.message ?? detail,
    ...(recipientStatus === undefined ? {} : { recipientStatus }),
  }
}

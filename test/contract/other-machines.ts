/** The pure moves of everything but money, by the triggers of the contract. */
import { afterDecision } from '../../lib/approvals/approval.ts'
import {
  afterRun,
  afterValidation,
  BULK_STATUSES,
  type BulkMove,
  type BulkStatus,
  canMove,
} from '../../lib/bulk-payments/bulk-payment.ts'
import {
  FUNDS_REQUEST_STATUSES,
  type FundsRequestMove,
  moveFundsRequest,
} from '../../lib/funds-requests/funds-request.ts'
import type { FundsRequestStatus } from '../../lib/funds-requests/funds-request.ts'
import { JOB_STATUSES, type JobMove, type JobStatus, moveJob } from '../../lib/jobs/job.ts'
import {
  afterStage,
  canChange,
  firstStage,
  openedReview,
  RECIPIENT_STATUSES,
  type RecipientStatus,
  type ReviewEnd,
} from '../../lib/recipients/review.ts'
import { calendarOf } from '../../lib/scheduled-payments/rail-calendar.ts'
import {
  begun,
  cancelled,
  dueNow,
  isAllowed,
  made,
  opened,
  paused,
  paymentEnded,
  resumed,
  SCHEDULE_STATUSES,
  type ScheduleMove,
  type ScheduleState,
  type ScheduleStatus,
} from '../../lib/scheduled-payments/schedule.ts'
import { nextAttemptAt, RETRY_WINDOW_MS } from '../../lib/webhooks/schedule.ts'
import { MONDAY } from '../support/commands.ts'
import {
  APPROVAL_MOVES,
  BULK_MOVES,
  DELIVERY_MOVES,
  FUNDS_REQUEST_MOVES,
  JOB_MOVES,
  RECIPIENT_MOVES,
  SCHEDULE_MOVES,
} from './data/other-moves.ts'
import type { Machine, Outcome } from './walk.ts'

// ── Recipients
// ──────────────────────────────────────────────────────────────────────────────────────────────────────

const statusAfter = (stage: ReturnType<typeof firstStage>): Outcome => ({
  to: stage === null ? 'active' : 'pending_approval',
})

const reviewed =
  (status: ReviewEnd['status']) =>
  (state: string): Outcome | null => {
    // A review is open only while the recipient waits for it.
    if (state !== 'pending_approval') return null
    const approval = openedReview('operator_queue', 'operator', null, MONDAY)
    const after = afterStage(state, approval, { status, by: null, reason: null }, MONDAY)
    return after.next === null ? { to: after.status } : 'refused'
  }

const changed =
  (mode: Parameters<typeof firstStage>[0]) =>
  (state: string): Outcome | null => {
    if (state === 'none' || state === 'deleted') return null
    const status = state as RecipientStatus
    if (!canChange(status, true)) return 'refused'
    const stage = firstStage(mode, { byKey: false, wasRejected: status === 'rejected' })
    // Without a review an open one goes on, and a rejected recipient always gets one.
    return mode === 'none' && status !== 'active' ? null : statusAfter(stage)
  }

const RECIPIENTS: Machine = {
  name: 'recipient',
  moves: RECIPIENT_MOVES,
  states: ['none', ...RECIPIENT_STATUSES],
  decide: {
    'create, no review': (state) => (state === 'none' ? statusAfter(firstStage('none', { byKey: false })) : null),
    'create, a review is needed': (state) =>
      state === 'none' ? statusAfter(firstStage('none', { byKey: true })) : null,
    approved: reviewed('approved'),
    rejected: reviewed('rejected'),
    'review expires': reviewed('expired'),
    'change of a reviewed member, a review is needed': changed('customer_tier'),
    'change of a reviewed member, no review': changed('none'),
    'change of another member': (state) =>
      state === 'none' || state === 'deleted'
        ? null
        : canChange(state as RecipientStatus, false)
          ? { to: state }
          : 'refused',
  },
}

// ── Approvals, bulk payments, jobs
// ──────────────────────────────────────────────────────────────────────────────────

const decided =
  (decision: 'approved' | 'rejected', required: number) =>
  (state: string): Outcome | null =>
    // A decision is taken only while the approval is pending (actors/approvals/admit-decision.ts).
    state === 'pending' ? { to: afterDecision({ received: 0, required }, decision).status } : null

const APPROVALS: Machine = {
  name: 'approval',
  moves: APPROVAL_MOVES,
  states: ['none', 'pending', 'approved', 'rejected', 'expired', 'cancelled'],
  decide: {
    'approve, more are needed': decided('approved', 2),
    'approve, the last': decided('approved', 1),
    reject: decided('rejected', 2),
  },
}

const bulk =
  (move: BulkMove, to: BulkStatus) =>
  (state: string): Outcome | null =>
    state === 'none' ? null : canMove(state as BulkStatus, move) ? { to } : 'refused'

const BULK: Machine = {
  name: 'bulk payment',
  moves: BULK_MOVES,
  states: ['none', ...BULK_STATUSES],
  decide: {
    'validation ends, a row is valid': bulk('validated', afterValidation({ valid: 1, invalid: 4 }, false)),
    'validation ends, no row is valid': bulk('validated', afterValidation({ valid: 0, invalid: 4 }, false)),
    revalidate: bulk('revalidate', 'validating'),
    submit: bulk('submit', 'submitting'),
    'run ends, every valid row became a payment': bulk('end', afterRun({ submitted: 3, failed: 0 }, false)),
    'run ends, some rows failed': bulk('end', afterRun({ submitted: 0, failed: 3 }, false)),
    'cancel after 2 minutes, every payment was made': bulk('end', afterRun({ submitted: 3, failed: 0 }, true)),
    'cancel after 2 minutes, payments were made': bulk('end', afterRun({ submitted: 1, failed: 2 }, true)),
    'cancel after 2 minutes, none was made': bulk('end', afterRun({ submitted: 0, failed: 3 }, true)),
    'stalled for 30 minutes, payments were made': bulk('end', afterRun({ submitted: 1, failed: 2 }, true)),
    'stalled for 30 minutes, none was made': bulk('end', afterRun({ submitted: 0, failed: 3 }, true)),
    cancel: bulk('cancel', 'cancelled'),
  },
}

const job =
  (move: JobMove) =>
  (state: string): Outcome | null => {
    if (state === 'none') return null
    const to = moveJob(state as JobStatus, move)
    return to === null ? 'refused' : { to }
  }

const JOBS: Machine = {
  name: 'job',
  moves: JOB_MOVES,
  states: ['none', ...JOB_STATUSES],
  decide: {
    start: job('start'),
    finish: job('succeed'),
    error: job('fail'),
    cancel: job('cancel'),
    '7 days': job('expire'),
  },
}

// ── Funds requests and schedules
// ────────────────────────────────────────────────────────────────────────────────────

const request =
  (move: (paid: bigint) => FundsRequestMove) =>
  (state: string): Outcome | null => {
    if (state === 'none') return null
    const paidAmount = state === 'partially_paid' ? 40n : 0n
    const before = { amount: 100n, paidAmount, payerEmail: null, remindersSent: 0, lastRemindedAt: null }
    const result = moveFundsRequest({ ...before, status: state as FundsRequestStatus }, move(paidAmount))
    return 'refused' in result ? 'refused' : { to: result.status }
  }

const FUNDS_REQUESTS: Machine = {
  name: 'funds request',
  moves: FUNDS_REQUEST_MOVES,
  states: ['none', ...FUNDS_REQUEST_STATUSES],
  decide: {
    'money arrives, less than remains': request(() => ({ kind: 'pay', amount: 30n })),
    'money arrives, all that remains': request((paid) => ({ kind: 'pay', amount: 100n - paid })),
    expiry: request(() => ({ kind: 'expire' })),
    cancel: request(() => ({ kind: 'cancel' })),
    'payer declines': request(() => ({ kind: 'decline' })),
  },
}

const calendar = calendarOf('sepa_instant')

function schedule(status: ScheduleStatus, maxOccurrences: number | null = null): ScheduleState {
  const series = {
    frequency: 'monthly',
    startDate: '2026-06-01',
    endDate: null,
    dayPolicy: 'next_business_day',
    lastDayOfMonth: false,
  } as const
  const first = { index: 0, plannedDate: '2026-06-01', executionDate: '2026-06-01' }
  const active = opened(series, maxOccurrences, first, calendar, MONDAY)
  if (status === 'active') return active
  if (status === 'paused') return paused(active, MONDAY)
  return { ...active, status, next: null, nextOccurrenceAt: null }
}

const people =
  (move: ScheduleMove, after: (state: ScheduleState) => ScheduleState) =>
  (state: string): Outcome | null => {
    if (state === 'none') return null
    const status = state as ScheduleStatus
    return isAllowed(move, status) ? { to: after(schedule(status)).status } : 'refused'
  }

/** An occurrence is begun only by a schedule that is active. */
const occurrence =
  (maxOccurrences: number | null) =>
  (state: string): Outcome | null => {
    if (state !== 'active') return null
    const before = begun(schedule('active', maxOccurrences))
    return { to: made(before, { index: 0, executionDate: '2026-06-01' }, 'created', calendar).status }
  }

const SCHEDULES: Machine = {
  name: 'scheduled payment',
  moves: SCHEDULE_MOVES,
  states: ['none', ...SCHEDULE_STATUSES],
  decide: {
    create: (state) => (state === 'none' ? { to: schedule('active').status } : null),
    'an occurrence is made, more follow': occurrence(null),
    'the last occurrence is made': occurrence(1),
    'run now': people('runNow', (state) => dueNow(state, MONDAY)),
    pause: people('pause', (state) => paused(state, MONDAY)),
    resume: people('resume', (state) => resumed(state, calendar, MONDAY)),
    cancel: people('cancel', cancelled),
    'third failure in a row': (state) => {
      if (state !== 'active') return null
      const twice = paymentEnded(paymentEnded(schedule('active'), 'failed'), 'failed')
      return twice.status === 'active' ? { to: paymentEnded(twice, 'failed').status } : 'refused'
    },
  },
}

// ── Deliveries
// ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** A failed attempt of a delivery that still has time, or none. */
const attempt =
  (leftMs: number) =>
  (state: string): Outcome | null => {
    if (state !== 'pending' && state !== 'retrying') return null
    const next = nextAttemptAt({
      endedAt: MONDAY,
      attempts: state === 'pending' ? 1 : 6,
      windowEndsAt: MONDAY + leftMs,
      retryAfterMs: null,
      chance: 0,
    })
    return { to: next === null ? 'failed' : 'retrying' }
  }

const DELIVERIES: Machine = {
  name: 'delivery',
  moves: DELIVERY_MOVES,
  states: ['none', 'pending', 'retrying', 'succeeded', 'failed', 'discarded'],
  decide: {
    'attempt fails, a slot is left': attempt(RETRY_WINDOW_MS),
    'attempt fails, no slot is left': attempt(0),
  },
}

export const OTHER_MACHINES: readonly Machine[] = [
  RECIPIENTS,
  APPROVALS,
  BULK,
  JOBS,
  FUNDS_REQUESTS,
  SCHEDULES,
  DELIVERIES,
]

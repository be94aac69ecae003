/**
 * Funds requests: money that a customer requests from an outside payer, and the moves of a request.
 *
 *   open ──pay──▶ partially_paid ──pay──▶ paid         pay: money that quotes the reference, or that a member allocates
 *    │  └────────────────────────────────▲
 *    ├─expire─▶ expired      (also from partially_paid)
 *    ├─cancel─▶ cancelled    (also from partially_paid)
 *    └─decline▶ declined
 *
 * Every sum that arrives counts. `allowPartial` only tells whether the payer is offered to pay in parts. Amounts are
 * minor units of the request's currency; times are epoch milliseconds.
 */
import { DAY_MS } from '../base/clock.ts'
import { type Problem, transitionProblem } from '../base/problems.ts'

export const FUNDS_REQUEST_STATUSES = ['open', 'partially_paid', 'paid', 'expired', 'cancelled', 'declined'] as const
export type FundsRequestStatus = (typeof FUNDS_REQUEST_STATUSES)[number]

/** The statuses in which money may still arrive; all others are final. */
export const WAITING_STATUSES = ['open', 'partially_paid'] as const satisfies readonly FundsRequestStatus[]

/** Most funds requests of one customer that wait for money. */
export const OPEN_MAX = 500
export const EXPIRES_DAYS = 30
export const EXPIRES_DAYS_MAX = 365
export const REMINDERS_MAX = 5

/** The path of the payer's page. */
export const payerPath = (token: string): string => `/pay/${token}`

/** The members of a request that its moves read. */
export interface FundsRequestState {
  readonly status: FundsRequestStatus
  readonly amount: bigint
  readonly paidAmount: bigint
  readonly payerEmail: string | null
  readonly remindersSent: number
  readonly lastRemindedAt: number | null
}

export type FundsRequestMove =
  | { readonly kind: 'pay'; readonly amount: bigint }
  | { readonly kind: 'expire' | 'cancel' | 'decline' }

/**
 * Returns a request as it counts at a moment (epoch milliseconds): from its deadline on one that waits is expired, also
 * before its timer has run.
 */
export function fundsRequestAt<Request extends Pick<FundsRequestState, 'status'> & { readonly expiresAt: number }>(
  request: Request,
  at: number,
): Request {
  return isWaiting(request.status) && request.expiresAt <= at ? { ...request, status: 'expired' } : request
}

/** The result of a move, or the problem that refuses it. */
export type Moved = { readonly status: FundsRequestStatus; readonly paidAmount: bigint } | { readonly refused: Problem }

/** The statuses in which each move, and each change of a request that is no move, is allowed. */
const FROM: Readonly<Record<FundsRequestMove['kind'] | 'update' | 'remind', readonly FundsRequestStatus[]>> = {
  pay: WAITING_STATUSES,
  expire: WAITING_STATUSES,
  cancel: WAITING_STATUSES,
  decline: ['open'],
  update: WAITING_STATUSES,
  remind: WAITING_STATUSES,
}

const REACHED = { expire: 'expired', cancel: 'cancelled', decline: 'declined' } as const

/** Decides one move. */
export function moveFundsRequest(state: FundsRequestState, move: FundsRequestMove): Moved {
  const { status, paidAmount } = state
  if (!FROM[move.kind].includes(status))
    return { refused: move.kind === 'cancel' ? notCancellable(status) : invalidTransition(status, move.kind) }
  if (move.kind !== 'pay') return { status: REACHED[move.kind], paidAmount }
  const paid = paidAmount + move.amount
  return { status: paid < state.amount ? 'partially_paid' : 'paid', paidAmount: paid }
}

/** Computes the amount still missing; 0 when the payer sent more than was requested. */
export function remainingOf({ amount, paidAmount }: Pick<FundsRequestState, 'amount' | 'paidAmount'>): bigint {
  return paidAmount < amount ? amount - paidAmount : 0n
}

/** Checks whether the payer can be reminded now; null when they can. At most once a day, and five times in all. */
export function reminderRefusal(state: FundsRequestState, now: number): Problem | null {
  if (!isWaiting(state.status)) return invalidTransition(state.status, 'remind')
  if (state.payerEmail === null) {
    const message = 'The payer has no e-mail address.'
    return { slug: 'validation-error', detail: message, errors: [{ field: '/payer/email', code: 'required', message }] }
  }
  if (state.remindersSent >= REMINDERS_MAX) {
    return {
      slug: 'limit-reached',
      detail: `A payer is reminded ${REMINDERS_MAX} times at most.`,
      extra: { limit: REMINDERS_MAX, resource: 'funds_request_reminder' },
    }
  }
  const free = (state.lastRemindedAt ?? Number.NEGATIVE_INFINITY) + DAY_MS
  if (now >= free) return null
  return {
    slug: 'rate-limited',
    detail: 'A payer is reminded once a day at most.',
    retryAfterSeconds: Math.ceil((free - now) / 1000),
    extra: { violatedPolicies: ['funds-request-reminder'] },
  }
}

/** Whether money may still arrive for a request in this status. */
export function isWaiting(status: FundsRequestStatus): boolean {
  return (WAITING_STATUSES as readonly FundsRequestStatus[]).includes(status)
}

/** Builds the problem of a move or a change that the present status does not allow. */
export function invalidTransition(status: FundsRequestStatus, what: keyof typeof FROM): Problem {
  return transitionProblem(`The funds request is ${status.replace('_', ' ')}.`, status, FROM[what])
}

function notCancellable(status: FundsRequestStatus): Problem {
  return {
    slug: 'not-cancellable',
    detail: `The funds request is ${status.replace('_', ' ')}.`,
    extra: { currentStatus: status },
  }
}

/**
 * Computes when a request expires, or returns the fault of the given time. `at` is RFC 3339; null: after the default of
 * 30 days.
 */
export function expiryOf(
  at: string | null,
  now: number,
): { readonly expiresAt: number } | { readonly code: 'in_past' | 'too_far_ahead'; readonly message: string } {
  if (at === null) return { expiresAt: now + EXPIRES_DAYS * DAY_MS }
  const expiresAt = Date.parse(at)
  if (expiresAt <= now) return { code: 'in_past', message: 'Must be in the future.' }
  if (expiresAt > now + EXPIRES_DAYS_MAX * DAY_MS)
    return { code: 'too_far_ahead', message: `Must be within ${EXPIRES_DAYS_MAX} days.` }
  return { expiresAt }
}

import t from 'tap'

import {
  expiryOf,
  fundsRequestAt,
  FUNDS_REQUEST_STATUSES,
  moveFundsRequest,
  reminderRefusal,
  remainingOf,
  type FundsRequestState,
  type FundsRequestStatus,
} from '../../../lib/funds-requests/funds-request.ts'

const state = (status: FundsRequestStatus, rest: Partial<FundsRequestState> = {}): FundsRequestState => ({
  status,
  amount: 100n,
  paidAmount: status === 'partially_paid' ? 40n : 0n,
  payerEmail: 'payer@example.com',
  remindersSent: 0,
  lastRemindedAt: null,
  ...rest,
})

t.test('moves, row by row', async (t) => {
  for (const [from, move, to] of [
    ['open', { kind: 'pay', amount: 1n }, { status: 'partially_paid', paidAmount: 1n }],
    ['open', { kind: 'pay', amount: 99n }, { status: 'partially_paid', paidAmount: 99n }],
    ['open', { kind: 'pay', amount: 100n }, { status: 'paid', paidAmount: 100n }],
    ['open', { kind: 'pay', amount: 150n }, { status: 'paid', paidAmount: 150n }],
    ['partially_paid', { kind: 'pay', amount: 59n }, { status: 'partially_paid', paidAmount: 99n }],
    ['partially_paid', { kind: 'pay', amount: 60n }, { status: 'paid', paidAmount: 100n }],
    ['open', { kind: 'expire' }, { status: 'expired', paidAmount: 0n }],
    ['partially_paid', { kind: 'expire' }, { status: 'expired', paidAmount: 40n }],
    ['open', { kind: 'cancel' }, { status: 'cancelled', paidAmount: 0n }],
    ['partially_paid', { kind: 'cancel' }, { status: 'cancelled', paidAmount: 40n }],
    ['open', { kind: 'decline' }, { status: 'declined', paidAmount: 0n }],
  ] as const)
    t.strictSame(moveFundsRequest(state(from), move), to, `${from} ${move.kind}`)
})

t.test('every other move is refused', async (t) => {
  for (const status of FUNDS_REQUEST_STATUSES) {
    if (status === 'open') continue
    t.match(
      moveFundsRequest(state(status), { kind: 'decline' }),
      { refused: { slug: 'invalid-transition', extra: { currentStatus: status } } },
      status,
    )
    if (status === 'partially_paid') continue
    t.match(
      moveFundsRequest(state(status), { kind: 'pay', amount: 1n }),
      {
        refused: { slug: 'invalid-transition', extra: { currentStatus: status, allowed: ['open', 'partially_paid'] } },
      },
      status,
    )
    t.match(moveFundsRequest(state(status), { kind: 'expire' }), { refused: { slug: 'invalid-transition' } }, status)
    t.match(
      moveFundsRequest(state(status), { kind: 'cancel' }),
      { refused: { slug: 'not-cancellable', extra: { currentStatus: status } } },
      status,
    )
  }
  t.match(moveFundsRequest(state('partially_paid'), { kind: 'decline' }), {
    refused: { extra: { currentStatus: 'partially_paid', allowed: ['open'] } },
  })
})

t.test('what remains is never less than nothing', async (t) => {
  t.equal(remainingOf({ amount: 100n, paidAmount: 40n }), 60n)
  t.equal(remainingOf({ amount: 100n, paidAmount: 100n }), 0n)
  t.equal(remainingOf({ amount: 100n, paidAmount: 130n }), 0n)
})

t.test('reminders: once a day, five in all, to an address, while money may still come', async (t) => {
  const day = 86_400_000
  t.equal(reminderRefusal(state('open'), day), null)
  t.equal(reminderRefusal(state('partially_paid', { remindersSent: 4, lastRemindedAt: 0 }), day), null)
  t.match(reminderRefusal(state('open', { remindersSent: 1, lastRemindedAt: 1_000 }), day), {
    slug: 'rate-limited',
    retryAfterSeconds: 1,
  })
  t.match(reminderRefusal(state('open', { remindersSent: 5, lastRemindedAt: 0 }), 10 * day), {
    slug: 'limit-reached',
    extra: { limit: 5 },
  })
  t.match(reminderRefusal(state('open', { payerEmail: null }), day), {
    slug: 'validation-error',
    errors: [{ field: '/payer/email', code: 'required' }],
  })
  t.match(reminderRefusal(state('paid'), day), { slug: 'invalid-transition' })
})

t.test('a request ends in thirty days, or when it says, within a year', async (t) => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  t.strictSame(expiryOf(null, now), { expiresAt: Date.parse('2026-01-31T00:00:00Z') })
  t.strictSame(expiryOf('2026-03-01T10:00:00+02:00', now), { expiresAt: Date.parse('2026-03-01T08:00:00Z') })
  t.match(expiryOf('2026-01-01T00:00:00Z', now), { code: 'in_past' })
  t.match(expiryOf('2027-01-01T00:00:01Z', now), { code: 'too_far_ahead' })
})

t.test('from its deadline on a request that waits counts as expired, to the millisecond', async (t) => {
  for (const status of FUNDS_REQUEST_STATUSES) {
    const request = { ...state(status), expiresAt: 1_000 }
    t.equal(fundsRequestAt(request, 999), request)
    const waits = status === 'open' || status === 'partially_paid'
    for (const at of [1_000, 1_001])
      t.strictSame(fundsRequestAt(request, at), waits ? { ...request, status: 'expired' } : request, status)
  }
})

/** The reviewers of a recipient, and the effect of a review's end. */
import t from 'tap'
import { RECIPIENT_MODES } from '../../../lib/approvals/policy.ts'
import {
  afterStage,
  canChange,
  firstStage,
  openedReview,
  RECIPIENT_STATUSES,
  REVIEW_STATUSES,
  reviewStatusAt,
  type ReviewEnd,
} from '../../../lib/recipients/review.ts'

const NOW = Date.UTC(2026, 4, 4)
const end = (status: ReviewEnd['status']): ReviewEnd => ({ status, by: 'someone', reason: null })

t.test('who looks first', async (t) => {
  const table = RECIPIENT_MODES.map((mode) => [
    mode,
    firstStage(mode, { byKey: false }),
    firstStage(mode, { byKey: true }),
    firstStage(mode, { byKey: false, wasRejected: true }),
  ])
  t.strictSame(table, [
    ['none', null, 'customer', 'customer'],
    ['customer_tier', 'customer', 'customer', 'customer'],
    ['operator_queue', 'operator', 'operator', 'operator'],
    ['customer_then_operator', 'customer', 'customer', 'customer'],
  ])
})

t.test('how a stage ends', async (t) => {
  const after = (
    mode: (typeof RECIPIENT_MODES)[number],
    stage: 'customer' | 'operator',
    status: ReviewEnd['status'],
  ) => {
    const next = afterStage('pending_approval', openedReview(mode, stage, 'approval', NOW), end(status), NOW)
    return next.next === 'operator' ? 'on to the operator' : `${next.status} ${next.approval.status}`
  }
  t.equal(after('customer_tier', 'customer', 'approved'), 'active approved')
  t.equal(after('customer_tier', 'customer', 'rejected'), 'rejected rejected')
  t.equal(after('customer_tier', 'customer', 'expired'), 'rejected expired')
  t.equal(after('customer_tier', 'customer', 'cancelled'), 'pending_approval cancelled')
  t.equal(after('customer_then_operator', 'customer', 'approved'), 'on to the operator')
  t.equal(after('customer_then_operator', 'customer', 'rejected'), 'rejected rejected')
  t.equal(after('customer_then_operator', 'operator', 'approved'), 'active approved')
  t.equal(after('operator_queue', 'operator', 'expired'), 'rejected expired')
})

t.test('what can be changed when', async (t) => {
  t.strictSame(
    RECIPIENT_STATUSES.filter((status) => canChange(status, true)),
    ['pending_approval', 'active', 'rejected'],
  )
  t.strictSame(
    RECIPIENT_STATUSES.filter((status) => canChange(status, false)),
    ['pending_approval', 'active'],
  )
})

t.test('from its deadline on a review by staff counts as expired, to the millisecond', async (t) => {
  for (const status of REVIEW_STATUSES) {
    t.equal(reviewStatusAt({ status, expiresAt: NOW }, NOW - 1), status)
    for (const now of [NOW, NOW + 1])
      t.equal(reviewStatusAt({ status, expiresAt: NOW }, now), status === 'pending' ? 'expired' : status)
  }
})

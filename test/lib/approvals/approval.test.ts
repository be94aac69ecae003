import t from 'tap'
import { approvalAt, type ApprovalRecord } from '../../../lib/approvals/approval.ts'
import { APPROVAL_STATUSES } from '../../../lib/approvals/opening.ts'

t.test('from its deadline on a pending approval counts as expired, to the millisecond', async (t) => {
  for (const status of APPROVAL_STATUSES) {
    const approval = { status, expiresAt: 1_000 } as ApprovalRecord
    t.equal(approvalAt(approval, 999), approval)
    for (const now of [1_000, 1_001])
      t.equal(approvalAt(approval, now).status, status === 'pending' ? 'expired' : status)
  }
})

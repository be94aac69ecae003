/** The notices about an approval: to its approvers, and to the person who asked for it. */
import type { ApprovalRecord } from '../../lib/approvals/approval.ts'
import { approversOf } from '../../storage/approvals/approval-standing.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import { insertNotices, type Notice } from '../../storage/notices/notices.ts'

/** Tells all approvers of the approval. */
export async function tellApprovers(
  { client, ids, now }: ApprovalTx,
  approval: ApprovalRecord,
  { type, text }: Pick<Notice, 'type' | 'text'>,
): Promise<void> {
  const approvers = await approversOf(client, approval.id)
  await insertNotices(
    client,
    ids,
    approvers.map(({ userId }) => userId),
    {
      tenantId: approval.customerId,
      type,
      text,
      title: `${approval.subject.title} waits for approval`,
      object: { type: 'approval', id: approval.id },
    },
    now,
  )
}

/** Tells the person who asked for the approval. */
export async function tellRequester(
  { client, ids, now }: ApprovalTx,
  approval: ApprovalRecord,
  { title, text }: Pick<Notice, 'title' | 'text'>,
): Promise<void> {
  await insertNotices(
    client,
    ids,
    [approval.requestedBy],
    {
      tenantId: approval.customerId,
      type: 'approval_decided',
      title,
      text,
      object: { type: 'approval', id: approval.id },
    },
    now,
  )
}

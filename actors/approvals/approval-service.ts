/** Approvals: decisions of several people, the policies that ask for them, and the poller that ends them in time. */
import { background, type Node } from '../runtime/node.ts'
import { createApprovalCommands, createApprovalReads } from './approval-operations.ts'
import { Approvals, type ApprovalsOptions } from './approvals.ts'
import { policySubject } from './change-policy.ts'

export type ApprovalService = ReturnType<typeof createApprovalService>

/** Creates the service. Other nouns add what their approvals have effects on, before the background starts. */
export function createApprovalService(node: Node) {
  const subjects: ApprovalsOptions['subjects'] = { approval_policy_change: policySubject() }
  const approvals = new Approvals({ ...node, subjects })
  const reads = createApprovalReads(node)
  return {
    reads,
    commands: createApprovalCommands({ ...node, approvals }, reads),
    background: [background('approvals', approvals)],
    approvals,
    /** Adds the effects of approvals on some types of subjects. */
    addSubjects(added: ApprovalsOptions['subjects']): void {
      Object.assign(subjects, added)
    },
  }
}

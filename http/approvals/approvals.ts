/** Approvals. */
import { empty, page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { Approval, approvalList, DecisionCreate } from '../../lib/approvals/approval-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'

export const listApprovals = route({
  method: 'get',
  path: '/approvals',
  operationId: 'listApprovals',
  tag: 'payments',
  summary: 'List approvals',
  description:
    'By default pending approvals. Members see the approvals of their customer, staff those of one customer ' +
    'or of all customers of the operator.',
  callers: 'key',
  scope: 'payments:read',
  tenant: 'any',
  idempotency: 'none',
  list: approvalList,
  success: { status: 200, description: 'A page of approvals.', schema: PageOf('ApprovalPage', Approval), etag: true },
  problems: [],
  handle: async ({ caller, list }, { approvals }) => page(list, await approvals.listApprovals(list, caller.principal)),
})

export const getApproval = route({
  method: 'get',
  path: '/approvals/{approvalId}',
  operationId: 'getApproval',
  tag: 'payments',
  summary: 'Read an approval',
  callers: 'key',
  scope: 'payments:read',
  tenant: 'any',
  idempotency: 'none',
  success: { status: 200, description: 'The approval.', schema: Approval, etag: true },
  problems: [],
  handle: async ({ caller, params }, { approvals }) =>
    resource(await approvals.getApproval(caller.tenant, params.approvalId, caller.principal)),
})

export const decideApproval = route({
  method: 'post',
  path: '/approvals/{approvalId}/decisions',
  operationId: 'decideApproval',
  tag: 'payments',
  summary: 'Decide on an approval',
  description:
    'One rejection rejects the approval. The step-up must name the approval as its subject. The request ' +
    'repeats the subject that the person saw; a decision on a changed subject is refused.',
  callers: 'session',
  capability: 'approvals.decide',
  scope: null,
  tenant: 'customer',
  idempotency: 'optional',
  stepUp: { action: 'approval.decide', subject: 'approvalId', bound: true },
  ifMatch: 'when sent',
  current: async ({ tenant, principal, params }, { approvals }) =>
    tenant === null || principal === null ? null : await approvals.getApproval(tenant, params.approvalId, principal),
  body: DecisionCreate,
  exists: async (tenant, { approvalId }, { approvals }) => await approvals.approvalExists(tenant, approvalId),
  success: { status: 200, description: 'The approval with the decision.', schema: Approval, etag: true },
  problems: ['invalid-transition', 'approval-subject-changed', 'customer-restricted'],
  handle: ({ caller, params, command, expectedVersion }, { approvals }) =>
    approvals.decide(caller, params.approvalId, command, expectedVersion),
})

export const remindApprovers = route({
  method: 'post',
  path: '/approvals/{approvalId}/remind',
  operationId: 'remindApprovers',
  tag: 'payments',
  summary: 'Remind the approvers of an approval',
  description: 'At most once an hour.',
  callers: 'session',
  capability: 'payments.create',
  scope: null,
  tenant: 'customer',
  idempotency: 'none',
  success: { status: 202, description: 'The reminders are being sent.' },
  problems: ['invalid-transition', 'rate-limited'],
  handle: async ({ caller, params }, { approvals }) => {
    await approvals.remind(caller, params.approvalId)
    return empty(202)
  },
})

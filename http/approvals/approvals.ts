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
    'Those that are pending unless `filter[status]` says otherwise. Members see those of their customer; staff those of one customer or of all customers of the operator.',
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
  summary: 'Approve or reject',
  description:
    'One rejection is enough. The step-up must name the approval as its subject. Send back what you were shown, and a decision on anything else is refused.',
  callers: 'session',
  capability: 'approvals.decide',
  scope: null,
  tenant: 'customer',
  idempotency: 'none',
  stepUp: { action: 'approval.decide', subject: 'approvalId', bound: true },
  ifMatch: 'when sent',
  current: async ({ tenant, principal, params }, { approvals }) =>
    tenant === null || principal === null ? null : await approvals.getApproval(tenant, params.approvalId, principal),
  body: DecisionCreate,
  exists: async (tenant, { approvalId }, { approvals }) => await approvals.approvalExists(tenant, approvalId),
  success: { status: 200, description: 'The approval with the decision.', schema: Approval, etag: true },
  problems: ['invalid-transition', 'approval-subject-changed'],
  handle: async ({ caller, params, body, expectedVersion }, { approvals }) =>
    resource(await approvals.decide(caller, params.approvalId, body, expectedVersion)),
})

export const remindApprovers = route({
  method: 'post',
  path: '/approvals/{approvalId}/remind',
  operationId: 'remindApprovers',
  tag: 'payments',
  summary: 'Remind those who may decide',
  description: 'Once an hour.',
  callers: 'session',
  capability: 'payments.create',
  scope: null,
  tenant: 'customer',
  idempotency: 'none',
  success: { status: 202, description: 'They are being told.' },
  problems: ['invalid-transition', 'rate-limited'],
  handle: async ({ caller, params }, { approvals }) => {
    await approvals.remind(caller, params.approvalId)
    return empty(202)
  },
})

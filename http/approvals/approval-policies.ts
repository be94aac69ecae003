/** Approval policies of a customer. */
import { POLICY_KINDS, type PolicyKind } from '../../lib/approvals/policy.ts'
import { json, resource } from '../route/answer.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import { route } from '../route/route.ts'
import { ApprovalPolicy, ApprovalPolicyWrite } from '../../lib/approvals/approval-policy-schema.ts'
import { PAGE_LIMIT_MAX, PageOf } from '../../lib/contract/page.ts'

export const listApprovalPolicies = route({
  method: 'get',
  path: '/customers/{customerId}/settings/approval-policies',
  operationId: 'listApprovalPolicies',
  tag: 'tenants',
  summary: 'List the approval policies',
  callers: 'session',
  capability: 'settings.read',
  scope: null,
  tenant: 'customer',
  idempotency: 'none',
  success: {
    status: 200,
    description: 'One policy of each kind, including kinds that were never set.',
    schema: PageOf('ApprovalPolicyPage', ApprovalPolicy),
  },
  problems: [],
  handle: async ({ tenant, params }, { approvals }) => {
    const policies = await approvals.listApprovalPolicies(tenant, params.customerId)
    if (policies === null) refuseNotFound()
    return json(200, { data: policies, page: { nextCursor: null, prevCursor: null, limit: PAGE_LIMIT_MAX } })
  },
})

export const getApprovalPolicy = route({
  method: 'get',
  path: '/customers/{customerId}/settings/approval-policies/{kind}',
  operationId: 'getApprovalPolicy',
  tag: 'tenants',
  summary: 'Read an approval policy',
  callers: 'session',
  capability: 'settings.read',
  scope: null,
  tenant: 'customer',
  idempotency: 'none',
  words: { kind: POLICY_KINDS },
  success: { status: 200, description: 'The policy.', schema: ApprovalPolicy, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { approvals }) =>
    resource(await approvals.getApprovalPolicy(tenant, params.customerId, params.kind as PolicyKind)),
})

export const updateApprovalPolicy = route({
  method: 'put',
  path: '/customers/{customerId}/settings/approval-policies/{kind}',
  operationId: 'updateApprovalPolicy',
  tag: 'tenants',
  summary: 'Change an approval policy',
  description:
    'A change that only makes the policy stricter is effective at once. A change that loosens any rule waits ' +
    'for an approval: 202, with the approval in `Location`.',
  callers: 'session',
  capability: 'settings.manage',
  scope: null,
  tenant: 'customer',
  idempotency: 'none',
  stepUp: { action: 'settings.change' },
  ifMatch: true,
  words: { kind: POLICY_KINDS },
  current: async ({ tenant, params }, { approvals }) =>
    tenant === null ? null : await approvals.getApprovalPolicy(tenant, params.customerId, params.kind as PolicyKind),
  body: ApprovalPolicyWrite,
  success: {
    status: 200,
    description: 'The policy as it is now.',
    schema: ApprovalPolicy,
    etag: true,
    or: { status: 202, description: 'The policy, and the change that waits for approval.', location: true },
  },
  problems: [],
  handle: async ({ caller, params, body, expectedVersion }, { approvals }) => {
    const { policy, approvalId } = await approvals.changePolicy(
      caller,
      params.kind as PolicyKind,
      body,
      expectedVersion,
    )
    const answer = resource(policy)
    return approvalId === null ? answer : { ...answer, status: 202, location: `/v1/approvals/${approvalId}` }
  },
})

/** Funds requests. */
import { json, page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import {
  ArrivalAllocation,
  FundsRequest,
  FundsRequestCreate,
  fundsRequestList,
  FundsRequestUpdate,
} from '../../lib/funds-requests/funds-request-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'

const shared = { tag: 'payments', callers: 'key', tenant: 'customer', feature: 'payments.funds_requests' } as const

export const listFundsRequests = route({
  ...shared,
  method: 'get',
  path: '/funds-requests',
  operationId: 'listFundsRequests',
  summary: 'List funds requests',
  scope: 'payments:read',
  idempotency: 'none',
  list: fundsRequestList,
  success: {
    status: 200,
    description: 'A page of funds requests.',
    schema: PageOf('FundsRequestPage', FundsRequest),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { fundsRequests }) => page(list, await fundsRequests.list(list)),
})

export const getFundsRequest = route({
  ...shared,
  method: 'get',
  path: '/funds-requests/{fundsRequestId}',
  operationId: 'getFundsRequest',
  summary: 'Read a funds request',
  scope: 'payments:read',
  idempotency: 'none',
  success: { status: 200, description: 'The funds request.', schema: FundsRequest, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { fundsRequests }) =>
    resource(await fundsRequests.get(tenant, params.fundsRequestId)),
})

export const createFundsRequest = route({
  ...shared,
  method: 'post',
  path: '/funds-requests',
  operationId: 'createFundsRequest',
  money: 'prepare',
  summary: 'Create a funds request',
  description:
    'The payer gets a link and quotes the reference; incoming payments on the balance with the reference are ' +
    'counted. The link is mailed when the payer has an address and `send` is not false.',
  scope: 'payments:write',
  idempotency: 'required',
  body: FundsRequestCreate,
  success: {
    status: 201,
    description: 'The funds request as it was created.',
    schema: FundsRequest,
    etag: true,
    location: true,
  },
  problems: ['duplicate-external-id', 'limit-reached', 'limit-exceeded'],
  handle: ({ caller, command }, { fundsRequests }) => fundsRequests.create(caller, command),
})

export const updateFundsRequest = route({
  ...shared,
  method: 'patch',
  path: '/funds-requests/{fundsRequestId}',
  operationId: 'updateFundsRequest',
  summary: 'Change a funds request',
  scope: 'payments:write',
  idempotency: 'none',
  ifMatch: true,
  current: async ({ tenant, params }, { fundsRequests }) =>
    tenant === null ? null : await fundsRequests.get(tenant, params.fundsRequestId),
  body: FundsRequestUpdate,
  success: { status: 200, description: 'The funds request as it is now.', schema: FundsRequest, etag: true },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, body, expectedVersion }, { fundsRequests }) =>
    resource(await fundsRequests.update(caller, params.fundsRequestId, body, expectedVersion)),
})

export const cancelFundsRequest = route({
  ...shared,
  method: 'post',
  path: '/funds-requests/{fundsRequestId}/cancel',
  operationId: 'cancelFundsRequest',
  summary: 'Cancel a funds request',
  description: 'Amounts already paid stay on the balance; a later payment is an ordinary incoming payment.',
  scope: 'payments:write',
  idempotency: 'optional',
  success: { status: 200, description: 'The cancelled funds request.', schema: FundsRequest },
  problems: ['not-found', 'not-cancellable'],
  handle: ({ caller, params, command }, { fundsRequests }) =>
    fundsRequests.cancel(caller, params.fundsRequestId, command),
})

export const remindFundsRequest = route({
  ...shared,
  method: 'post',
  path: '/funds-requests/{fundsRequestId}/remind',
  operationId: 'remindFundsRequest',
  money: 'prepare',
  summary: 'Remind the payer by mail',
  description: 'At most once a day and five times in all.',
  scope: 'payments:write',
  idempotency: 'none',
  success: { status: 200, description: 'The funds request; the mail is being sent.', schema: FundsRequest },
  problems: ['not-found', 'invalid-transition', 'limit-reached', 'rate-limited', 'validation-error'],
  handle: async ({ caller, params }, { fundsRequests }) =>
    json(200, (await fundsRequests.remind(caller, params.fundsRequestId)).view),
})

export const allocateIncomingPayment = route({
  method: 'post',
  path: '/incoming-payments/{incomingPaymentId}/allocate',
  operationId: 'allocateIncomingPayment',
  tag: 'payments',
  summary: 'Count an incoming payment towards a funds request',
  description: 'For incoming payments that did not quote the reference.',
  callers: 'session',
  scope: null,
  capability: 'payments.create',
  tenant: 'customer',
  feature: 'payments.funds_requests',
  idempotency: 'optional',
  body: ArrivalAllocation,
  success: { status: 200, description: 'The funds request with its paid amount.', schema: FundsRequest },
  problems: ['not-found', 'invalid-transition'],
  handle: ({ caller, params, command }, { fundsRequests }) =>
    fundsRequests.allocate(caller, params.incomingPaymentId, command),
})

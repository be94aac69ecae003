/** Payments. */
import { page, resource } from '../answer.ts'
import { route } from '../route.ts'
import { PageOf } from '../schemas/page.ts'
import { Payment, PaymentCancel, PaymentCreate, paymentList } from '../schemas/payment.ts'

export const createPayment = route({
  method: 'post',
  path: '/payments',
  operationId: 'createPayment',
  tag: 'payments',
  summary: 'Create a payment',
  description: 'The money is held at once. Where the customer\'s policy asks for people, the payment waits for them with its hold. The same Idempotency-Key never pays twice.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  idempotency: 'required',
  stepUp: { action: 'payment.above_threshold' },
  limits: ['money'],
  body: PaymentCreate,
  success: { status: 201, description: 'The payment as it was created.', schema: Payment, etag: true, location: true },
  problems: [
    'insufficient-funds', 'duplicate-external-id', 'quote-expired', 'customer-not-active', 'limit-exceeded',
    'recipient-not-approved', 'verification-mismatch', 'rail-unavailable', 'document-not-clean',
  ],
  handle: ({ tenant, principal, body, idempotency, requestId, instance, deadline }, { commands }) =>
    commands.createPayment({ tenantId: tenant.id, principal, body, idempotency, requestId, instance, deadline }),
})

export const listPayments = route({
  method: 'get',
  path: '/payments',
  operationId: 'listPayments',
  tag: 'payments',
  summary: 'List payments',
  callers: 'key',
  scope: 'payments:read',
  tenant: 'customer',
  idempotency: 'none',
  list: paymentList,
  success: { status: 200, description: 'A page of payments.', schema: PageOf('PaymentPage', Payment), etag: true },
  problems: [],
  handle: async ({ list }, { queries }) => page(list, await queries.listPayments(list)),
})

export const getPayment = route({
  method: 'get',
  path: '/payments/{paymentId}',
  operationId: 'getPayment',
  tag: 'payments',
  summary: 'Read a payment',
  callers: 'key',
  scope: 'payments:read',
  tenant: 'customer',
  idempotency: 'none',
  success: { status: 200, description: 'The payment.', schema: Payment, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { queries }) => resource(await queries.getPayment(tenant, params.paymentId)),
})

export const cancelPayment = route({
  method: 'post',
  path: '/payments/{paymentId}/cancel',
  operationId: 'cancelPayment',
  tag: 'payments',
  summary: 'Cancel a payment',
  description: 'Possible while it waits for approval or for the bank. The held money is free again.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  idempotency: 'optional',
  body: PaymentCancel,
  bodyOptional: true,
  exists: async (tenant, { paymentId }, { queries }) => await queries.getPayment(tenant, paymentId) !== null,
  success: { status: 200, description: 'The payment, cancelled.', schema: Payment },
  problems: ['not-cancellable'],
  handle: ({ tenant, params, principal, body, idempotency, requestId, instance, deadline }, { commands }) =>
    commands.cancelPayment({ tenantId: tenant.id, principal, body, idempotency, requestId, instance, deadline }, params.paymentId),
})

/** Payments. */
import { page, resource } from '../answer.ts'
import { route } from '../route.ts'
import { PageOf } from '../schemas/page.ts'
import { Payment, PaymentCreate, paymentList } from '../schemas/payment.ts'

export const createPayment = route({
  method: 'post',
  path: '/payments',
  operationId: 'createPayment',
  tag: 'payments',
  summary: 'Create a payment',
  description: 'The money is held at once. The same Idempotency-Key never pays twice.',
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
  handle: ({ tenant, principal, body, idempotency, requestId, instance }, { commands }) =>
    commands.createPayment({ tenantId: tenant.id, principal, body, idempotency, requestId, instance }),
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

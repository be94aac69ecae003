/** Payments. */
import { seesOperatorFields } from '../../lib/identity/caller.ts'
import { errorsWithKinds, idsOf } from '../../lib/integration/id-kinds.ts'
import { empty, json, page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { PageOf } from '../../lib/contract/page.ts'
import {
  Payment,
  PaymentCancel,
  PaymentCheck,
  PaymentCreate,
  paymentList,
  PaymentSubmit,
  PaymentUpdate,
} from '../../lib/payments/payment-schema.ts'

export const createPayment = route({
  method: 'post',
  path: '/payments',
  operationId: 'createPayment',
  money: 'pay',
  tag: 'payments',
  summary: 'Create a payment',
  description:
    "The amount is held at once. When the customer's policy requires approval, the payment waits for it with " +
    'its hold. A payment for a later day has no hold before that day. With `draft` the payment is only ' +
    'stored until it is submitted. The same Idempotency-Key never pays twice.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  idempotency: 'required',
  stepUp: { action: 'payment.above_threshold', amount: ({ body }) => body.amount },
  limits: ['money'],
  body: PaymentCreate,
  success: { status: 201, description: 'The payment as it was created.', schema: Payment, etag: true, location: true },
  problems: [
    'insufficient-funds',
    'duplicate-external-id',
    'quote-expired',
    'limit-exceeded',
    'recipient-not-approved',
    'verification-mismatch',
    'rail-unavailable',
    'document-not-clean',
    // Of the exchange that a quote names.
    'feature-disabled',
    'provider-error',
  ],
  handle: ({ command }, { payments }) => payments.createPayment(command),
})

export const validatePayment = route({
  method: 'post',
  path: '/payments/validate',
  operationId: 'validatePayment',
  money: 'pay',
  tag: 'payments',
  summary: 'Check a payment without creating it',
  description:
    'Takes the body of a new payment and creates nothing. Answers with the rail and the reason for it, the ' +
    'fees, the execution date, the approvers, and every error that would refuse the payment.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  idempotency: 'none',
  limits: ['verify'],
  body: PaymentCreate,
  success: { status: 200, description: 'The result of the check.', schema: PaymentCheck },
  problems: [],
  handle: async ({ command, params }, { payments, integration }) => {
    const checked = await payments.checkPayment(command)
    const request = { params, body: command.body }
    const ids = idsOf({ slug: 'validation-error', errors: checked.issues }, request)
    if (ids.length === 0) return json(200, checked)
    const kinds = await integration.kindsOfIds(command.tenantId, ids)
    return json(200, { ...checked, issues: errorsWithKinds(checked.issues, request, kinds) })
  },
})

export const listPayments = route({
  method: 'get',
  path: '/payments',
  operationId: 'listPayments',
  readByStaff: true,
  tag: 'payments',
  summary: 'List payments',
  callers: 'key',
  scope: 'payments:read',
  tenant: 'customer',
  idempotency: 'none',
  list: paymentList,
  success: { status: 200, description: 'A page of payments.', schema: PageOf('PaymentPage', Payment), etag: true },
  problems: [],
  handle: async ({ caller, list }, { payments }) =>
    page(list, await payments.listPayments(list, seesOperatorFields(caller))),
})

export const getPayment = route({
  method: 'get',
  path: '/payments/{paymentId}',
  operationId: 'getPayment',
  readByStaff: true,
  tag: 'payments',
  summary: 'Read a payment',
  callers: 'key',
  scope: 'payments:read',
  tenant: 'customer',
  idempotency: 'none',
  success: { status: 200, description: 'The payment.', schema: Payment, etag: true },
  problems: [],
  handle: async ({ caller, tenant, params }, { payments }) =>
    resource(await payments.getPayment(tenant, params.paymentId, seesOperatorFields(caller))),
})

export const updatePayment = route({
  method: 'patch',
  path: '/payments/{paymentId}',
  operationId: 'updatePayment',
  tag: 'payments',
  summary: 'Change a payment',
  description:
    'Every member of a draft can be changed. After submission only documentIds, internalNote and metadata can.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  idempotency: 'none',
  ifMatch: true,
  current: async ({ tenant, params }, { payments }) =>
    tenant === null ? null : await payments.getPayment(tenant, params.paymentId),
  body: PaymentUpdate,
  success: { status: 200, description: 'The payment as it is now.', schema: Payment, etag: true },
  problems: ['duplicate-external-id'],
  handle: async ({ caller, tenant, params, body, expectedVersion }, { payments }) => {
    await payments.update(caller, params.paymentId, body, expectedVersion)
    return resource(await payments.getPayment(tenant, params.paymentId))
  },
})

export const deletePayment = route({
  method: 'delete',
  path: '/payments/{paymentId}',
  operationId: 'deletePayment',
  tag: 'payments',
  summary: 'Delete a draft',
  description: 'Only a draft can be deleted; a submitted payment is cancelled instead.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  idempotency: 'none',
  ifMatch: true,
  current: async ({ tenant, params }, { payments }) =>
    tenant === null ? null : await payments.getPayment(tenant, params.paymentId),
  success: { status: 204, description: 'The draft was deleted.' },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, expectedVersion }, { payments }) => {
    await payments.remove(caller, params.paymentId, expectedVersion)
    return empty()
  },
})

export const submitPayment = route({
  method: 'post',
  path: '/payments/{paymentId}/submit',
  operationId: 'submitPayment',
  money: 'pay',
  tag: 'payments',
  summary: 'Submit a draft',
  description: 'The submission checks everything that the creation of a payment checks.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  idempotency: 'required',
  stepUp: {
    action: 'payment.above_threshold',
    amount: async ({ tenant, params }, { payments }) =>
      (await payments.getPayment(tenant, params.paymentId))?.view.amount ?? null,
  },
  limits: ['money'],
  body: PaymentSubmit,
  bodyOptional: true,
  exists: async (tenant, { paymentId }, { payments }) => (await payments.getPayment(tenant, paymentId)) !== null,
  success: { status: 200, description: 'The payment as it was submitted.', schema: Payment },
  problems: [
    'invalid-transition',
    'precondition-failed',
    'insufficient-funds',
    'quote-expired',
    'limit-exceeded',
    'recipient-not-approved',
    'verification-mismatch',
    'rail-unavailable',
    'document-not-clean',
    'feature-disabled',
    'provider-error',
  ],
  handle: ({ params, command }, { payments }) => payments.submitPayment(command, params.paymentId),
})

export const cancelPayment = route({
  method: 'post',
  path: '/payments/{paymentId}/cancel',
  operationId: 'cancelPayment',
  tag: 'payments',
  summary: 'Cancel a payment',
  description:
    'A payment can be cancelled while it waits for approval, for its day or for its hand-over to the bank. ' +
    'Its hold is released. A draft is deleted instead.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  idempotency: 'optional',
  body: PaymentCancel,
  bodyOptional: true,
  exists: async (tenant, { paymentId }, { payments }) => (await payments.getPayment(tenant, paymentId)) !== null,
  success: { status: 200, description: 'The cancelled payment.', schema: Payment },
  problems: ['not-cancellable'],
  handle: ({ params, command }, { payments }) => payments.cancelPayment(command, params.paymentId),
})

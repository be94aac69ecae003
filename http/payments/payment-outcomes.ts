/** Outcomes of sent payments: their history, and recalls. */
import { page } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { PageOf } from '../../lib/contract/page.ts'
import { Payment } from '../../lib/payments/payment-schema.ts'
import {
  PaymentRecallRequest,
  PaymentStatusUpdate,
  paymentStatusUpdateList,
} from '../../lib/payments/payment-outcome-schema.ts'

export const requestPaymentRecall = route({
  method: 'post',
  path: '/payments/{paymentId}/recall',
  operationId: 'requestPaymentRecall',
  tag: 'payments',
  summary: 'Request the recall of a payment',
  description:
    'A payment can be recalled once, within 13 months of its completion, when its rail has recalls. The ' +
    "recipient's bank has 15 business days to answer; only an accepted recall changes the payment.",
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  feature: 'payments.recalls',
  idempotency: 'required',
  limits: ['money'],
  body: PaymentRecallRequest,
  exists: async (tenant, { paymentId }, { payments }) => (await payments.getPayment(tenant, paymentId)) !== null,
  success: { status: 202, description: 'The payment with its recall.', schema: Payment },
  problems: ['not-found', 'invalid-transition'],
  handle: ({ caller, params, command }, { payments }) => payments.requestRecall(caller, params.paymentId, command),
})

export const listPaymentUpdates = route({
  method: 'get',
  path: '/payments/{paymentId}/updates',
  operationId: 'listPaymentUpdates',
  readByStaff: true,
  tag: 'payments',
  summary: 'List the status updates of a payment',
  callers: 'key',
  scope: 'payments:read',
  tenant: 'customer',
  idempotency: 'none',
  list: paymentStatusUpdateList,
  success: {
    status: 200,
    description: 'A page of status updates.',
    schema: PageOf('PaymentStatusUpdatePage', PaymentStatusUpdate),
    etag: true,
  },
  problems: [],
  handle: async ({ list, params }, { payments }) =>
    page(list, await payments.updates({ ...list, paymentId: params.paymentId })),
})

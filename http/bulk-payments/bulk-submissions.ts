/** Submission of bulk payments. */
import { route } from '../route/route.ts'
import { BulkPaymentSubmitAccepted } from '../../lib/bulk-payments/bulk-submission-schema.ts'

export const submitBulkPayment = route({
  method: 'post',
  path: '/bulk-payments/{bulkPaymentId}/submit',
  operationId: 'submitBulkPayment',
  tag: 'payments',
  summary: 'Submit a bulk payment',
  description:
    'Each valid row becomes a payment, as if it had been created by itself; nothing is set aside before, so a row can still fail for want of money. When the total needs approval there is one for all of them, and it is decided once all are made. Submitted again while it goes on, it is answered with the same job; a run that stands still goes on then.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  feature: 'payments.bulk',
  idempotency: 'required',
  stepUp: { action: 'payment.above_threshold' },
  limits: ['money'],
  success: {
    status: 202,
    description: 'Its payments are being made.',
    schema: BulkPaymentSubmitAccepted,
    etag: true,
    location: true,
  },
  problems: ['not-found', 'invalid-transition', 'rate-limited'],
  handle: ({ caller, params, command }, { bulkPayments }) => bulkPayments.submit(caller, command, params.bulkPaymentId),
})

/** Submission of bulk payments. */
import { route } from '../route/route.ts'
import { BulkPaymentSubmitAccepted } from '../../lib/bulk-payments/bulk-submission-schema.ts'

export const submitBulkPayment = route({
  method: 'post',
  path: '/bulk-payments/{bulkPaymentId}/submit',
  operationId: 'submitBulkPayment',
  money: 'pay',
  tag: 'payments',
  summary: 'Submit a bulk payment',
  description:
    'Each valid row becomes a payment, as if it were created alone. Nothing is held before, so a row can ' +
    'still fail when the balance is too low. When the total needs approval, one approval covers all payments ' +
    'and is decided after all of them exist. A second submission answers with the same job and resumes a run ' +
    'that makes no progress.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  feature: 'payments.bulk',
  idempotency: 'required',
  stepUp: { action: 'payment.above_threshold' },
  limits: ['money'],
  success: {
    status: 202,
    description: 'The bulk payment, whose payments are being created.',
    schema: BulkPaymentSubmitAccepted,
    etag: true,
    location: true,
  },
  problems: ['not-found', 'invalid-transition', 'rate-limited'],
  handle: ({ caller, params, command }, { bulkPayments }) => bulkPayments.submit(caller, command, params.bulkPaymentId),
})

/** What submitting a bulk payment is answered with. */
import Type from 'typebox'
import { Approval } from './approval.ts'
import { BulkPayment } from './bulk-payment.ts'
import { Job } from './job.ts'
import { Nullable } from './primitives.ts'

export const BulkPaymentSubmitAccepted = Type.Object({
  bulkPayment: BulkPayment,
  job: Job,
  approval: Nullable(Approval),
}, { title: 'BulkPaymentSubmitAccepted' })

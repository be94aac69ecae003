/** The answer to the submission of a bulk payment. */
import Type, { type Static } from 'typebox'
import { Approval } from '../approvals/approval-schema.ts'
import { BulkPayment } from './bulk-payment-schema.ts'
import { Job } from '../jobs/job-schema.ts'
import { Nullable } from '../contract/primitives.ts'

export const BulkPaymentSubmitAccepted = Type.Object(
  {
    bulkPayment: BulkPayment,
    job: Job,
    approval: Nullable(Approval),
  },
  { title: 'BulkPaymentSubmitAccepted' },
)
export type BulkPaymentSubmitAccepted = Static<typeof BulkPaymentSubmitAccepted>

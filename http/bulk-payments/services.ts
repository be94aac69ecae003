/** Services of bulk payments for handlers. */
import type { BulkPaymentCommands, BulkPaymentReads } from '../../actors/bulk-payments/bulk-payment-operations.ts'
import type { BulkReportReads } from '../../actors/bulk-payments/bulk-reports.ts'
import type { BulkSubmissionCommands } from '../../actors/bulk-payments/bulk-submissions.ts'
import type { BulkUploadCommands } from '../../actors/bulk-payments/bulk-uploads.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly bulkPayments: BulkPaymentReads & BulkReportReads
  }
  interface Services {
    readonly bulkPayments: BulkPaymentReads &
      BulkReportReads &
      BulkPaymentCommands &
      BulkUploadCommands &
      BulkSubmissionCommands
  }
}

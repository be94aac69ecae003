/** Services of bulk payments, as handlers get them. */
import type { BulkPaymentCommands, BulkPaymentReads } from '../bulk-payments.ts'
import type { BulkReportReads } from '../bulk-reports.ts'
import type { BulkSubmissionCommands } from '../bulk-submissions.ts'
import type { BulkUploadCommands } from '../bulk-uploads.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly bulkPayments: BulkPaymentReads & BulkReportReads
  }
  interface Services {
    readonly bulkPayments: BulkPaymentReads & BulkReportReads & BulkPaymentCommands & BulkUploadCommands & BulkSubmissionCommands
  }
}

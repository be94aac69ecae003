/** Services of bulk payments for handlers. */
import type { BulkService } from '../../actors/bulk-payments/bulk-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly bulkPayments: BulkService
  }
}

/** Services of documents for handlers. */
import type { Confirmations } from '../../actors/payments/payment-confirmations.ts'
import type { DocumentCommands, DocumentReads } from '../../actors/documents/document-operations.ts'
import type { DownloadReads } from '../../actors/documents/downloads.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly documents: DocumentReads
    readonly downloads: DownloadReads
    readonly confirmations: Confirmations
  }
  interface Services {
    readonly documents: DocumentReads & DocumentCommands
  }
}

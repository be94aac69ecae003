/** Services of documents for handlers. */
import type { DocumentService, DownloadService } from '../../actors/documents/document-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly documents: DocumentService
    readonly downloads: DownloadService
  }
}

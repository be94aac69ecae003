/** Services of documents, as handlers get them. */
import type { Confirmations } from '../confirmations.ts'
import type { DocumentCommands, DocumentReads } from '../documents.ts'
import type { DownloadReads } from '../downloads.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly documents: DocumentReads
    readonly downloads: DownloadReads
    readonly confirmations: Confirmations
  }
  interface Services {
    readonly documents: DocumentReads & DocumentCommands
  }
}

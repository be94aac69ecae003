/** Documents: files of customers and their attachments, the scans of both, and the links for downloads. */
import type { Scanner } from '../../lib/documents/scan.ts'
import type { Node } from '../runtime/node.ts'
import { createDocuments } from './document-operations.ts'
import type { DocumentDeps } from './stored-documents.ts'
import { documentScans } from './document-scans.ts'
import { createDownloads } from './downloads.ts'
import { fileUpkeep } from './file-upkeep.ts'

/** The nouns that documents need, and the scanner for harmful files. */
export interface DocumentServiceParts {
  readonly scanner: Scanner
  readonly downloads: DownloadService
  readonly transactions: { readonly reads: DocumentDeps['transactions'] }
}

export type DownloadService = ReturnType<typeof createDownloadService>
export type DocumentService = ReturnType<typeof createDocumentService>

/** Creates the links for downloads, which every noun with files gives out. */
export function createDownloadService(node: Node) {
  return {
    reads: createDownloads({
      ...node,
      linkKey: node.secrets.derive('links of downloads', 32),
      origin: () => node.origin(),
    }),
  }
}

/** Creates the service. */
export function createDocumentService(node: Node, { scanner, downloads, transactions }: DocumentServiceParts) {
  return {
    ...createDocuments({ ...node, downloads: downloads.reads, transactions: transactions.reads }),
    tasks: [fileUpkeep(node), documentScans({ ...node, scanner })],
  }
}

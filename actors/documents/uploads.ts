/** Files of a multipart body, read as they arrive. */
import type { ContentType } from '../../lib/documents/document.ts'
import type { StoredFile } from '../../storage/documents/files.ts'

/** Of files whose content nobody looks at before they are kept. */
export const ANY_CONTENT = 'application/octet-stream'

/** What an upload may be. */
export interface UploadTerms {
  readonly maxBytes: number
  /** What the file may be by its content; `any` leaves that to whoever reads it, and an empty file, too. */
  readonly types: readonly ContentType[] | 'any'
  /** The names of the fields beside the file. */
  readonly fields: readonly string[]
}

/** A file on its way in: its name and type are known, its bytes are still arriving. */
export interface ArrivingFile {
  readonly fileName: string
  readonly contentType: ContentType | typeof ANY_CONTENT
  readonly maxBytes: number
  readonly bytes: AsyncIterable<Uint8Array>
}

/** A body that has arrived. */
export interface Uploaded {
  readonly file: StoredFile
  readonly fields: Readonly<Record<string, string>>
}

/** Reads the body of a request, once. */
export type ReadUpload = (terms: UploadTerms, keep: (file: ArrivingFile) => Promise<StoredFile>) => Promise<Uploaded>

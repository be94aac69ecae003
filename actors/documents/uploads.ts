/** Types for the files of a multipart body, which are read as they arrive. */
import type { ContentType } from '../../lib/documents/document.ts'
import type { StoredFile } from '../../storage/documents/files.ts'

/** The content type of files whose content is not checked before they are stored. */
export const ANY_CONTENT = 'application/octet-stream'

/** The terms of an upload. */
export interface UploadTerms {
  readonly maxBytes: number
  /** The accepted content types; `any` accepts every file, also an empty one, and leaves the check to its reader. */
  readonly types: readonly ContentType[] | 'any'
  /** The names of the fields beside the file. */
  readonly fields: readonly string[]
}

/** An arriving file: its name and type are known, its bytes are still to come. */
export interface ArrivingFile {
  readonly fileName: string
  readonly contentType: ContentType | typeof ANY_CONTENT
  readonly maxBytes: number
  readonly bytes: AsyncIterable<Uint8Array>
}

/** A body that was read completely. */
export interface Uploaded {
  readonly file: StoredFile
  readonly fields: Readonly<Record<string, string>>
}

/** Reads the body of a request, once. */
export type ReadUpload = (terms: UploadTerms, keep: (file: ArrivingFile) => Promise<StoredFile>) => Promise<Uploaded>

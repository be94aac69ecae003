/** Uploaded files: accepted types and sizes, statuses, and the form in which the API shows them. */
import { timestamp } from '../base/clock.ts'

/**
 *   pending_scan ──clean──▶ clean
 *        └───infected──▶ infected
 */
export const DOCUMENT_STATUSES = ['pending_scan', 'clean', 'infected', 'rejected', 'deleted'] as const
export type DocumentStatus = (typeof DOCUMENT_STATUSES)[number]

export const PURPOSES = ['kyb', 'mandate', 'payment_support', 'transaction_attachment', 'recipient_support'] as const
export type DocumentPurpose = (typeof PURPOSES)[number]
/** Purposes for which API keys may upload files; all others need a person. */
export const KEY_PURPOSES: ReadonlySet<DocumentPurpose> = new Set(['mandate', 'payment_support', 'recipient_support'])

const MEBIBYTE = 1024 * 1024
/** Most bytes of one file. Company papers (`kyb`) are often scanned and therefore larger. */
export const maxBytesOf = (purpose: DocumentPurpose): number => (purpose === 'kyb' ? 20 : 10) * MEBIBYTE

export const DOCUMENT_TYPES = ['application/pdf', 'image/jpeg', 'image/png', 'image/heic'] as const
const SHEET_TYPES = [
  'text/csv',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
] as const
export const CONTENT_TYPES = [...DOCUMENT_TYPES, ...SHEET_TYPES] as const
export type ContentType = (typeof CONTENT_TYPES)[number]

/** Returns the accepted types of a purpose. */
export function typesOf(purpose: DocumentPurpose): readonly ContentType[] {
  return purpose === 'transaction_attachment' ? CONTENT_TYPES : DOCUMENT_TYPES
}

/** Attachments of one transaction. */
export const ATTACHMENTS_MAX = 10
/** Documents that one payment may reference. */
export const PAYMENT_DOCUMENTS_MAX = 10

/** A document or an attachment as storage returns it. Times are epoch milliseconds. */
export interface DocumentRecord {
  readonly id: string
  readonly customerId: string
  /** Set for an attachment, otherwise null. */
  readonly transactionId: string | null
  /** Set for a document, otherwise null. */
  readonly purpose: DocumentPurpose | null
  readonly fileId: string
  readonly fileName: string
  readonly contentType: string
  readonly sizeBytes: number
  readonly sha256: string
  readonly status: DocumentStatus
  readonly createdBy: string
  readonly createdByName: string
  readonly version: bigint
  readonly createdAt: number
}

const file = ({ fileName, contentType, sizeBytes, sha256, status }: DocumentRecord) => ({
  fileName,
  contentType,
  sizeBytes,
  sha256,
  status,
})

/** Builds the document as the API shows it. */
export function documentJson(record: DocumentRecord) {
  return {
    id: record.id,
    purpose: record.purpose as DocumentPurpose,
    ...file(record),
    createdBy: record.createdBy,
    createdAt: timestamp(record.createdAt),
  }
}

/** Builds the attachment as the API shows it. */
export function attachmentJson(record: DocumentRecord) {
  return {
    id: record.id,
    transactionId: record.transactionId as string,
    ...file(record),
    uploadedBy: { id: record.createdBy, name: record.createdByName },
    createdAt: timestamp(record.createdAt),
  }
}

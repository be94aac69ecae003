/** Uploaded files: documents with a purpose, and attachments of transactions. */
import Type, { type Static } from 'typebox'
import { CONTENT_TYPES, DOCUMENT_STATUSES, PURPOSES } from './document.ts'
import { list } from '../contract/list.ts'
import { Timestamp, Uuid, Words } from '../contract/primitives.ts'

export const DocumentStatus = Words('DocumentStatus', DOCUMENT_STATUSES)
const Sha256 = Type.String({
  pattern: '^[0-9a-f]{64}$',
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
})
const file = {
  fileName: Type.String({ examples: ['invoice-4711.pdf'] }),
  contentType: Type.String({
    description: 'The type found in the content of the file.',
    examples: ['application/pdf'],
  }),
  sizeBytes: Type.Integer({ minimum: 1 }),
  sha256: Sha256,
  status: DocumentStatus,
}

export const Document = Type.Object(
  {
    id: Uuid,
    purpose: Words('DocumentPurpose', PURPOSES),
    ...file,
    createdBy: Uuid,
    createdAt: Timestamp,
  },
  { title: 'Document' },
)
export type Document = Static<typeof Document>

export const Attachment = Type.Object(
  {
    id: Uuid,
    transactionId: Uuid,
    ...file,
    uploadedBy: Type.Object({ id: Uuid, name: Type.String() }),
    createdAt: Timestamp,
  },
  { title: 'Attachment' },
)
export type Attachment = Static<typeof Attachment>

/** The multipart bodies; their parts are read as they arrive. */
export const DocumentUpload = Type.Object(
  { file: Type.String({ format: 'binary' }), purpose: Words('DocumentPurpose', PURPOSES) },
  { title: 'DocumentUpload' },
)
export const AttachmentUpload = Type.Object({ file: Type.String({ format: 'binary' }) }, { title: 'AttachmentUpload' })

export const documentList = list({
  filters: {
    purpose: { kind: 'words', values: PURPOSES },
    status: { kind: 'words', values: DOCUMENT_STATUSES },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'createdAt'],
})
export const attachmentList = list({
  filters: {
    transactionId: { kind: 'ids' },
    balanceId: { kind: 'ids' },
    contentType: { kind: 'words', values: CONTENT_TYPES },
    uploadedBy: { kind: 'ids' },
    status: { kind: 'words', values: DOCUMENT_STATUSES },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt'],
})
export const transactionAttachmentList = list({ filters: {}, sorts: ['createdAt', '-createdAt'] })

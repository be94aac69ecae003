/** Documents of a KYB case as the API shows and takes them. */
import Type, { type Static } from 'typebox'
import { timestamp } from '../base/clock.ts'
import { CalendarDate, Nullable, Timestamp, Uuid, Words } from '../contract/primitives.ts'
import { DocumentStatus } from '../documents/document-schema.ts'
import { KYB_DOCUMENT_TYPES, type KybDocumentRecord } from './kyb-document.ts'

export const DocumentType = Words('KybDocumentType', KYB_DOCUMENT_TYPES)

export const KybDocument = Type.Object(
  {
    id: Uuid,
    type: DocumentType,
    personId: Nullable(Uuid, { description: 'The person whose document it is; null: a document of the customer.' }),
    requirement: Nullable(Type.String(), { description: 'The requirement for which it was uploaded.' }),
    expiresOn: Nullable(CalendarDate),
    fileName: Type.String(),
    contentType: Type.String(),
    sizeBytes: Type.Integer({ minimum: 1 }),
    sha256: Type.String(),
    status: DocumentStatus,
    createdBy: Uuid,
    createdAt: Timestamp,
  },
  { title: 'KybDocument' },
)
export type KybDocument = Static<typeof KybDocument>

/** The multipart body; its parts are read as they arrive. */
export const KybDocumentUpload = Type.Object(
  {
    file: Type.String({ format: 'binary' }),
    type: DocumentType,
    personId: Type.Optional(Uuid),
    requirement: Type.Optional(Type.String({ description: 'The pointer of the requirement that it meets.' })),
    expiresOn: Type.Optional(CalendarDate),
  },
  { title: 'KybDocumentUpload' },
)

/** Builds the document as the API shows it. */
export function kybDocumentJson({ type, personId, requirement, expiresOn, file }: KybDocumentRecord): KybDocument {
  const { id, fileName, contentType, sizeBytes, sha256, status, createdBy, createdAt } = file
  const stored = { fileName, contentType, sizeBytes, sha256, status, createdBy, createdAt: timestamp(createdAt) }
  return { id, type, personId, requirement, expiresOn, ...stored }
}

/** Documents by their type, so that the pointer of a requirement leads to them. */
export const DocumentsByType = Type.Record(Type.String(), Type.Array(KybDocument), {
  description: 'By type, the oldest first.',
})
export type DocumentsByType = Readonly<Record<string, readonly KybDocument[]>>

/** Groups documents by their type. */
export const documentsByType = (documents: readonly KybDocumentRecord[]): Record<string, KybDocument[]> =>
  Object.fromEntries(
    Map.groupBy(documents, ({ type }) => type)
      .entries()
      .map(([type, found]) => [type, found.map(kybDocumentJson)]),
  )

/** The documents of a KYB case. The file of each is a document of the customer with the purpose `kyb`. Pure. */
import type { DocumentRecord } from '../documents/document.ts'

export const KYB_DOCUMENT_TYPES = [
  'kyb_incorporation',
  'kyb_register_extract',
  'kyb_articles',
  'kyb_ownership_chart',
  'kyb_address',
  'kyb_source_of_funds',
  'kyb_licence',
  'kyb_other',
  'kyb_person_id',
  'kyb_proof_of_address',
] as const
export type KybDocumentType = (typeof KYB_DOCUMENT_TYPES)[number]

export const KYB_DOCUMENTS_MAX = 200

/** The facts of a document of the case, beside its file. */
export interface KybDocumentFacts {
  readonly type: KybDocumentType
  /** The person whose document it is; null for one of the customer itself. */
  readonly personId: string | null
  /** The pointer of the requirement for which it was uploaded; null: none was named. */
  readonly requirement: string | null
  /** `YYYY-MM-DD`; null for a document that does not expire. */
  readonly expiresOn: string | null
}

/** A document of a case with its file, under the same id. */
export interface KybDocumentRecord extends KybDocumentFacts {
  readonly file: DocumentRecord
}

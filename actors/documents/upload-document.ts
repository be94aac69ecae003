/** Uploads a document. */
import {
  CONTENT_TYPES,
  DOCUMENT_TYPES,
  KEY_PURPOSES,
  maxBytesOf,
  PURPOSES,
  typesOf,
  type DocumentPurpose,
} from '../../lib/documents/document.ts'
import { refuse, refuseField } from '../../lib/base/problems.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { Document } from '../../lib/documents/document-schema.ts'
import type { ReadUpload } from './uploads.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { runChange } from '../commands/changes.ts'
import { keepUpload, registerFile, shownDocument, type DocumentDeps } from './stored-documents.ts'

/**
 * Stores a document for a purpose.
 *
 * @throws ProblemError `validation-error`, `insufficient-scope`, `payload-too-large`
 */
export async function uploadDocument(deps: DocumentDeps, by: Caller, read: ReadUpload): Promise<Versioned<Document>> {
  // The purpose may follow the file, so the widest terms apply until it is known.
  const {
    file,
    fields: { purpose },
  } = await read(
    { maxBytes: maxBytesOf('kyb'), types: CONTENT_TYPES, fields: ['purpose'] },
    keepUpload(deps, by.tenant.id),
  )
  checkPurpose(purpose, by)
  if (file.sizeBytes > maxBytesOf(purpose))
    refuse('payload-too-large', `The file may have at most ${maxBytesOf(purpose)} bytes.`, {
      extra: { maxBytes: maxBytesOf(purpose) },
    })
  if (!(typesOf(purpose) as readonly string[]).includes(file.contentType))
    refuseField('/file', 'invalid_type', `A file for ${purpose} must be one of ${DOCUMENT_TYPES.join(', ')}.`)
  return shownDocument(await runChange(deps, (tx) => registerFile(tx, by, file, { transactionId: null, purpose })))
}

/** Checks the purpose of a document. @throws ProblemError `validation-error`, `insufficient-scope` */
function checkPurpose(purpose: string | undefined, { principal }: Caller): asserts purpose is DocumentPurpose {
  if (purpose === undefined) refuseField('/purpose', 'required', 'Is required.')
  if (!(PURPOSES as readonly string[]).includes(purpose))
    refuseField('/purpose', 'invalid_value', `Must be one of ${PURPOSES.join(', ')}.`)
  if (principal.kind === 'key' && !KEY_PURPOSES.has(purpose as DocumentPurpose)) {
    refuse('insufficient-scope', `Keys upload documents for ${[...KEY_PURPOSES].join(', ')} alone.`)
  }
}

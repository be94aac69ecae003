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
import type { ReadUpload, Uploaded } from './uploads.ts'
import type { CommandAnswer } from '../../lib/commands/command.ts'
import { withUpload } from '../../lib/commands/idempotency.ts'
import { decideOnce, isRecorded } from '../commands/run-once.ts'
import { keepUpload, registerFile, shownDocument, type DocumentDeps, type Uploading } from './stored-documents.ts'

/**
 * Stores a document for a purpose.
 *
 * @throws ProblemError `validation-error`, `insufficient-scope`, `payload-too-large`, and what `decideOnce` throws
 */
export async function uploadDocument(
  deps: DocumentDeps,
  by: Caller,
  command: Uploading,
  read: ReadUpload,
): Promise<CommandAnswer<Document, 201>> {
  // The purpose may follow the file, so the widest terms apply until it is known.
  const form = await read(
    { maxBytes: maxBytesOf('kyb'), types: CONTENT_TYPES, fields: ['purpose'] },
    keepUpload(deps, by.tenant.id),
  )
  const uploaded = withUpload(command, form)
  if (!(await isRecorded(deps, uploaded))) checkForm(form, by)
  return await decideOnce(deps, uploaded, 201, async (client) => {
    const tx = { client, ids: deps.ids, now: deps.clock.now() }
    const document = await registerFile(tx, by, form.file, {
      customerId: by.tenant.id,
      transactionId: null,
      purpose: checkForm(form, by),
    })
    return { shown: shownDocument(document), made: { type: 'document', id: document.id } }
  })
}

/**
 * Checks that a file fits its purpose. Returns the purpose.
 *
 * @throws ProblemError `validation-error`, `insufficient-scope`, `payload-too-large`
 */
function checkForm({ file, fields: { purpose } }: Uploaded, by: Caller): DocumentPurpose {
  checkPurpose(purpose, by)
  if (file.sizeBytes > maxBytesOf(purpose))
    refuse('payload-too-large', `The file may have at most ${maxBytesOf(purpose)} bytes.`, {
      extra: { maxBytes: maxBytesOf(purpose) },
    })
  if (!(typesOf(purpose) as readonly string[]).includes(file.contentType))
    refuseField('/file', 'invalid_type', `A file for ${purpose} must be one of ${DOCUMENT_TYPES.join(', ')}.`)
  return purpose
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

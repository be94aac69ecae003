/** Uploads and deletes the documents of a case. The files are in the document store, where they are scanned. */
import { timestamp } from '../../lib/base/clock.ts'
import { isUuid } from '../../lib/base/ids.ts'
import { refuse, refuseField, refuseNotFound } from '../../lib/base/problems.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { dayStart } from '../../lib/contract/formats.ts'
import { DOCUMENT_TYPES, maxBytesOf } from '../../lib/documents/document.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { kybDocumentJson, type KybDocument } from '../../lib/onboarding/kyb-document-schema.ts'
import {
  KYB_DOCUMENT_TYPES,
  KYB_DOCUMENTS_MAX,
  type KybDocumentFacts,
  type KybDocumentRecord,
  type KybDocumentType,
} from '../../lib/onboarding/kyb-document.ts'
import { requirementsOf } from '../../lib/onboarding/requirements.ts'
import { deleteUses, insertUses, isUsed } from '../../storage/documents/documents.ts'
import { deleteKybDocument, insertKybDocument, listKybDocuments } from '../../storage/onboarding/kyb-documents.ts'
import { changePerson } from '../../storage/onboarding/kyb-persons.ts'
import { recordChange, type ChangeTransaction } from '../commands/changes.ts'
import { auditCaller } from '../commands/trail.ts'
import { keepUpload, lockFile, registerFile, removeFile } from '../documents/stored-documents.ts'
import type { ReadUpload, Uploaded } from '../documents/uploads.ts'
import { readWholeCase, type WholeCase } from './case-facts.ts'
import type { OnboardingDeps } from './onboarding-deps.ts'
import { writeCase } from './write-case.ts'

const FIELDS = ['type', 'personId', 'requirement', 'expiresOn'] as const

/** Builds the view of a document. Its version is that of its file. */
export const shownKybDocument = (record: KybDocumentRecord): Versioned<KybDocument> => ({
  version: record.file.version,
  view: kybDocumentJson(record),
})

/**
 * Stores a document of a case. A person whose verification is to be repeated is a draft again.
 *
 * @throws ProblemError `not-found`, `invalid-transition`, `limit-reached`, `validation-error`, `payload-too-large`
 */
export async function uploadKybDocument(
  deps: OnboardingDeps,
  by: Caller<'person'>,
  customerId: string,
  read: ReadUpload,
): Promise<Versioned<KybDocument>> {
  const form = await read(
    { maxBytes: maxBytesOf('kyb'), types: DOCUMENT_TYPES, fields: FIELDS },
    keepUpload(deps, customerId),
  )
  const { result: id, after } = await writeCase(deps, by, customerId, { renewal: true }, async (tx) => {
    const { client, now } = tx
    const found = (await readWholeCase(client, customerId)) ?? refuseNotFound()
    if (found.documents.length >= KYB_DOCUMENTS_MAX)
      refuse('limit-reached', `A case has at most ${KYB_DOCUMENTS_MAX} documents.`, {
        extra: { limit: KYB_DOCUMENTS_MAX, resource: 'kyb_document' },
      })
    const facts = factsOf(form.fields, found, now)
    const file = await registerFile(tx, by, form.file, { customerId, transactionId: null, purpose: 'kyb' })
    await insertKybDocument(client, { ...facts, id: file.id, customerId, createdAt: now })
    await insertUses(client, { object: 'kyb_case', objectId: found.record.id }, [file.id])
    const person = found.persons.find(({ id }) => id === facts.personId)
    if (person?.status === 'retry') await changePerson(client, person, { status: 'draft', updatedAt: now })
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'kyb_document.uploaded',
      object: { type: 'kyb_document', id: file.id },
      before: null,
      after: facts,
    })
    return file.id
  })
  return shownKybDocument(after.documents.find(({ file }) => file.id === id) ?? refuseNotFound())
}

/**
 * Deletes a document of a case that is not decided yet.
 *
 * @throws ProblemError `not-found`, `invalid-transition`
 */
export async function removeKybDocument(
  deps: OnboardingDeps,
  by: Caller<'person'>,
  customerId: string,
  id: string,
): Promise<void> {
  await writeCase(deps, by, customerId, { renewal: false }, async (tx) => {
    const documents = await listKybDocuments(tx.client, customerId)
    await dropDocument(tx, by, customerId, documents.find(({ file }) => file.id === id) ?? refuseNotFound())
  })
}

/** Deletes a document of a locked case, and its file unless another resource refers to it. */
export async function dropDocument(
  tx: ChangeTransaction,
  by: Caller<'person'>,
  customerId: string,
  { type, personId, requirement, expiresOn, file }: KybDocumentRecord,
): Promise<void> {
  const { client } = tx
  const { id } = file
  await deleteKybDocument(client, customerId, id)
  const stored = await lockFile(tx, customerId, 'document', id, null)
  await deleteUses(client, id, { object: 'kyb_case' })
  if (!(await isUsed(client, id))) await removeFile(tx, by, stored)
  await recordChange(tx, auditCaller(by), customerId, {
    action: 'kyb_document.deleted',
    object: { type: 'kyb_document', id },
    before: { type, personId, requirement, expiresOn },
    after: null,
  })
}

/** Checks the fields of a form. @throws ProblemError `validation-error` */
function factsOf(fields: Uploaded['fields'], found: WholeCase, now: number): KybDocumentFacts {
  const { type, requirement = null, expiresOn = null } = fields
  const personId = fields['personId']?.toLowerCase() ?? null
  if (type === undefined) refuseField('/type', 'required', 'Is required.')
  if (!(KYB_DOCUMENT_TYPES as readonly string[]).includes(type))
    refuseField('/type', 'invalid_value', `Must be one of ${KYB_DOCUMENT_TYPES.join(', ')}.`)
  if (personId !== null && !isUuid(personId)) refuseField('/personId', 'invalid_format', 'Must be a UUID.')
  if (personId !== null && !found.persons.some(({ id }) => id === personId))
    refuseField('/personId', 'not_found', 'The case has no such person.')
  if (expiresOn !== null && Number.isNaN(dayStart(expiresOn)))
    refuseField('/expiresOn', 'invalid_format', 'Must be a date, YYYY-MM-DD.')
  if (expiresOn !== null && expiresOn <= timestamp(now).slice(0, 10))
    refuseField('/expiresOn', 'in_past', 'The document has expired.')
  const own = `${personId === null ? '' : `/persons/${personId}`}/documents/${type}`
  if (requirement !== null && requirement !== own && !pointersOf(found, now).has(requirement))
    refuseField('/requirement', 'not_found', `The case has no such requirement; this document is one for ${own}.`)
  return { type: type as KybDocumentType, personId, requirement, expiresOn }
}

/** The pointers of all requirements of a case. */
function pointersOf(found: WholeCase, now: number): ReadonlySet<string> {
  const { currentlyDue, eventuallyDue, pastDue, pendingVerification } = requirementsOf(found, now)
  return new Set([...currentlyDue, ...eventuallyDue, ...pastDue, ...pendingVerification].map(({ pointer }) => pointer))
}

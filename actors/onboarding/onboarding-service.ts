/** Onboarding: the KYB cases of customers, as customers and staff fill them in. */
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { DownloadLink } from '../../lib/contract/download-link.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { KybCase, KybCaseUpdate } from '../../lib/onboarding/kyb-case-schema.ts'
import { kybPersonsJson } from '../../lib/onboarding/kyb-case-view.ts'
import { kybDocumentJson, type KybDocument } from '../../lib/onboarding/kyb-document-schema.ts'
import type { KybPerson, KybPersonCreate, KybPersonUpdate } from '../../lib/onboarding/kyb-person-schema.ts'
import { listKybDocuments } from '../../storage/onboarding/kyb-documents.ts'
import type { DownloadService } from '../documents/document-service.ts'
import { linkToFile } from '../documents/stored-documents.ts'
import type { ReadUpload } from '../documents/uploads.ts'
import type { Node } from '../runtime/node.ts'
import { removeKybDocument, shownKybDocument, uploadKybDocument } from './case-documents.ts'
import { readerOf, readWholeCase, shownCase } from './case-facts.ts'
import { updateCase } from './change-case.ts'
import { createPerson, removePerson, shownPerson, updatePerson } from './change-person.ts'
import type { OnboardingDeps } from './onboarding-deps.ts'
import { requirementChecks } from './requirement-checks.ts'
import { submitCase, withdrawCase } from './submit-case.ts'

/** The nouns that onboarding needs. */
export interface OnboardingServiceParts {
  readonly customers: {
    readonly announce: OnboardingDeps['announce']
    readonly reads: { reaches(tenant: Tenant, customerId: string): Promise<boolean> }
  }
  readonly downloads: DownloadService
  readonly askReviews: OnboardingDeps['askReviews']
}

/** The caller of a read, as far as it decides what is shown. */
type Reader = Pick<Caller, 'principal' | 'tenant'>
type Expected = number | bigint | null

/** The reads. Null: the tenant does not reach the customer, or there is no such thing in its case. */
export interface OnboardingReads {
  getCase(by: Reader, customerId: string): Promise<Versioned<KybCase> | null>
  listPersons(by: Reader, customerId: string): Promise<readonly KybPerson[] | null>
  getPerson(by: Reader, customerId: string, id: string): Promise<Versioned<KybPerson> | null>
  listDocuments(by: Reader, customerId: string): Promise<readonly KybDocument[] | null>
  getDocument(by: Reader, customerId: string, id: string): Promise<Versioned<KybDocument> | null>
  /** Creates a link to a file that was found clean. @throws ProblemError `document-not-ready`, `document-not-clean` */
  downloadDocument(by: Reader, customerId: string, id: string): Promise<DownloadLink | null>
}

/** The writes, for a customer that the caller reaches. Every refusal is thrown as a problem. */
export interface OnboardingCommands {
  updateCase(
    by: Caller<'person'>,
    customerId: string,
    body: KybCaseUpdate,
    expected: Expected,
  ): Promise<Versioned<KybCase>>
  submitCase(by: Caller<'person'>, customerId: string): Promise<Versioned<KybCase>>
  withdrawCase(by: Caller<'person'>, customerId: string): Promise<Versioned<KybCase>>
  createPerson(by: Caller<'person'>, customerId: string, body: KybPersonCreate): Promise<Versioned<KybPerson>>
  updatePerson(
    by: Caller<'person'>,
    customerId: string,
    id: string,
    body: KybPersonUpdate,
    expected: Expected,
  ): Promise<Versioned<KybPerson>>
  removePerson(by: Caller<'person'>, customerId: string, id: string, expected: Expected): Promise<void>
  uploadDocument(by: Caller<'person'>, customerId: string, read: ReadUpload): Promise<Versioned<KybDocument>>
  removeDocument(by: Caller<'person'>, customerId: string, id: string): Promise<void>
}

export type OnboardingService = ReturnType<typeof createOnboardingService>

/** Creates the service. */
export function createOnboardingService(node: Node, parts: OnboardingServiceParts) {
  const { customers, downloads, askReviews } = parts
  const deps: OnboardingDeps = { ...node, announce: customers.announce, downloads: downloads.reads, askReviews }
  const reads: OnboardingReads = createReads(node, parts)
  const commands: OnboardingCommands = {
    updateCase: (by, customerId, body, expected) => updateCase(deps, by, customerId, body, expected),
    submitCase: (by, customerId) => submitCase(deps, by, customerId),
    withdrawCase: (by, customerId) => withdrawCase(deps, by, customerId),
    createPerson: (by, customerId, body) => createPerson(deps, by, customerId, body),
    updatePerson: (by, customerId, id, body, expected) => updatePerson(deps, by, customerId, id, body, expected),
    removePerson: (by, customerId, id, expected) => removePerson(deps, by, customerId, id, expected),
    uploadDocument: (by, customerId, read) => uploadKybDocument(deps, by, customerId, read),
    removeDocument: (by, customerId, id) => removeKybDocument(deps, by, customerId, id),
  }
  return { reads, commands, tasks: [requirementChecks(deps)] }
}

function createReads(
  { database, clock }: Pick<Node, 'database' | 'clock'>,
  { customers, downloads }: OnboardingServiceParts,
): OnboardingReads {
  const { pool } = database
  /** Reads what a caller asks of a customer that it reaches. */
  const reached = async <Found>(by: Reader, customerId: string, read: () => Promise<Found>): Promise<Found | null> =>
    (await customers.reads.reaches(by.tenant, customerId)) ? await read() : null
  const documentOf = (by: Reader, customerId: string, id: string) =>
    reached(
      by,
      customerId,
      async () => (await listKybDocuments(pool, customerId)).find(({ file }) => file.id === id) ?? null,
    )
  const wholeCase = (by: Reader, customerId: string) => reached(by, customerId, () => readWholeCase(pool, customerId))
  return {
    async getCase(by, customerId) {
      const found = await wholeCase(by, customerId)
      return found === null ? null : shownCase(found, clock.now(), readerOf(by))
    },
    async listPersons(by, customerId) {
      const found = await wholeCase(by, customerId)
      return found === null ? null : kybPersonsJson(found, readerOf(by))
    },
    async getPerson(by, customerId, id) {
      const found = await wholeCase(by, customerId)
      return found === null ? null : shownPerson(found, by, id)
    },
    async listDocuments(by, customerId) {
      const found = await reached(by, customerId, () => listKybDocuments(pool, customerId))
      return found === null ? null : found.map(kybDocumentJson)
    },
    async getDocument(by, customerId, id) {
      const found = await documentOf(by, customerId, id)
      return found === null ? null : shownKybDocument(found)
    },
    async downloadDocument(by, customerId, id) {
      const found = await documentOf(by, customerId, id)
      return found === null ? null : linkToFile(downloads.reads, found.file)
    },
  }
}

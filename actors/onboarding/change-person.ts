/** Adds, changes and removes the people and companies of a case. */
import { refuse, refuseField, refuseNotFound, type FieldError } from '../../lib/base/problems.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { checkVersion } from '../../lib/commands/etag.ts'
import { completeAddress } from '../../lib/contract/address.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { kybPersonsJson } from '../../lib/onboarding/kyb-case-view.ts'
import {
  KYB_PERSONS_MAX,
  NO_DETAILS,
  type KybPersonDetails,
  type KybPersonKind,
  type KybPersonRecord,
} from '../../lib/onboarding/kyb-person.ts'
import type { KybPerson, KybPersonCreate, KybPersonUpdate } from '../../lib/onboarding/kyb-person-schema.ts'
import { identityDiffers } from '../../lib/onboarding/identity-facts.ts'
import { ownershipFaults } from '../../lib/onboarding/ownership.ts'
import { listKybDocuments } from '../../storage/onboarding/kyb-documents.ts'
import { changePerson, deletePerson, insertPerson, listPersons } from '../../storage/onboarding/kyb-persons.ts'
import { recordChange } from '../commands/changes.ts'
import { auditCaller } from '../commands/trail.ts'
import { readerOf, type WholeCase } from './case-facts.ts'
import { dropDocument } from './case-documents.ts'
import type { OnboardingDeps } from './onboarding-deps.ts'
import { renewReview } from './renew-review.ts'
import { countryFaults, futureFaults, writeCase } from './write-case.ts'

/** The fields of one kind that the other does not have. */
const OF_KIND: Readonly<Record<KybPersonKind, readonly (keyof KybPersonUpdate)[]>> = {
  person: ['firstName', 'lastName', 'dateOfBirth', 'nationality', 'email'],
  company: ['legalName', 'registrationNumber', 'incorporationCountry', 'ownedBy'],
}

/** Builds the view of one person of a case. */
export function shownPerson(found: WholeCase, by: Pick<Caller, 'principal'>, id: string): Versioned<KybPerson> | null {
  const index = found.persons.findIndex((person) => person.id === id)
  if (index < 0) return null
  return { version: found.persons[index]!.version, view: kybPersonsJson(found, readerOf(by))[index]! }
}

/**
 * Adds a person or a company.
 *
 * @throws ProblemError `not-found`, `invalid-transition`, `limit-reached`, `validation-error`
 */
export async function createPerson(
  deps: OnboardingDeps,
  by: Caller<'person'>,
  customerId: string,
  { kind = 'person', ...body }: KybPersonCreate,
): Promise<Versioned<KybPerson>> {
  const id = deps.ids.next()
  const { after } = await writeCase(deps, by, customerId, { renewal: false }, async (tx) => {
    const { client, now } = tx
    const others = await listPersons(client, customerId)
    if (others.length >= KYB_PERSONS_MAX)
      refuse('limit-reached', `A case has at most ${KYB_PERSONS_MAX} people and companies.`, {
        extra: { limit: KYB_PERSONS_MAX, resource: 'kyb_person' },
      })
    const person: KybPersonRecord = {
      id,
      customerId,
      kind,
      roles: [],
      ownershipPercent: null,
      ownedBy: null,
      nominee: false,
      status: 'draft',
      applicantId: null,
      rejectLabels: [],
      version: 1n,
      createdAt: now,
      updatedAt: now,
      ...membersOf(NO_DETAILS, body),
    }
    checkPerson(person, body, others, now)
    await insertPerson(client, person)
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'kyb_person.created',
      object: { type: 'kyb_person', id },
      before: null,
      after: { kind, changed: Object.keys(body) },
    })
  })
  return shownPerson(after, by, id) ?? refuseNotFound()
}

/**
 * Changes a person or a company; members that are absent stay, null clears a field. One whose identity changes, or whose
 * verification is to be repeated, is a draft again.
 *
 * @throws ProblemError `not-found`, `invalid-transition`, `precondition-failed`, `validation-error`
 */
export async function updatePerson(
  deps: OnboardingDeps,
  by: Caller<'person'>,
  customerId: string,
  id: string,
  body: KybPersonUpdate,
  expected: number | bigint | null,
): Promise<Versioned<KybPerson>> {
  const { after } = await writeCase(deps, by, customerId, { renewal: false }, async (tx) => {
    const { client, now } = tx
    const persons = await listPersons(client, customerId)
    const before = persons.find((person) => person.id === id) ?? refuseNotFound()
    checkVersion({ version: before.version }, expected)
    const members = membersOf(before.details, body)
    const isAnother = identityDiffers(before.details, members.details)
    const status = isAnother || before.status === 'retry' ? ('draft' as const) : before.status
    const change = { ...members, status, updatedAt: now }
    checkPerson(
      { ...before, ...change },
      body,
      persons.filter((person) => person.id !== id),
      now,
    )
    await changePerson(client, before, change)
    if (isAnother) await renewReview(tx, customerId, id)
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'kyb_person.updated',
      object: { type: 'kyb_person', id },
      before: null,
      after: { changed: Object.keys(body) },
    })
  })
  return shownPerson(after, by, id) ?? refuseNotFound()
}

/**
 * Removes a person or a company with its documents. One that owns a company of the case stays until that company has
 * other owners.
 *
 * @throws ProblemError `not-found`, `invalid-transition`, `precondition-failed`, `validation-error`
 */
export async function removePerson(
  deps: OnboardingDeps,
  by: Caller<'person'>,
  customerId: string,
  id: string,
  expected: number | bigint | null,
): Promise<void> {
  await writeCase(deps, by, customerId, { renewal: false }, async (tx) => {
    const persons = await listPersons(tx.client, customerId)
    const person = persons.find((each) => each.id === id) ?? refuseNotFound()
    checkVersion({ version: person.version }, expected)
    const owned = persons.find(({ ownedBy }) => ownedBy?.some(({ ownerId }) => ownerId === id))
    if (owned !== undefined)
      refuseField('path.personId', 'invalid_value', `Owns ${owned.id}; change the owners of that company first.`)
    for (const document of await listKybDocuments(tx.client, customerId))
      if (document.personId === id) await dropDocument(tx, by, customerId, document)
    await deletePerson(tx.client, person)
    const { kind, roles } = person
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'kyb_person.deleted',
      object: { type: 'kyb_person', id },
      before: { kind, roles },
      after: null,
    })
  })
}

/** Merges a body into a person. */
function membersOf(
  details: KybPersonDetails,
  { roles, ownershipPercent, ownedBy, nominee, address, ...told }: KybPersonUpdate,
): Partial<KybPersonRecord> & Pick<KybPersonRecord, 'details'> {
  return {
    details: {
      ...details,
      ...told,
      ...(address === undefined ? {} : { address: address === null ? null : completeAddress(address) }),
    },
    ...(roles === undefined ? {} : { roles }),
    ...(ownershipPercent === undefined ? {} : { ownershipPercent }),
    ...(ownedBy === undefined ? {} : { ownedBy }),
    ...(nominee === undefined ? {} : { nominee }),
  }
}

/** @throws ProblemError `validation-error` that names every fault */
function checkPerson(
  person: KybPersonRecord,
  body: KybPersonUpdate,
  others: readonly KybPersonRecord[],
  now: number,
): void {
  const { kind, id } = person
  const other = kind === 'person' ? 'company' : 'person'
  const errors: FieldError[] = [
    ...OF_KIND[other]
      .filter((name) => body[name] != null)
      .map((name): FieldError => ({ field: `/${name}`, code: 'not_applicable', message: `Is a field of a ${other}.` })),
    ...countryFaults({
      '/nationality': body.nationality,
      '/incorporationCountry': body.incorporationCountry,
      '/address/country': body.address?.country,
    }),
    ...futureFaults({ '/dateOfBirth': body.dateOfBirth }, now),
    ...ownershipFaults([...others, person], id),
  ]
  if (errors.length > 0) refuse('validation-error', errors[0]!.message, { errors })
}

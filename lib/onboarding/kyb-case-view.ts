/** A case and its persons as the API shows them. Pure. */
import { timestamp } from '../base/clock.ts'
import type { CustomerAddress } from '../customers/customer-address-schema.ts'
import { moneyProblem, type MoneyUse } from '../customers/money-access.ts'
import { CUSTOMER_CAPABILITIES, type CapabilityProblem, type CustomerCapability } from './case-words.ts'
import type { CaseCustomer } from './kyb-case.ts'
import type { KybCase } from './kyb-case-schema.ts'
import { documentsByType } from './kyb-document-schema.ts'
import type { KybDocumentRecord } from './kyb-document.ts'
import type { KybPerson } from './kyb-person-schema.ts'
import type { KybPersonRecord } from './kyb-person.ts'
import { percentOf, sharesOf, type Share } from './ownership.ts'
import type { KybRequirements } from './requirement.ts'
import { type CaseFacts, isBeneficialOwner, requirementsOf, stepsOf } from './requirements.ts'

/** The use of money that each capability stands for; null: money comes in whatever the standing of the customer. */
const USES: Readonly<Record<CustomerCapability, MoneyUse | null>> = {
  receive: null,
  send: 'pay',
  exchange: 'move',
  directDebits: 'pay',
  cards: 'pay',
}

/** Computes whether a customer may use a capability, and what stands in the way. */
function capabilityState(
  capability: CustomerCapability,
  requested: boolean,
  { status, measure }: CaseCustomer,
  { pastDue }: KybRequirements,
): KybCase['capabilities'][number] {
  const problems: CapabilityProblem[] = []
  const use = USES[capability]
  if (status !== 'active' && status !== 'closing') problems.push('not_approved')
  else if (use !== null) {
    if (measure !== null && moneyProblem({ customerStatus: 'active', customerMeasure: measure }, use) !== null)
      problems.push(measure === 'suspended' ? 'customer_suspended' : 'customer_restricted')
    if (pastDue.length > 0) problems.push('requirements_past_due')
  }
  return { capability, requested, allowed: requested && problems.length === 0, problems: requested ? problems : [] }
}

/** The reader of a case. Reviewers of the operator see the details of results, which customers never do. */
export interface CaseReader {
  readonly reviewer: boolean
}

/** Builds a person or company as the API shows it, with its documents. */
export function kybPersonJson(
  { id, kind, roles, details, status, createdAt, updatedAt, ...person }: KybPersonRecord,
  share: Share,
  documents: readonly KybDocumentRecord[],
  { reviewer }: CaseReader,
): KybPerson {
  const { firstName, lastName, dateOfBirth, nationality, email, address } = details
  const { legalName, registrationNumber, incorporationCountry } = details
  return {
    id,
    kind,
    roles: [...roles],
    ...{ firstName, lastName, dateOfBirth, nationality, email },
    ...{ legalName, registrationNumber, incorporationCountry, address },
    ownershipPercent: person.ownershipPercent,
    ownedBy: person.ownedBy === null ? null : person.ownedBy.map((owner) => ({ ...owner })),
    effectivePercent: percentOf(share),
    beneficialOwner: isBeneficialOwner({ kind, roles }, share),
    nominee: person.nominee,
    status,
    applicantId: person.applicantId,
    rejectLabels: reviewer ? [...person.rejectLabels] : null,
    documents: documentsByType(documents.filter(({ personId }) => personId === id)),
    createdAt: timestamp(createdAt),
    updatedAt: timestamp(updatedAt),
  }
}

/** Builds all persons of a case as the API shows them, the oldest first. */
export function kybPersonsJson(
  { persons, documents }: Pick<CaseFacts, 'persons' | 'documents'>,
  reader: CaseReader,
): KybPerson[] {
  const shares = sharesOf(persons)
  return persons.map((person) => kybPersonJson(person, shares.get(person.id)!, documents, reader))
}

const at = (time: number | null): string | null => (time === null ? null : timestamp(time))

/** Builds a case as the API shows it at a time in epoch milliseconds. */
export function kybCaseJson(
  facts: CaseFacts & { readonly addresses: readonly CustomerAddress[] },
  now: number,
  reader: CaseReader,
): KybCase {
  const { record, customer, documents, addresses } = facts
  const requirements = requirementsOf(facts, now)
  const { terms, result, attestations } = record
  return {
    id: record.id,
    customerId: record.customerId,
    status: record.status,
    mode: record.mode,
    provider: record.provider,
    applicantId: record.applicantId,
    customerType: customer.customerType,
    company: record.company,
    personal: record.personal,
    expectedActivity: record.expectedActivity,
    attestations: {
      allDirectors: at(attestations.allDirectors?.at ?? null),
      allOwners: at(attestations.allOwners?.at ?? null),
    },
    terms:
      terms === null
        ? null
        : {
            version: terms.version,
            acceptedAt: timestamp(terms.at),
            acceptedBy: terms.by,
            address: terms.address,
          },
    capabilities: CUSTOMER_CAPABILITIES.map((capability) =>
      capabilityState(capability, record.capabilities.includes(capability), customer, requirements),
    ),
    addresses: [...addresses],
    persons: Object.fromEntries(kybPersonsJson(facts, reader).map((person) => [person.id, person])),
    documents: documentsByType(documents.filter(({ personId }) => personId === null)),
    steps: stepsOf(facts, now),
    requirements: requirementsJson(requirements),
    infoRequested: record.infoRequested.map(({ requestedAt, resolvedAt, ...request }) => ({
      ...request,
      requestedAt: timestamp(requestedAt),
      resolvedAt: at(resolvedAt),
    })),
    result: result === null ? null : resultJson(result, reader),
    nextReviewAt: at(record.nextReviewAt),
    submittedAt: at(record.submittedAt),
    reviewedAt: at(record.reviewedAt),
    createdAt: timestamp(record.createdAt),
    updatedAt: timestamp(record.updatedAt),
  }
}

function requirementsJson({ deadline, errors, ...requirements }: KybRequirements): KybCase['requirements'] {
  return {
    currentlyDue: [...requirements.currentlyDue],
    eventuallyDue: [...requirements.eventuallyDue],
    pastDue: [...requirements.pastDue],
    pendingVerification: [...requirements.pendingVerification],
    errors: [...errors],
    deadline: at(deadline),
    awaitingActionFrom: requirements.awaitingActionFrom,
  }
}

function resultJson(
  { reviewAnswer, screening, ...details }: NonNullable<CaseFacts['record']['result']>,
  { reviewer }: CaseReader,
): NonNullable<KybCase['result']> {
  const { rejectLabels, rejectType, moderationComment } = details
  return {
    reviewAnswer,
    screeningHits: screening.length,
    details: reviewer
      ? {
          rejectLabels: [...rejectLabels],
          rejectType,
          screening: screening.map((hit) => ({ ...hit })),
          moderationComment,
        }
      : null,
  }
}

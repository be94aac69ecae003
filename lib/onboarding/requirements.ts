/**
 * What a case still needs, as one pure function of the country, the type, the capabilities and the risk of the customer
 * and of what the case has. Before the approval everything that is missing is due. The approval settles what was due;
 * after it, documents that expire and the periodic review fall due again.
 */
import { DAY_MS, timestamp } from '../base/clock.ts'
import type { KybSteps } from './kyb-case-schema.ts'
import type { KybDocumentRecord, KybDocumentType } from './kyb-document.ts'
import type { KybPersonRecord } from './kyb-person.ts'
import { hiddenShares, isAtLeast, sharesOf, type Share } from './ownership.ts'
import type { Awaited, DueAgain, Requirement, RequirementReason, KybRequirements } from './requirement.ts'
import {
  DOCUMENT_RULES,
  FIELD_RULES,
  PERSON_FIELDS,
  personDocuments,
  rulesOf,
  type RuleFacts,
} from './requirement-rules.ts'

/** The time before its day at which a requirement that falls due again is asked for. */
export const RENEWAL_LEAD_MS = 30 * DAY_MS
/** From this share on, a person is a beneficial owner. */
const BENEFICIAL_PERCENT = 25n

/** A case with everything on which its requirements depend. */
export interface CaseFacts extends RuleFacts {
  /** The oldest first. */
  readonly persons: readonly KybPersonRecord[]
  /** The oldest first. */
  readonly documents: readonly KybDocumentRecord[]
  /** Whether the customer has a registered address. */
  readonly registeredAddress: boolean
}

/** A requirement on its way into the lists. `dueAt` is the time at which it becomes past due, epoch milliseconds. */
interface Finding extends Requirement {
  readonly step: keyof KybSteps
  readonly dueAt: number | null
  readonly pending?: true
}

const dayStart = (day: string): number => Date.parse(`${day}T00:00:00.000Z`)

/** Whether a person with this share is a beneficial owner. */
export const isBeneficialOwner = (
  { kind, roles }: Pick<KybPersonRecord, 'kind' | 'roles'>,
  share: Share | undefined,
): boolean =>
  kind === 'person' && (roles.includes('ubo') || (share !== undefined && isAtLeast(share, BENEFICIAL_PERCENT)))

const missing = (
  step: keyof KybSteps,
  pointer: string,
  kind: Requirement['kind'],
  more: Partial<Finding> = {},
): Finding => ({ step, pointer, kind, personId: null, documentType: null, reason: 'missing', dueAt: null, ...more })

const isGiven = (value: unknown): boolean =>
  value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0)

/** Reads the value at `/member/name` of a case. */
function valueAt(record: CaseFacts['record'], pointer: string): unknown {
  const [, member, name] = pointer.split('/') as [string, 'company' | 'personal' | 'expectedActivity', string]
  return (record[member] as Readonly<Record<string, unknown>> | null)?.[name]
}

/**
 * Finds what a document of a type lacks, of the customer or of one person. A clean document that does not expire lacks
 * nothing; one that expires is asked for again in time.
 */
function documentFindings(
  { documents }: CaseFacts,
  now: number,
  { type, personId, pointer }: { type: KybDocumentType; personId: string | null; pointer: string },
): Finding[] {
  const base = missing('documents', pointer, 'document', { personId, documentType: type })
  const own = documents.filter((document) => document.type === type && document.personId === personId)
  const clean = own.filter(({ file }) => file.status === 'clean')
  const pending = own.some(({ file }) => file.status === 'pending_scan') ? [{ ...base, pending: true as const }] : []
  const ends = clean.map(({ expiresOn }) => (expiresOn === null ? Number.POSITIVE_INFINITY : dayStart(expiresOn)))
  const last = Math.max(...ends)
  if (last === Number.POSITIVE_INFINITY) return pending
  if (clean.length > 0 && last > now)
    return pending.length > 0 ? pending : [{ ...base, reason: 'expires', dueAt: last }]
  if (pending.length > 0) return pending
  if (clean.length > 0) return [{ ...base, reason: 'expired', dueAt: last }]
  return [own.length > 0 ? { ...base, reason: 'not_clean' } : base]
}

/** Finds what the people and companies of a business lack. */
function personFindings(facts: CaseFacts, now: number): Finding[] {
  const shares = sharesOf(facts.persons)
  return facts.persons.flatMap((person): Finding[] => {
    const { id, kind, details, status, roles } = person
    const at = `/persons/${id}`
    const share = shares.get(id)
    const beneficial = isBeneficialOwner(person, share)
    const counts = beneficial || roles.length > 0 || kind === 'company' || (share?.part ?? 0n) > 0n
    if (!counts) return []
    const found = PERSON_FIELDS[kind]
      .filter((name) => !isGiven(details[name]))
      .map((name) => missing('ownership', `${at}/${name}`, 'field', { personId: id }))
    if (status === 'retry')
      found.push(missing('ownership', at, 'person', { personId: id, reason: 'verification_failed' }))
    if (status === 'pending') found.push(missing('ownership', at, 'person', { personId: id, pending: true }))
    if (kind === 'company' || (!beneficial && roles.length === 0)) return found
    const types = personDocuments(facts, beneficial)
    return [
      ...found,
      ...types.flatMap((type) =>
        documentFindings(facts, now, { type, personId: id, pointer: `${at}/documents/${type}` }),
      ),
    ]
  })
}

/** Finds which people and companies of a business are not named at all. */
function unnamedFindings({ persons }: CaseFacts): Finding[] {
  const found: Finding[] = []
  if (!persons.some(({ roles }) => roles.includes('director'))) found.push(missing('ownership', '/persons', 'person'))
  const shares = sharesOf(persons)
  const hidden = hiddenShares(persons)
  // A controller stands in for owners where no person owns as much as a quarter.
  const controlled = persons.some(({ kind, roles }) => kind === 'person' && roles.includes('controller'))
  const owned = persons.some((person) => isBeneficialOwner(person, shares.get(person.id)))
  if (!controlled && (!owned || isAtLeast(hidden.get(null)!, BENEFICIAL_PERCENT)))
    found.push(missing('ownership', '/persons', 'person'))
  for (const { id, kind, nominee } of persons) {
    const share = shares.get(id)!
    if (kind === 'company' && !controlled && isAtLeast(hidden.get(id)!, BENEFICIAL_PERCENT))
      found.push(missing('ownership', `/persons/${id}/ownedBy`, 'field', { personId: id }))
    const principal = persons.some((other) => other.id !== id && !other.nominee && other.roles.includes('ubo'))
    if (nominee && isAtLeast(share, BENEFICIAL_PERCENT) && !principal)
      found.push(missing('ownership', `/persons/${id}/nominee`, 'person', { personId: id }))
  }
  if (persons.some(({ kind }) => kind === 'company')) found.push(missing('documents', CHART, 'document'))
  return found
}
const CHART = '/documents/kyb_ownership_chart'

/** Finds the statements that are not made, or that the periodic review asks for again. */
function statementFindings({ record, customer }: CaseFacts): Finding[] {
  const business = customer.customerType === 'business'
  const given = [
    ...(business
      ? (['allDirectors', 'allOwners'] as const).map((name) => ({
          pointer: `/attestations/${name}`,
          step: 'ownership' as const,
          at: record.attestations[name]?.at ?? null,
        }))
      : []),
    { pointer: '/terms', step: 'activity' as const, at: record.terms?.at ?? null },
  ]
  const review = record.status === 'approved' ? record.nextReviewAt : null
  return given.flatMap(({ pointer, step, at }): Finding[] => {
    const renewed = review !== null && at !== null && at >= review - RENEWAL_LEAD_MS
    if (review !== null && !renewed)
      return [missing(step, pointer, 'attestation', { reason: 'periodic_review', dueAt: review })]
    return at === null ? [missing(step, pointer, 'attestation')] : []
  })
}

/** Finds everything that the case lacks, whatever its status. */
function findingsOf(facts: CaseFacts, now: number): Finding[] {
  const { record, customer, registeredAddress } = facts
  const business = customer.customerType === 'business'
  const found = [
    ...rulesOf(FIELD_RULES, facts)
      .filter(({ pointer }) => !isGiven(valueAt(record, pointer)))
      .map(({ step, pointer }) => missing(step, pointer, 'field')),
    ...(business && !registeredAddress ? [missing('addresses', '/addresses', 'field')] : []),
    ...(business ? [...unnamedFindings(facts), ...personFindings(facts, now)] : []),
    ...rulesOf(DOCUMENT_RULES, facts).flatMap(({ type }) =>
      documentFindings(facts, now, { type, personId: null, pointer: `/documents/${type}` }),
    ),
    ...statementFindings(facts),
  ]
  const unique = new Map(found.map((finding) => [finding.pointer, finding]))
  if (!unique.has(CHART)) return [...unique.values()]
  unique.delete(CHART)
  return [
    ...unique.values(),
    ...documentFindings(facts, now, { type: 'kyb_ownership_chart', personId: null, pointer: CHART }),
  ]
}

/** The findings that keep a case from being submitted. */
const isOpen = ({ pending, reason }: Finding): boolean => pending === undefined && reason !== 'expires'

/** Whose action a case waits for. */
function awaited({ record, persons }: CaseFacts, due: boolean): Awaited | null {
  switch (record.status) {
    case 'draft':
    case 'info_requested':
      return 'customer'
    case 'submitted':
    case 'in_review': {
      const open =
        record.result === null ||
        record.result.reviewAnswer === 'pending' ||
        persons.some(({ status }) => status === 'pending')
      return record.provider !== 'manual' && open ? 'provider' : 'operator'
    }
    case 'approved':
      return due ? 'customer' : null
    case 'rejected':
    case 'withdrawn':
      return null
    default:
      return record.status satisfies never
  }
}

const shown = ({ pointer, kind, personId, documentType, reason }: Finding): Requirement => ({
  pointer,
  kind,
  personId,
  documentType,
  reason,
})

/** Questions of reviewers that are not answered. */
function questionsOf({ record }: CaseFacts): Requirement[] {
  return record.infoRequested
    .filter(({ resolvedAt }) => resolvedAt === null)
    .map(({ field }) => {
      const pointer = field ?? ''
      const personId = /^\/persons\/([^/]+)/.exec(pointer)?.[1] ?? null
      const documentType = (/\/documents\/([^/]+)$/.exec(pointer)?.[1] ?? null) as KybDocumentType | null
      const kind = documentType !== null ? 'document' : pointer.startsWith('/attestations') ? 'attestation' : 'field'
      return { pointer, kind, personId, documentType, reason: 'information_requested' satisfies RequirementReason }
    })
}

const ENDED = ['rejected', 'withdrawn'] as const
const NOTHING: KybRequirements = {
  currentlyDue: [],
  eventuallyDue: [],
  pastDue: [],
  pendingVerification: [],
  errors: [],
  deadline: null,
  awaitingActionFrom: null,
}

/** Computes the requirements of a case at a time in epoch milliseconds. */
export function requirementsOf(facts: CaseFacts, now: number): KybRequirements {
  const { record, persons } = facts
  if ((ENDED as readonly string[]).includes(record.status)) return NOTHING
  const approved = record.status === 'approved'
  const findings = findingsOf(facts, now).filter(({ dueAt, pending }) => !approved || dueAt !== null || pending)
  const open = findings.filter(({ pending }) => pending === undefined)
  const isPast = ({ dueAt }: Finding): boolean => approved && dueAt !== null && dueAt <= now
  // Before the approval a document only has to be valid; what expires later is asked for then.
  const isLater = ({ dueAt, reason }: Finding): boolean =>
    dueAt !== null && reason !== 'expired' && (!approved || dueAt - RENEWAL_LEAD_MS > now)
  const due = open.filter((finding) => !isPast(finding) && !isLater(finding))
  const past = open.filter(isPast)
  const ends = (approved ? [...due, ...past] : []).flatMap(({ dueAt }) => (dueAt === null ? [] : [dueAt]))
  const currentlyDue = [...questionsOf(facts), ...due.map(shown)]
  return {
    currentlyDue,
    eventuallyDue: open.filter((finding) => !isPast(finding) && isLater(finding)).map(shown),
    pastDue: past.map(shown),
    pendingVerification: findings.filter(({ pending }) => pending).map(shown),
    errors: [
      ...open
        .filter(({ reason }) => reason === 'not_clean')
        .map(({ pointer }) => ({
          requirement: pointer,
          code: 'document_not_clean' as const,
          message: 'The file has failed its scan; upload another.',
        })),
      ...(record.status === 'info_requested' && record.result?.rejectType === 'retry'
        ? [{ requirement: '', code: 'verification_failed' as const, message: 'The verification has to be repeated.' }]
        : []),
      ...persons
        .filter(({ status }) => status === 'retry' || status === 'red')
        .map(({ id, status }) => ({
          requirement: `/persons/${id}`,
          code: status === 'red' ? ('person_rejected' as const) : ('verification_failed' as const),
          message: status === 'red' ? 'The person could not be verified.' : 'The verification has to be repeated.',
        })),
    ],
    deadline: ends.length === 0 ? null : Math.min(...ends),
    awaitingActionFrom: awaited(facts, currentlyDue.length + past.length > 0),
  }
}

/** Returns what keeps a case from being submitted: everything that is due but for the answers that it brings. */
export function submissionFaults(facts: CaseFacts, now: number): readonly Requirement[] {
  return findingsOf(facts, now).filter(isOpen).map(shown)
}

/** Computes the steps of the wizard: the requirements in summary. */
export function stepsOf(facts: CaseFacts, now: number): KybSteps {
  const lacking = new Set(
    facts.record.status === 'approved'
      ? []
      : findingsOf(facts, now)
          .filter(isOpen)
          .map(({ step }) => step),
  )
  return {
    company: !lacking.has('company'),
    addresses: !lacking.has('addresses'),
    ownership: !lacking.has('ownership'),
    activity: !lacking.has('activity'),
    documents: !lacking.has('documents'),
    personal: !lacking.has('personal'),
  }
}

/**
 * The next time at which the requirements of a case may change by themselves, epoch milliseconds: a scan ends, a document
 * or a review falls due. Null: never.
 */
export function nextChangeAt(facts: CaseFacts, now: number): number | null {
  if (facts.documents.some(({ file }) => file.status === 'pending_scan')) return now
  const times = findingsOf(facts, now)
    .flatMap(({ dueAt }) => (dueAt === null ? [] : [dueAt - RENEWAL_LEAD_MS, dueAt]))
    .filter((time) => time > now)
  return times.length === 0 ? null : Math.min(...times)
}

/** Lists what of an approved case becomes past due, or is, each day and kind once. */
export function dueAgainOf(facts: CaseFacts, now: number): readonly DueAgain[] {
  const found = facts.record.status === 'approved' ? findingsOf(facts, now) : []
  const due = found.flatMap(({ kind, dueAt }): DueAgain[] =>
    dueAt === null ? [] : [{ kind: kind === 'document' ? 'documents' : 'statements', dueAt }],
  )
  return [...new Map(due.map((each) => [`${each.kind} ${each.dueAt}`, each])).values()]
}

/** The text by which a change of the requirements is noticed. */
export const digestOf = ({
  currentlyDue,
  eventuallyDue,
  pastDue,
  pendingVerification,
  errors,
  deadline,
}: KybRequirements) =>
  JSON.stringify([
    [currentlyDue, eventuallyDue, pastDue, pendingVerification].map((list) =>
      list.map(({ pointer, reason }) => `${pointer} ${reason}`),
    ),
    errors.map(({ requirement, code }) => `${requirement} ${code}`),
    deadline === null ? null : timestamp(deadline),
  ])

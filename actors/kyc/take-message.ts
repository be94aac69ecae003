/** Takes a message of a KYC provider: what it says of its applicant, and what that means for the case (K10). */
import { rolesWith } from '../../lib/identity/capabilities.ts'
import { hear, type Applicant, type IgnoredReason } from '../../lib/kyc/applicant.ts'
import { movesAfter, questionsAfter, resultOf } from '../../lib/kyc/case-outcome.ts'
import { withNames, type KycMessage, type KycReview } from '../../lib/kyc/messages.ts'
import type { KybCaseRecord } from '../../lib/onboarding/kyb-case.ts'
import { customerOfApplicant, listApplicants, writeApplicant } from '../../storage/kyc/kyc-applicants.ts'
import type { KycEventEnd } from '../../storage/kyc/kyc-events.ts'
import { insertNotices, peopleInRoles } from '../../storage/notices/notices.ts'
import { changeCase } from '../../storage/onboarding/kyb-cases.ts'
import { tellsTooMuch } from '../../lib/compliance/tipping-off.ts'
import { listReviewedPersons, writePersonReview, type ReviewedPerson } from '../../storage/kyc/reviewed-persons.ts'
import { SYSTEM, type AuditBy } from '../../storage/trail/trail.ts'
import { recordChange, type ChangeTransaction } from '../commands/changes.ts'
import { recheck } from '../onboarding/case-facts.ts'
import { applyMove, lockedCase, type LockedCase } from '../onboarding/move-case.ts'
import { openAlerts } from '../onboarding/screening-alerts.ts'

/** The actor of what a provider's review changes. */
const PROVIDER: AuditBy = { ...SYSTEM, actor: { ...SYSTEM.actor, name: 'KYC provider' } }

/** The title of the notice of what a provider asks. */
const ASKED_TITLE = 'More information is needed'

/** The outcome of a message. */
export interface TakenMessage {
  readonly end: KycEventEnd
  /** The customer whose status has moved, with its new version: every node is told of it after the commit. */
  readonly moved: { readonly customerId: string; readonly version: bigint } | null
}

const ignored = (
  reason: IgnoredReason,
  about: { readonly customerId: string; readonly subjectId: string } | null = null,
): TakenMessage => ({
  end: { status: 'ignored', reason, customerId: about?.customerId ?? null, subjectId: about?.subjectId ?? null },
  moved: null,
})

/**
 * Takes a message that arrived on a connection; null is one that could not be read. A message about an applicant of
 * another connection, one that is late, and one that says nothing new change nothing.
 *
 * @param receivedAt epoch milliseconds
 */
export async function takeMessage(
  tx: ChangeTransaction,
  connectionId: string,
  message: KycMessage | null,
  receivedAt: number,
): Promise<TakenMessage> {
  const { client } = tx
  if (message === null) return ignored('unreadable')
  if (message.outcome === null) return ignored('unknown_type')
  const about = await customerOfApplicant(client, connectionId, message)
  if (about === null) return ignored('unknown_applicant')
  const { customerId, subjectId } = about
  const locked = await lockedCase(client, customerId)
  // Read again under the lock of the case.
  const applicants = await listApplicants(client, customerId)
  const before = applicants.find((each) => each.subjectId === subjectId && each.connectionId === connectionId)
  if (before === undefined) return ignored('unknown_applicant', about)
  const persons = new Map((await listReviewedPersons(client, customerId)).map((person) => [person.id, person]))
  const isIn = (each: Pick<Applicant, 'personId'>) => each.personId === null || persons.has(each.personId)
  const name = nameOf(locked.record, before.personId === null ? null : persons.get(before.personId))
  const heard = hear(before, named(message, name), receivedAt)
  if ('ignored' in heard) return ignored(heard.ignored, about)
  const { applicant, outcome } = heard
  const { personId } = applicant
  if (!isIn(applicant)) return ignored('unknown_applicant', about)
  await writeApplicant(client, applicant)
  const review = outcome.kind === 'reviewed' ? outcome.review : null
  if (personId !== null)
    await writePersonReview(client, customerId, personId, {
      updatedAt: tx.now,
      applicantId: applicant.applicantId,
      ...(heard.status === null ? {} : { status: heard.status, rejectLabels: review?.rejectLabels ?? [] }),
    })
  // Messages about a person who has left the case, or from an earlier provider, no longer count.
  const all = applicants
    .filter((each) => isIn(each) && each.connectionId === connectionId)
    .map((each) => (each.subjectId === subjectId ? applicant : each))
  const version = await changeReviewed(tx, locked, { applicant, review, all })
  await recheck(tx, customerId)
  return {
    end: { status: 'processed', reason: null, customerId, subjectId },
    moved: version === null ? null : { customerId, version },
  }
}

/** The name of an applicant: of the customer itself (null), or of a person, whom the birth date tells from namesakes. */
function nameOf({ company, personal }: KybCaseRecord, person: ReviewedPerson | null | undefined): string {
  const { firstName, lastName, legalName, dateOfBirth } = person?.details ?? {
    ...personal,
    legalName: company.legalName,
  }
  const own = legalName ?? [firstName, lastName].filter((part) => part != null).join(' ')
  return [own, dateOfBirth].filter((part) => part != null).join(', ')
}

const named = (message: KycMessage, name: string): KycMessage =>
  message.outcome?.kind === 'reviewed'
    ? { ...message, outcome: { ...message.outcome, review: withNames(message.outcome.review, name) } }
    : message

/** Writes what the case shows of its applicants, and moves it. @returns the customer's version, where it has moved */
async function changeReviewed(
  tx: ChangeTransaction,
  locked: LockedCase,
  {
    applicant,
    review,
    all,
  }: { readonly applicant: Applicant; readonly review: KycReview | null; readonly all: readonly Applicant[] },
): Promise<bigint | null> {
  const { client, now } = tx
  const { record } = locked
  const change = {
    result: resultOf(all),
    ...(applicant.personId === null ? { applicantId: applicant.applicantId } : {}),
  }
  if (review === null) {
    await changeCase(client, record, { ...change, updatedAt: now })
    return null
  }
  const infoRequested = questionsAfter(record.infoRequested, applicant, review, {
    now,
    mayShow: (text) => !tellsTooMuch(text),
  })
  const shown = { ...change, infoRequested }
  const moves = movesAfter(record.status, review, infoRequested)
  let moved: LockedCase = { ...locked, record: await changeCase(client, record, { ...shown, updatedAt: now }) }
  let version: bigint | null = null
  for (const trigger of moves) {
    const next = await applyMove(tx, PROVIDER, moved, trigger)
    version = next.customerVersion ?? version
    moved = next
  }
  const asked = infoRequested.at(-1)
  if (review.rejectType === 'retry' && moved.record.status === 'info_requested' && asked !== undefined)
    await tellMembers(tx, record, asked.message)
  moved = await openAlerts(tx, PROVIDER, moved, review.screening)
  // In the operator's trail alone: a customer does not learn why its case is looked at.
  await recordChange(tx, PROVIDER, record.operatorId, {
    action: 'kyb_case.provider_reviewed',
    object: { type: 'kyb_case', id: record.id },
    before: { status: record.status },
    after: { status: moved.record.status, personId: applicant.personId, ...review },
  })
  return version
}

/** Tells the members who fill in the case that the provider asks for more. */
async function tellMembers(
  { client, ids, now }: ChangeTransaction,
  { id, customerId }: Pick<KybCaseRecord, 'id' | 'customerId'>,
  text: string,
): Promise<void> {
  const people = await peopleInRoles(client, customerId, rolesWith('onboarding.write'))
  const object = { type: 'kyb_case', id }
  const notice = { tenantId: customerId, type: 'kyb_info_requested' as const, title: ASKED_TITLE, text, object }
  await insertNotices(client, ids, people, notice, now)
}

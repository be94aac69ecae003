/** Decisions of the operator's staff on a KYB case: its reviewer, the questions to the customer, and its end. */
import { ProblemError, refuse, refuseField } from '../../lib/base/problems.ts'
import { refuseTippingOff } from '../../lib/compliance/tipping-off.ts'
import { rolesWith } from '../../lib/identity/capabilities.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { NoticeType } from '../../lib/notices/notices.ts'
import { moveCase } from '../../lib/onboarding/case-moves.ts'
import {
  approvalBy,
  approvalProblem,
  CASE_NOTES_MAX,
  INFO_REQUESTS_MAX,
  nextReviewAfter,
} from '../../lib/onboarding/case-review.ts'
import type {
  KybApprove,
  KybAssign,
  KybNoteCreate,
  KybReject,
  KybReopen,
  KybRequestInfo,
} from '../../lib/onboarding/case-review-schema.ts'
import type { KybCaseRecord } from '../../lib/onboarding/kyb-case.ts'
import {
  insertNote,
  listAlerts,
  listNotes,
  personsOfCase,
  readReviewTerms,
  type ReviewTerms,
} from '../../storage/onboarding/case-reviews.ts'
import { changeCase } from '../../storage/onboarding/kyb-cases.ts'
import { insertNotices, peopleInRoles } from '../../storage/notices/notices.ts'
import type { ChangeTransaction } from '../commands/changes.ts'
import { auditCaller } from '../commands/trail.ts'
import {
  isReviewer,
  recordReview,
  reviewCase,
  type CaseReviewDeps,
  type CaseAct,
  type CaseReviewed,
  type ReviewOf,
} from './case-transaction.ts'
import { openDefaultBalances } from './default-balances.ts'
import { settleLapse } from './lapse.ts'
import { applyMove, type LockedCase } from './move-case.ts'

/** The people of a customer who fill in its case. */
const APPLICANTS = rolesWith('onboarding.write')

/** The code of the questions of reviewers. */
const ASKED = 'information_requested'

type Person = Caller<'person'>

/** Gives a case to a person of the staff. @throws ProblemError `validation-error` */
export async function assignCase(
  deps: CaseReviewDeps,
  by: Person,
  of: ReviewOf,
  { assigneeId = by.principal.id }: KybAssign,
): Promise<CaseReviewed> {
  return await reviewCase(deps, by, of, async (tx, locked) => {
    const { record } = locked
    if (assigneeId !== null && !(await isReviewer(tx, by.tenant.id, assigneeId)))
      refuseField('/assigneeId', 'not_found', 'No such person reviews cases.')
    await changeCase(tx.client, record, { assigneeId, updatedAt: tx.now })
    await recordReview(tx, auditCaller(by), locked, 'kyb_case.assigned', {
      before: { assigneeId: record.assigneeId },
      after: { assigneeId },
    })
    return { customerVersion: null }
  })
}

/** Asks the customer for information (K4). @throws ProblemError `tipping_off`, `invalid-transition` */
export async function requestInfo(
  deps: CaseReviewDeps,
  by: Person,
  of: ReviewOf,
  { message, requirements }: KybRequestInfo,
): Promise<CaseReviewed> {
  return await reviewCase(deps, by, of, async (tx, locked) => {
    const pointers = Object.fromEntries(requirements.map((pointer, nth) => [`/requirements/${nth}`, pointer]))
    refuseTippingOff({ '/message': message, ...pointers })
    const fields = requirements.length === 0 ? [null] : requirements
    const asked = fields.map((field) => ({ code: ASKED, field, message, requestedAt: tx.now, resolvedAt: null }))
    const { customerVersion } = await applyMove(tx, auditCaller(by), locked, 'request_info', {
      infoRequested: [...keptRequests(locked.record, asked.length), ...asked],
      firstApproval: null,
      ...assigned(by, locked),
    })
    await tellApplicants(tx, locked, 'kyb_info_requested', 'More information is needed', message)
    await recordReview(tx, auditCaller(by), locked, 'kyb_case.info_requested', { after: { message, requirements } })
    return { customerVersion }
  })
}

/** The questions that a case keeps beside new ones: answered ones give way, the oldest first. */
function keptRequests({ infoRequested }: KybCaseRecord, added: number): KybCaseRecord['infoRequested'] {
  const surplus = Math.max(0, infoRequested.length + added - INFO_REQUESTS_MAX)
  const ended = infoRequested.filter(({ resolvedAt }) => resolvedAt !== null).slice(0, surplus)
  if (ended.length < surplus)
    refuse('limit-reached', `A case has at most ${INFO_REQUESTS_MAX} open questions.`, {
      extra: { limit: INFO_REQUESTS_MAX, resource: 'kyb_info_request' },
    })
  return infoRequested.filter((request) => !ended.includes(request))
}

/** The first person to act on a case becomes its assignee. */
const assigned = (by: Person, { record }: LockedCase) => ({ assigneeId: record.assigneeId ?? by.principal.id })

/**
 * Approves a case (K6); where the risk is high, the first approval is kept, and another person's decides.
 *
 * @throws ProblemError `invalid-transition`, `kyc_incomplete`
 */
export async function approveCase(
  deps: CaseReviewDeps,
  by: Person,
  of: ReviewOf,
  { note = null }: KybApprove,
): Promise<CaseReviewed> {
  return await reviewCase(deps, by, of, async (tx, locked) => {
    const terms = await readReviewTerms(tx.client, by.tenant.id)
    await requireComplete(tx, locked, terms)
    const { record, customer } = locked
    const stored = record.firstApproval
    const first = stored !== null && (await isReviewer(tx, by.tenant.id, stored.by)) ? stored : null
    const given = { by: by.principal.id, byName: by.principal.name, at: tx.now, note }
    const effect = approvalBy(given.by, { risk: customer.risk, first })
    if (effect === 'again') return { customerVersion: null, waits: true }
    if (effect === 'approves') return await approve(tx, by, locked, { terms, note })
    await changeCase(tx.client, record, { firstApproval: given, ...assigned(by, locked), updatedAt: tx.now })
    await recordReview(tx, auditCaller(by), locked, 'kyb_case.first_approved', { after: { note } })
    return { customerVersion: null, waits: true }
  })
}

async function requireComplete(
  { client }: ChangeTransaction,
  { record, customer }: LockedCase,
  { requireAllPersonsVerified }: ReviewTerms,
): Promise<void> {
  const { customerId, operatorId, status } = record
  const moved = moveCase({ status, customer: customer.status }, 'approve')
  if ('refused' in moved) throw new ProblemError(moved.refused)
  const problem = approvalProblem({
    risk: customer.risk,
    status,
    reviewAnswer: record.result?.reviewAnswer ?? null,
    hasProvider: record.provider !== 'manual',
    persons: await personsOfCase(client, customerId),
    alerts: await listAlerts(client, operatorId, record.id),
    requireAllPersonsVerified,
  })
  if (problem !== null) throw new ProblemError(problem)
}

async function approve(
  tx: ChangeTransaction,
  by: Person,
  locked: LockedCase,
  { terms, note }: { readonly terms: ReviewTerms; readonly note: string | null },
): Promise<CaseAct> {
  const { record, customer } = locked
  const { now } = tx
  const nextReviewAt = nextReviewAfter(now, customer.risk, terms.months)
  const moved = await applyMove(tx, auditCaller(by), locked, 'approve', {
    firstApproval: null,
    decision: {
      ...{ decision: 'approved', by: by.principal.id, byName: by.principal.name, at: now },
      ...{ reason: note, reasonForCustomer: null, first: record.firstApproval },
    },
    infoRequested: record.infoRequested.map((request) => ({ ...request, resolvedAt: request.resolvedAt ?? now })),
    nextReviewAt,
    reviewedAt: now,
    ...assigned(by, locked),
  })
  await recordReview(tx, auditCaller(by), locked, 'kyb_case.approved', {
    before: { status: record.status, first: record.firstApproval },
    after: { status: moved.record.status, note, nextReviewAt },
  })
  if (moved.customerVersion === null) return { customerVersion: await settleLapse(tx, auditCaller(by), moved) }
  await openDefaultBalances(tx, auditCaller(by), moved)
  await tellApplicants(tx, locked, 'kyb_decided', 'Your application was approved', 'You can use your account now.')
  return { customerVersion: moved.customerVersion }
}

/** Rejects a case (K7). @throws ProblemError `tipping_off`, `invalid-transition` */
export async function rejectCase(
  deps: CaseReviewDeps,
  by: Person,
  of: ReviewOf,
  { reason, reasonForCustomer }: KybReject,
): Promise<CaseReviewed> {
  return await reviewCase(deps, by, of, async (tx, locked) => {
    refuseTippingOff({ '/reasonForCustomer': reasonForCustomer })
    const { record } = locked
    const { now } = tx
    const moved = await applyMove(tx, auditCaller(by), locked, 'reject', {
      firstApproval: null,
      decision: {
        ...{ decision: 'rejected', by: by.principal.id, byName: by.principal.name, at: now },
        ...{ reason, reasonForCustomer, first: null },
      },
      nextReviewAt: null,
      reviewedAt: now,
      ...assigned(by, locked),
    })
    await tellApplicants(tx, locked, 'kyb_decided', 'Your application was not accepted', reasonForCustomer)
    await recordReview(tx, auditCaller(by), locked, 'kyb_case.rejected', {
      before: { status: record.status, first: record.firstApproval },
      after: { status: moved.record.status, reason, reasonForCustomer },
    })
    return { customerVersion: moved.customerVersion }
  })
}

/** Reviews a case again that was approved or rejected (K9). @throws ProblemError `invalid-transition` */
export async function reopenCase(
  deps: CaseReviewDeps,
  by: Person,
  of: ReviewOf,
  { reason }: KybReopen,
): Promise<CaseReviewed> {
  return await reviewCase(deps, by, of, async (tx, locked) => {
    const { status } = locked.record
    const { customerVersion, record } = await applyMove(
      tx,
      auditCaller(by),
      locked,
      status === 'approved' ? 'review_again' : 'reopen',
      { firstApproval: null },
    )
    await recordReview(tx, auditCaller(by), locked, 'kyb_case.reopened', {
      before: { status },
      after: { status: record.status, reason },
    })
    return { customerVersion }
  })
}

/** Adds a note of staff to a case. @throws ProblemError `limit-reached` */
export async function noteCase(
  deps: CaseReviewDeps,
  by: Person,
  of: ReviewOf,
  { text }: KybNoteCreate,
): Promise<CaseReviewed> {
  return await reviewCase(deps, by, of, async (tx, locked) => {
    const { client, ids, now } = tx
    const { id: caseId, operatorId } = locked.record
    if ((await listNotes(client, operatorId, caseId)).length >= CASE_NOTES_MAX)
      refuse('limit-reached', `A case has at most ${CASE_NOTES_MAX} notes.`, {
        extra: { limit: CASE_NOTES_MAX, resource: 'kyb_note' },
      })
    const { id: authorId, name: authorName } = by.principal
    await insertNote(client, { id: ids.next(), caseId, operatorId, authorId, authorName, text, createdAt: now })
    await changeCase(client, locked.record, { updatedAt: now })
    await recordReview(tx, auditCaller(by), locked, 'kyb_case.noted', { after: { text } })
    return { customerVersion: null }
  })
}

async function tellApplicants(
  { client, ids, now }: ChangeTransaction,
  { record }: LockedCase,
  type: NoticeType,
  title: string,
  text: string,
): Promise<void> {
  const { id, customerId } = record
  const people = await peopleInRoles(client, customerId, APPLICANTS)
  const notice = { tenantId: customerId, type, title, text, object: { type: 'kyb_case', id } }
  await insertNotices(client, ids, people, notice, now)
}

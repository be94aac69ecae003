/** Submits a case for its review, again after questions, and withdraws it. */
import { ProblemError, refuse, refuseTransition, type FieldError } from '../../lib/base/problems.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { moveCase } from '../../lib/onboarding/case-moves.ts'
import type { KybCase } from '../../lib/onboarding/kyb-case-schema.ts'
import type { Requirement, RequirementReason } from '../../lib/onboarding/requirement.ts'
import { submissionFaults } from '../../lib/onboarding/requirements.ts'
import { countOpenBalances } from '../../storage/balances/balance-changes.ts'
import { recordChange, runChange } from '../commands/changes.ts'
import { auditCaller } from '../commands/trail.ts'
import { readerOf, recheck, shownCase, type WholeCase } from './case-facts.ts'
import { applyMove, lockedCase, type LockedCase } from './move-case.ts'
import type { OnboardingDeps } from './onboarding-deps.ts'

/** The errors that one answer lists; the requirements of the case list all. */
const ERRORS_MAX = 64

/**
 * Submits a draft, or a case with questions anew.
 *
 * @throws ProblemError `not-found`, `invalid-transition`, `document-not-clean`, `validation-error` by the pointers of
 *   what is due
 */
export async function submitCase(
  deps: OnboardingDeps,
  by: Caller<'person'>,
  customerId: string,
): Promise<Versioned<KybCase>> {
  const actor = auditCaller(by)
  const { moved, after, now } = await runChange(deps, async (tx) => {
    const { client, now } = tx
    const locked = await lockedCase(client, customerId)
    const again = locked.record.status === 'info_requested'
    const { status, customer } = { status: locked.record.status, customer: locked.customer.status }
    const allowed = moveCase({ status, customer }, again ? 'resubmit' : 'submit')
    if ('refused' in allowed) throw new ProblemError(allowed.refused)
    checkComplete(await recheck(tx, customerId), now)
    const submitted = { submittedAt: now }
    const moved = again
      ? await applyMove(tx, actor, locked, 'resubmit', {
          ...submitted,
          infoRequested: answered(locked, now),
          // A first approval was given to other facts.
          firstApproval: null,
        })
      : await applyMove(tx, actor, await applyMove(tx, actor, locked, 'submit', submitted), 'begin_review')
    await deps.askReviews(tx, moved.record)
    await recordChange(tx, actor, customerId, {
      action: again ? 'kyb_case.resubmitted' : 'kyb_case.submitted',
      object: { type: 'kyb_case', id: locked.record.id },
      before: { status },
      after: { status: moved.record.status },
    })
    return { moved, after: await recheck(tx, customerId), now }
  })
  if (moved.customerVersion !== null) await deps.announce(customerId, moved.customerVersion)
  return shownCase(after, now, readerOf(by))
}

/**
 * Withdraws a case that is not decided, of a customer without open balances; the customer is closed, and its members
 * lose their access.
 *
 * @throws ProblemError `not-found`, `invalid-transition`
 */
export async function withdrawCase(
  deps: OnboardingDeps,
  by: Caller<'person'>,
  customerId: string,
): Promise<Versioned<KybCase>> {
  const actor = auditCaller(by)
  const { after, now } = await runChange(deps, async (tx) => {
    const locked = await lockedCase(tx.client, customerId)
    // A customer that was rejected after its approval still has its balances.
    if ((await countOpenBalances(tx.client, customerId)) > 0)
      refuseTransition('The customer has open balances; request its closure.', locked.record.status, [])
    const moved = await applyMove(tx, actor, locked, 'withdraw')
    await recordChange(tx, actor, customerId, {
      action: 'kyb_case.withdrawn',
      object: { type: 'kyb_case', id: locked.record.id },
      before: { status: locked.record.status },
      after: { status: moved.record.status },
    })
    return { after: await recheck(tx, customerId), now: tx.now }
  })
  return shownCase(after, now, readerOf(by))
}

/** The questions of reviewers, which the new submission answers. */
const answered = ({ record }: Pick<LockedCase, 'record'>, now: number) =>
  record.infoRequested.map((question) => ({ ...question, resolvedAt: question.resolvedAt ?? now }))

const MESSAGES: Readonly<Record<RequirementReason, string>> = {
  missing: 'Is required.',
  expires: 'Expires soon.',
  expired: 'Has expired.',
  not_clean: 'The file has failed its scan.',
  verification_failed: 'The verification has to be repeated: change the person, or upload a document again.',
  information_requested: 'A reviewer has asked for this.',
  periodic_review: 'Is due again.',
}

const errorOf = ({ pointer, reason }: Requirement): FieldError => ({
  field: pointer,
  code: reason === 'missing' ? 'required' : 'invalid_value',
  message: MESSAGES[reason],
})

/** @throws ProblemError `document-not-clean`, `validation-error` */
function checkComplete(found: WholeCase, now: number): void {
  const unclean = found.documents.filter(({ file }) => file.status !== 'clean').map(({ file }) => file.id)
  if (unclean.length > 0)
    refuse('document-not-clean', 'A document has failed its check or is still waiting for it.', {
      extra: { documentIds: unclean },
    })
  const faults = submissionFaults(found, now)
  if (faults.length > 0)
    refuse('validation-error', `${faults[0]!.pointer}: ${MESSAGES[faults[0]!.reason]}`, {
      errors: faults.slice(0, ERRORS_MAX).map(errorOf),
    })
}

/** The transactions in which staff and the service decide on KYB cases. */
import { refuseNotFound } from '../../lib/base/problems.ts'
import { checkVersion } from '../../lib/commands/etag.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { KybCaseReview } from '../../lib/onboarding/case-review-schema.ts'
import type { AuditAction } from '../../lib/base/audit-actions.ts'
import { readCaseReview } from '../../storage/onboarding/case-review-queries.ts'
import { customerOfCase } from '../../storage/onboarding/case-reviews.ts'
import type { AuditBy } from '../../storage/trail/trail.ts'
import { rolesWith } from '../../lib/identity/capabilities.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { peopleInRoles } from '../../storage/notices/notices.ts'
import { recordChange, runChange, type ChangeDeps, type ChangeTransaction } from '../commands/changes.ts'
import { recheck } from './case-facts.ts'
import { lockedCase, type LockedCase } from './move-case.ts'

export interface CaseReviewDeps extends ChangeDeps {
  /** Waits until every node knows of the customer's new standing; the version is that of the row. */
  readonly announce: (customerId: string, version: bigint) => Promise<void>
}

/** The case that a person of the staff acts on. */
export interface ReviewOf {
  readonly caseId: string
  /** The version that the person has seen; null: any. */
  readonly expected: number | bigint | null
}

/** The people who may review cases. */
const REVIEWERS = rolesWith('onboarding.review')

/**
 * Whether a person reviews cases of an operator now. The first of two acts counts no longer once its person has left
 * or has another role.
 */
export async function isReviewer(
  { client }: Pick<ChangeTransaction, 'client'>,
  operatorId: string,
  personId: string,
): Promise<boolean> {
  return (await peopleInRoles(client, operatorId, REVIEWERS)).includes(personId)
}

/** The result of a person's act. */
export interface CaseAct {
  /** The customer's version, where its standing has changed: every node is told of it after the commit. */
  readonly customerVersion: bigint | null
  /** Whether a second person has to decide. */
  readonly waits?: boolean
}

export interface CaseReviewed {
  readonly review: Versioned<KybCaseReview>
  readonly waits: boolean
}

/**
 * Runs the act of a person of the staff on a case of their operator, under the locks of the customer and the case.
 *
 * @throws ProblemError `not-found`, `precondition-failed`, and what the act throws
 */
export async function reviewCase(
  deps: CaseReviewDeps,
  by: Caller<'person'>,
  { caseId, expected }: ReviewOf,
  act: (tx: ChangeTransaction, locked: LockedCase) => Promise<CaseAct>,
): Promise<CaseReviewed> {
  const { review, customerId, customerVersion, waits } = await runChange(deps, async (tx) => {
    const customerId = (await customerOfCase(tx.client, by.tenant.id, caseId)) ?? refuseNotFound()
    const locked = await lockedCase(tx.client, customerId)
    checkVersion(locked.record, expected)
    const { customerVersion, waits = false } = await act(tx, locked)
    await recheck(tx, customerId)
    const review = (await readCaseReview(tx.client, by.tenant, caseId)) ?? refuseNotFound()
    return { review, customerId, customerVersion, waits }
  })
  if (customerVersion !== null) await deps.announce(customerId, customerVersion)
  return { review, waits }
}

/** Writes an act on a case into the trail of the operator; customers do not learn what staff think of them. */
export async function recordReview(
  tx: ChangeTransaction,
  by: AuditBy,
  { record }: Pick<LockedCase, 'record'>,
  action: AuditAction<'kyb_case'>,
  { before = null, after }: { readonly before?: object | null; readonly after: object },
): Promise<void> {
  await recordChange(tx, by, record.operatorId, {
    action,
    object: { type: 'kyb_case', id: record.id },
    before,
    after: { ...after, customerId: record.customerId },
  })
}

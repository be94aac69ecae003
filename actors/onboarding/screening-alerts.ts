/** Screening alerts of KYB cases: opened by what a provider finds, decided by two people of the staff. */
import { ProblemError, refuseNotFound } from '../../lib/base/problems.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { AlertView } from '../../lib/onboarding/case-review-schema.ts'
import type { KybScreeningHit } from '../../lib/onboarding/kyb-case.ts'
import { ALERTS_MAX, decideAlert, newHits, type ScreeningAlertRecord } from '../../lib/onboarding/screening-alert.ts'
import { changeAlert, insertAlerts, listAlerts } from '../../storage/onboarding/case-reviews.ts'
import { changeCase } from '../../storage/onboarding/kyb-cases.ts'
import type { AuditAction } from '../../lib/base/audit-actions.ts'
import type { AuditBy } from '../../storage/trail/trail.ts'
import { recordChange, type ChangeTransaction } from '../commands/changes.ts'
import { auditCaller } from '../commands/trail.ts'
import { isReviewer, reviewCase, type CaseReviewDeps, type CaseReviewed, type ReviewOf } from './case-transaction.ts'
import { applyMove, type LockedCase } from './move-case.ts'

/**
 * Opens an alert for each hit of a locked case that is new. A customer that was approved goes on, and staff look at its
 * case again (K9).
 *
 * @returns the case as it is now
 */
export async function openAlerts(
  tx: ChangeTransaction,
  by: AuditBy,
  locked: LockedCase,
  hits: readonly KybScreeningHit[],
): Promise<LockedCase> {
  const { client, ids, now } = tx
  const { id: caseId, customerId, operatorId, provider, status } = locked.record
  const known = await listAlerts(client, operatorId, caseId)
  const alerts = newHits(known, hits)
    .slice(0, ALERTS_MAX - known.length)
    .map(({ list, name, score }) => ({
      ...{ id: ids.next(), caseId, customerId, operatorId, provider, list, name, score },
      ...{ status: 'open' as const, proposal: null, decision: null, createdAt: now, updatedAt: now },
    }))
  if (alerts.length === 0) return locked
  await insertAlerts(client, operatorId, alerts)
  for (const { id, list, name, score } of alerts)
    await recordAlert(tx, by, { id, customerId, operatorId }, 'screening_alert.opened', { provider, list, name, score })
  if (status === 'approved') return await applyMove(tx, by, locked, 'review_again', { firstApproval: null })
  return { ...locked, record: await changeCase(client, locked.record, { firstApproval: null, updatedAt: now }) }
}

/**
 * Records a person's view of an alert; the same view of another person takes effect.
 *
 * @throws ProblemError `not-found`, `invalid-transition`
 */
export async function viewAlert(
  deps: CaseReviewDeps,
  by: Caller<'person'>,
  of: ReviewOf,
  alertId: string,
  { decision, reason }: AlertView,
): Promise<CaseReviewed> {
  return await reviewCase(deps, by, of, async (tx, { record }) => {
    const { client, now } = tx
    const found = (await listAlerts(client, record.operatorId, record.id)).find(({ id }) => id === alertId)
    const alert = found ?? refuseNotFound()
    const view = { decision, reason, by: by.principal.id, byName: by.principal.name, at: now }
    const { proposal } = alert
    const stands = proposal !== null && (await isReviewer(tx, record.operatorId, proposal.by))
    const change = decideAlert({ ...alert, proposal: stands ? proposal : null }, view)
    if ('refused' in change) throw new ProblemError(change.refused)
    await changeAlert(client, alert, { ...change, updatedAt: now })
    // A first approval was given without this.
    await changeCase(client, record, { firstApproval: null, updatedAt: now })
    const decided = change.status === decision
    await recordAlert(tx, auditCaller(by), alert, `screening_alert.${decided ? decision : 'proposed'}`, {
      decision,
      reason,
    })
    return { customerVersion: null, waits: !decided }
  })
}

async function recordAlert(
  tx: ChangeTransaction,
  by: AuditBy,
  { id, customerId, operatorId }: Pick<ScreeningAlertRecord, 'id' | 'customerId' | 'operatorId'>,
  action: AuditAction<'screening_alert'>,
  after: object,
): Promise<void> {
  await recordChange(tx, by, operatorId, {
    action,
    object: { type: 'screening_alert', id },
    before: null,
    after: { ...after, customerId },
  })
}

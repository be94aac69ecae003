/**
 * The periodic review of approved customers: reminders, and the end of the capability to pay while a review is overdue.
 * The customer itself stays; what comes in is credited, and its balances remain its own.
 */
import { timestamp } from '../../lib/base/clock.ts'
import { isRenewed, reviewStep } from '../../lib/onboarding/case-review.ts'
import { rolesWith } from '../../lib/identity/capabilities.ts'
import { lockCustomer, measureCustomer } from '../../storage/balances/closure.ts'
import { tellCustomerStatus } from '../../storage/customers/customer-rows.ts'
import { insertNotices, peopleInRoles } from '../../storage/notices/notices.ts'
import { anyCustomerOfCase } from '../../storage/onboarding/case-reviews.ts'
import { changeCase } from '../../storage/onboarding/kyb-cases.ts'
import { SYSTEM, type AuditBy } from '../../storage/trail/trail.ts'
import { runChange, type ChangeTransaction } from '../commands/changes.ts'
import type { Task } from '../runtime/tasks.ts'
import { recordReview, type CaseReviewDeps } from './case-transaction.ts'
import { applyMove, lockedCase, type LockedCase } from './move-case.ts'

const TOLD_ROLES = rolesWith('onboarding.write')

/** Looks at the review of an approved case: reminds its customer, ends its capability to pay, or asks staff to review. */
export function periodicReviews(deps: CaseReviewDeps): Task {
  return {
    name: 'onboarding.review',
    async run(caseId) {
      const moved = await runChange(deps, async (tx) => {
        const customerId = await anyCustomerOfCase(tx.client, caseId)
        if (customerId === null) return null
        const version = await look(tx, await lockedCase(tx.client, customerId))
        return version === null ? null : { customerId, version }
      })
      if (moved !== null) await deps.announce(moved.customerId, moved.version)
    },
  }
}

/** @returns the customer's version, where its standing has changed */
async function look(tx: ChangeTransaction, locked: LockedCase): Promise<bigint | null> {
  const { client, now } = tx
  const { record, customer } = locked
  const { status, nextReviewAt, reviewDueAt, lapsedAt } = record
  if (status !== 'approved' || nextReviewAt === null || reviewDueAt === null || reviewDueAt > now) return null
  const renewed = isRenewed(record, customer.customerType, nextReviewAt)
  const step = reviewStep({ nextReviewAt, isRenewed: renewed, hasLapsed: lapsedAt !== null }, now)
  switch (step.kind) {
    case 'review': {
      const moved = await applyMove(tx, SYSTEM, locked, 'review_again', { reviewDueAt: null })
      await recordReview(tx, SYSTEM, locked, 'kyb_case.review_due', { after: { nextReviewAt } })
      return await endLapse(tx, SYSTEM, moved)
    }
    case 'remind': {
      await changeCase(client, record, { reviewDueAt: step.lookAt, updatedAt: now })
      const day = timestamp(nextReviewAt).slice(0, 10)
      await tell(
        tx,
        record,
        `Please confirm your details by ${day}`,
        `Open your profile, check what is stated there and confirm it by ${day}. Afterwards you cannot make payments until you have.`,
      )
      return null
    }
    case 'lapse': {
      await changeCase(client, record, { reviewDueAt: step.lookAt, lapsedAt: now, updatedAt: now })
      const version = await restrict(tx, record)
      await recordReview(tx, SYSTEM, locked, 'kyb_case.lapsed', { after: { nextReviewAt } })
      await tell(
        tx,
        record,
        'You cannot make payments at present',
        'Your details were not confirmed in time. Open your profile, check what is stated there and confirm it.',
      )
      return version
    }
    case 'wait':
      await changeCase(client, record, { reviewDueAt: step.lookAt, updatedAt: now })
      return null
    default:
      return step satisfies never
  }
}

/** Takes the capability to pay from a customer against which no measure holds. */
async function restrict(
  { client, ids, now }: ChangeTransaction,
  { customerId }: LockedCase['record'],
): Promise<bigint | null> {
  const standing = await lockCustomer(client, customerId)
  if (standing === null || standing.customerMeasure !== null) return null
  const version = await measureCustomer(client, customerId, { measure: 'restricted', now })
  await tellCustomerStatus(client, {
    ...{ customerId, status: 'restricted', previousStatus: standing.customerStatus, id: ids.next(), now },
  })
  return version
}

/**
 * Gives the capability to pay back to a customer whose review was overdue. A suspension by staff stays.
 *
 * @returns the customer's version, where its standing has changed
 */
export async function endLapse(tx: ChangeTransaction, by: AuditBy, locked: LockedCase): Promise<bigint | null> {
  const { client, ids, now } = tx
  const { record } = locked
  const { customerId, lapsedAt } = record
  if (lapsedAt === null) return null
  await changeCase(client, record, { lapsedAt: null, updatedAt: now })
  await recordReview(tx, by, locked, 'kyb_case.lapse_ended', { before: { lapsedAt }, after: {} })
  const standing = await lockCustomer(client, customerId)
  if (standing?.customerMeasure !== 'restricted') return null
  const version = await measureCustomer(client, customerId, { measure: null, now })
  await tellCustomerStatus(client, {
    ...{ customerId, status: standing.customerStatus, previousStatus: 'restricted', id: ids.next(), now },
  })
  return version
}

async function tell(
  { client, ids, now }: ChangeTransaction,
  { id, customerId }: LockedCase['record'],
  title: string,
  text: string,
): Promise<void> {
  const people = await peopleInRoles(client, customerId, TOLD_ROLES)
  const notice = {
    tenantId: customerId,
    type: 'kyb_review_due' as const,
    title,
    text,
    object: { type: 'kyb_case', id },
  }
  await insertNotices(client, ids, people, notice, now)
}

/**
 * The time in which a customer cannot pay because something of its case is past due. The customer itself stays; what
 * comes in is credited, and its balances remain its own. A measure that staff have taken holds beside it, and longer.
 */
import { refuseNotFound } from '../../lib/base/problems.ts'
import { lapseOf } from '../../lib/onboarding/due-again.ts'
import { lockCustomer, measureCustomer, readMeasureTaker } from '../../storage/balances/closure.ts'
import { tellCustomerStatus } from '../../storage/customers/customer-rows.ts'
import { changeCase } from '../../storage/onboarding/kyb-cases.ts'
import type { AuditBy } from '../../storage/trail/trail.ts'
import type { ChangeTransaction } from '../commands/changes.ts'
import { readWholeCase } from './case-facts.ts'
import { recordReview } from './case-transaction.ts'
import type { LockedCase } from './move-case.ts'

/**
 * Takes the capability to pay from a customer; where a measure holds against it, that one stays.
 *
 * @param pastDue the pointers of what is past due
 * @returns the customer's version, where its standing has changed
 */
export async function beginLapse(
  tx: ChangeTransaction,
  by: AuditBy,
  locked: LockedCase,
  pastDue: readonly string[],
): Promise<bigint | null> {
  const { client, ids, now } = tx
  const { record } = locked
  const { customerId, nextReviewAt } = record
  await changeCase(client, record, { lapsedAt: now, updatedAt: now })
  await recordReview(tx, by, locked, 'kyb_case.lapsed', { after: { nextReviewAt, pastDue } })
  const standing = await lockCustomer(client, customerId)
  if (standing === null || standing.customerMeasure !== null) return null
  const version = await measureCustomer(client, customerId, { measure: 'restricted', by: 'service', now })
  await tellCustomerStatus(client, {
    ...{ customerId, status: 'restricted', previousStatus: standing.customerStatus, id: ids.next(), now },
  })
  return version
}

/**
 * Gives the capability to pay back to a customer. A measure that staff have taken stays.
 *
 * @returns the customer's version, where its standing has changed
 */
export async function endLapse(tx: ChangeTransaction, by: AuditBy, locked: LockedCase): Promise<bigint | null> {
  const { client, ids, now } = tx
  const { record } = locked
  const { customerId, lapsedAt } = record
  await changeCase(client, record, { lapsedAt: null, updatedAt: now })
  await recordReview(tx, by, locked, 'kyb_case.lapse_ended', { before: { lapsedAt }, after: {} })
  const standing = await lockCustomer(client, customerId)
  if (standing === null || (await readMeasureTaker(client, customerId)) !== 'service') return null
  const version = await measureCustomer(client, customerId, { measure: null, by: 'service', now })
  await tellCustomerStatus(client, {
    ...{ customerId, status: standing.customerStatus, previousStatus: 'restricted', id: ids.next(), now },
  })
  return version
}

/**
 * Ends the lapse of a customer when nothing of its case is past due any more.
 *
 * @returns the customer's version, where its standing has changed
 */
export async function settleLapse(tx: ChangeTransaction, by: AuditBy, locked: LockedCase): Promise<bigint | null> {
  const found = (await readWholeCase(tx.client, locked.record.customerId)) ?? refuseNotFound()
  return lapseOf(found, tx.now) === 'ends' ? await endLapse(tx, by, locked) : null
}

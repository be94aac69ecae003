/** Moves KYB cases, and their customers with them, in the transaction of the cause. */
import { ProblemError, refuseNotFound } from '../../lib/base/problems.ts'
import { moveCase, type CaseTrigger } from '../../lib/onboarding/case-moves.ts'
import type { CaseCustomer, KybCaseRecord } from '../../lib/onboarding/kyb-case.ts'
import { lockCustomer, moveCustomer } from '../../storage/balances/closure.ts'
import { noteApproval, tellCustomerStatus } from '../../storage/customers/customer-rows.ts'
import { homeOfCustomer } from '../../storage/customers/customers.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import { changeCase, findCaseCustomer, lockCase } from '../../storage/onboarding/kyb-cases.ts'
import { writeEvent } from '../../storage/outbox/outbox.ts'
import type { AuditBy } from '../../storage/trail/trail.ts'
import type { ChangeTransaction } from '../commands/changes.ts'
import { closeCustomer } from '../customers/close-customer.ts'

/** A case and its customer, both locked until the transaction ends. */
export interface LockedCase {
  readonly record: KybCaseRecord
  readonly customer: CaseCustomer
  /** The version of the customer that a move of this transaction made, of which all nodes are told after the commit. */
  readonly customerVersion: bigint | null
}

/**
 * Locks a customer, and then its case: the order in which every change of either locks them.
 *
 * @throws ProblemError `not-found` for a customer without a case
 */
export async function lockedCase(client: TransactionClient, customerId: string): Promise<LockedCase> {
  await lockCustomer(client, customerId)
  const record = (await lockCase(client, customerId)) ?? refuseNotFound()
  const customer = (await findCaseCustomer(client, customerId)) ?? refuseNotFound()
  return { record, customer, customerVersion: null }
}

/** The members that a cause writes with its move. */
export type CaseChange = Partial<
  Pick<
    KybCaseRecord,
    | 'applicantId'
    | 'infoRequested'
    | 'result'
    | 'assigneeId'
    | 'firstApproval'
    | 'decision'
    | 'nextReviewAt'
    | 'submittedAt'
    | 'reviewedAt'
  >
>

/**
 * Moves a locked case and, as the table says, its customer; writes both and the events of both. The trail is the
 * caller's.
 *
 * @throws ProblemError `invalid-transition`
 */
export async function applyMove(
  tx: ChangeTransaction,
  by: AuditBy,
  { record, customer, customerVersion }: LockedCase,
  trigger: CaseTrigger,
  change: CaseChange = {},
): Promise<LockedCase> {
  const { client, ids, now } = tx
  const { id, customerId, operatorId } = record
  const moved = moveCase({ status: record.status, customer: customer.status }, trigger)
  if ('refused' in moved) throw new ProblemError(moved.refused)
  const next = await changeCase(client, record, { ...change, status: moved.status, updatedAt: now })
  if (moved.status !== record.status) {
    const { shard } = (await homeOfCustomer(client, customerId))!
    await writeEvent(client, {
      id: ids.next(),
      createdAt: now,
      customerId,
      operatorId,
      shard,
      type: 'kyb_case.status_changed',
      object: 'kyb_case',
      objectId: id,
      status: moved.status,
      previousStatus: record.status,
      amount: null,
      currency: null,
    })
  }
  if (moved.customer === customer.status) return { record: next, customer, customerVersion }
  return {
    record: next,
    customer: { ...customer, status: moved.customer },
    customerVersion: await followCase(tx, by, customerId, { customer, to: moved.customer }),
  }
}

/** Moves a customer with its case. @returns the version of the customer; null for one that is closed */
async function followCase(
  tx: ChangeTransaction,
  by: AuditBy,
  customerId: string,
  { customer, to }: { readonly customer: CaseCustomer; readonly to: CaseCustomer['status'] },
): Promise<bigint | null> {
  const { client, ids, now } = tx
  const previousStatus = customer.status
  if (to === 'closed') {
    await closeCustomer(tx, by, customerId, { previousStatus, endedBy: by.actor.id })
    return null
  }
  const version = await moveCustomer(client, customerId, { to, now })
  if (to === 'active') await noteApproval(client, customerId, now)
  await tellCustomerStatus(client, { customerId, status: to, previousStatus, id: ids.next(), now })
  return version
}

/** A change of a schedule by a caller: its lock, its row, its event and its trail entry. */
import type { AuditVerb } from '../../lib/base/audit-actions.ts'
import { tellStatus, writeTrail } from './change-schedule.ts'
import { laterThan } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import type { BalanceCache } from '../../storage/balances/balance-cache.ts'
import type { Database } from '../../storage/db/database.ts'
import type { OrderNumbers } from '../../storage/payments/order-numbers.ts'
import * as reads from '../../storage/scheduled-payments/scheduled-payment-queries.ts'
import type { RecipientCache } from '../../storage/recipients/recipient-cache.ts'
import * as rows from '../../storage/scheduled-payments/scheduled-payments.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import { checkVersion } from '../../lib/commands/etag.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { ScheduledPayment } from '../../lib/scheduled-payments/scheduled-payment-schema.ts'
import type { IdempotencyRecord, Versioned } from '../../lib/commands/command.ts'

/** The dependencies of commands on schedules. */
export interface ScheduledPaymentDeps {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: { now(): number }
  readonly problemBase: string
  readonly orderNumbers: OrderNumbers
  readonly recipients: RecipientCache
  readonly balances: Pick<BalanceCache, 'find'>
  readonly findIdempotencyRecord: (id: string) => Promise<IdempotencyRecord | null>
}

/** Builds the transaction's connection, with the ids and the time for new rows. */
export const txOf = (
  { ids, clock }: Pick<ScheduledPaymentDeps, 'ids' | 'clock'>,
  client: TransactionClient,
): ApprovalTx => ({
  client,
  ids,
  now: clock.now(),
})

/** A schedule as the API shows it, with its version. */
export const versioned = (record: reads.ScheduleRecord): Versioned<ScheduledPayment> => ({
  version: record.version,
  view: reads.scheduleJson(record),
})

/**
 * Locks a schedule of the caller's customer until the transaction ends.
 *
 * @throws ProblemError `not-found`; `precondition-failed` when it no longer has the `expected` version
 */
export async function lockScheduleOf(
  { client }: ApprovalTx,
  by: Caller,
  id: string,
  expected: number | bigint | null = null,
): Promise<reads.ScheduleRecord> {
  const found = await rows.lockSchedule(client, id)
  if (found === null || found.customerId !== by.tenant.id) refuseNotFound()
  checkVersion(versioned(found), expected)
  return found
}

/** Writes a locked schedule with the caller's change, its event and its trail entry. @returns the schedule as stored */
export async function writeSchedule(
  asked: ApprovalTx,
  by: Caller,
  action: AuditVerb<'scheduled_payment'>,
  before: reads.ScheduleRecord,
  after: reads.ScheduleRecord,
): Promise<reads.ScheduleRecord> {
  const tx = { ...asked, now: laterThan(before.updatedAt, asked.now) }
  await rows.updateSchedule(tx.client, after, tx.now)
  await tellStatus(tx, after, before.state.status)
  const written = (await rows.lockSchedule(tx.client, after.id)) as reads.ScheduleRecord
  await writeTrail(tx, auditCaller(by), action, before, written)
  return written
}

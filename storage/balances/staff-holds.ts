/** Freezing and holds by the operator's staff, under the lock of the balance. Statements only; rules are elsewhere. */
import type { InferEntity } from '@mikro-orm/core'
import type { BalanceStatus } from '../../lib/balances/closing.ts'
import type { PayingBalance, StaffHoldRecord } from '../../lib/balances/staff-hold.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { LifeStatus } from '../../lib/customers/status.ts'
import { plainArrayOrNull } from '../db/array-literal.ts'
import { entitiesOf } from '../db/entities.ts'
import type { Queries, TransactionClient } from '../db/transaction.ts'
import { StaffHold } from './staff-hold-entity.ts'
import { paysNothing, wakePaymentQueues } from './stopped-balances.ts'

/** A balance as staff change it. Amounts are minor units. */
export interface StaffBalance {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly currency: string
  readonly status: BalanceStatus
  readonly customerStatus: LifeStatus
  readonly available: bigint
  readonly version: bigint
}

/** Locks a balance of an operator until the transaction ends; null when the balance is not the operator's. */
export async function lockBalanceOfOperator(
  client: TransactionClient,
  operatorId: string,
  id: string,
): Promise<StaffBalance | null> {
  const {
    rows: [row],
  } = await client.query<{
    id: string
    customer_id: string
    operator_id: string
    shard: number
    currency: string
    status: BalanceStatus
    customer_status: LifeStatus
    available: string
    version: string
  }>({
    name: 'lock_balance_of_operator',
    values: [id, operatorId],
    text: `select b.id, b.customer_id, b.operator_id, b.shard, b.currency, b.status, b.customer_status, b.posted - b.held as available, b.version
      from balance b where b.id = $1 and b.operator_id = $2 for update of b`,
  })
  return row === undefined
    ? null
    : {
        id: row.id,
        customerId: row.customer_id,
        operatorId: row.operator_id,
        shard: row.shard,
        currency: row.currency,
        status: row.status,
        customerStatus: row.customer_status,
        available: BigInt(row.available),
        version: BigInt(row.version),
      }
}

/**
 * Freezes or unfreezes a locked balance. Its version moves, so a debit that an actor of any node decides on the state
 * before is decided again and refused. The end of a freeze wakes the queues of payments on all nodes.
 */
export async function setFrozen(
  client: TransactionClient,
  id: string,
  { status, now }: { readonly status: 'active' | 'frozen' | 'closing'; readonly now: number },
): Promise<void> {
  await client.query({
    name: 'set_frozen',
    values: [id, status, timestamp(now)],
    text: 'update balance set status = $2, version = version + 1, updated_at = greatest(updated_at, $3::timestamptz) where id = $1',
  })
  if (status === 'active') await wakePaymentQueues(client)
}

/** Reads what may stop the payments of a balance, as it is in the transaction; null when there is no such balance. */
export async function payingBalance(client: TransactionClient, id: string): Promise<PayingBalance | null> {
  const { rows } = await client.query<PayingBalance>({
    name: 'paying_balance',
    values: [id],
    text: 'select status, customer_status as "customerStatus", customer_measure as "customerMeasure" from balance where id = $1',
  })
  return rows[0] ?? null
}

/**
 * Locks balances whose money moves in this transaction, in the order in which commits lock them, and reads what may stop
 * them: a freeze or a measure of the same moment has either ended before or waits for the transaction.
 */
export async function lockPaying(
  client: TransactionClient,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PayingBalance>> {
  const { rows } = await client.query<PayingBalance & { readonly id: string }>({
    name: 'lock_paying',
    values: [ids],
    text: `select id, status, customer_status as "customerStatus", customer_measure as "customerMeasure" from balance
      where id = any($1::uuid[]) order by id for update`,
  })
  return new Map(rows.map(({ id, ...paying }) => [id, paying]))
}

/** Reads one of the balances that stop a bulk payment which waits for approval; null when there is none. */
export async function stoppedPayer(client: TransactionClient, bulkPaymentId: string): Promise<PayingBalance | null> {
  const { rows } = await client.query<PayingBalance>({
    name: 'stopped_payer',
    values: [bulkPaymentId],
    // Few customers have a stopped balance; only theirs are looked for among the payments, of which there may be many.
    text: `select b.status, b.customer_status as "customerStatus", b.customer_measure as "customerMeasure" from bulk_payment k join balance b on b.customer_id = k.customer_id and ${paysNothing('b')}
      where k.id = $1 and exists (select from bulk_payment_row r join payment p on p.id = r.payment_id
        where r.bulk_payment_id = k.id and p.paying_balance_id = b.id and p.status = 'pending_approval') limit 1`,
  })
  return rows[0] ?? null
}

/** Adds the row of a hold that staff have placed, and tells the hold when it ends by itself. */
export async function insertStaffHold(
  client: TransactionClient,
  hold: Omit<StaffHoldRecord, 'status' | 'version' | 'resolvedAt' | 'releaseReason'>,
): Promise<StaffHoldRecord> {
  const added = await entitiesOf(client, { operatorId: hold.operatorId }).insert(StaffHold, {
    ...hold,
    status: 'active',
  })
  if (hold.expiresAt !== null)
    await client.query({
      name: 'hold_expires',
      values: [hold.id, timestamp(hold.expiresAt)],
      text: 'update hold set expires_at = $2 where id = $1',
    })
  return recordOf(added)
}

/** Locks a hold that staff have placed; null when the operator has none with this id. */
export async function lockStaffHold(
  client: TransactionClient,
  operatorId: string,
  id: string,
): Promise<StaffHoldRecord | null> {
  const found = await entitiesOf(client, { operatorId }).lock(StaffHold, { id })
  return found === null ? null : recordOf(found)
}

/** Reads a hold that staff have placed; null when the operator has none with this id. */
export async function findStaffHold(
  client: Parameters<typeof entitiesOf>[0],
  operatorId: string,
  id: string,
): Promise<StaffHoldRecord | null> {
  const found = await entitiesOf(client, { operatorId }).findOne(StaffHold, { id })
  return found === null ? null : recordOf(found)
}

/** Ends a locked hold. The caller writes the end of the hold itself. */
export async function endStaffHold(
  client: TransactionClient,
  { id, operatorId }: Pick<StaffHoldRecord, 'id' | 'operatorId'>,
  end: { readonly status: 'released' | 'expired'; readonly reason: string | null; readonly now: number },
): Promise<StaffHoldRecord> {
  const entities = entitiesOf(client, { operatorId })
  const found = await entities.get(StaffHold, id)
  found.status = end.status
  found.releaseReason = end.reason
  found.resolvedAt = end.now
  await entities.save()
  return recordOf(found)
}

/**
 * Reads the active holds of these shards (null: of all) that are over at `now` (epoch milliseconds), `max` at most.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function expiredStaffHolds(
  database: Queries,
  { now, owned, max }: { readonly now: number; readonly owned: readonly number[] | null; readonly max: number },
): Promise<readonly { readonly id: string; readonly operatorId: string }[]> {
  const rows = await database.query<[string, string]>({
    name: 'expired_staff_holds',
    values: [timestamp(now), plainArrayOrNull(owned), max],
    text: `select id, operator_id from staff_hold where status = 'active' and expires_at <= $1::timestamptz
      and ($2::smallint[] is null or shard = any($2)) order by expires_at limit $3`,
  })
  return rows.map(([id, operatorId]) => ({ id, operatorId }))
}

function recordOf(row: InferEntity<typeof StaffHold>): StaffHoldRecord {
  return {
    id: row.id,
    balanceId: row.balanceId,
    customerId: row.customerId,
    operatorId: row.operatorId,
    shard: row.shard,
    subjectType: row.subjectType,
    amount: BigInt(row.amount),
    currency: row.currency,
    status: row.status,
    reason: row.reason,
    placedBy: row.placedBy,
    placedByName: row.placedByName,
    releaseReason: row.releaseReason ?? null,
    version: row.version,
    expiresAt: row.expiresAt ?? null,
    resolvedAt: row.resolvedAt ?? null,
    createdAt: row.createdAt,
  }
}

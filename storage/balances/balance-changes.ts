/**
 * Changes of balances by users, under the lock of their rows. Statements only; rules are elsewhere.
 *
 * Written by hand: commits of payments lock and change the same rows, and read no entity.
 */
import type { AccountDetailsStatus } from '../../lib/accounts/details.ts'
import type { BalanceStatus } from '../../lib/balances/closing.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { refuse } from '../../lib/base/problems.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { CONNECTION_FOR_NEW_WORK } from '../providers/provider-connections.ts'

export interface BalanceRecord {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly connectionId: string
  readonly shard: number
  readonly currency: string
  readonly name: string
  readonly type: 'main' | 'sub'
  readonly parentBalanceId: string | null
  readonly status: BalanceStatus
  readonly isDefault: boolean
  readonly posted: bigint
  readonly held: bigint
  readonly lowBalanceThreshold: bigint | null
  readonly metadata: Readonly<Record<string, string>>
  /** Counts the changes by people. */
  readonly version: number
}

interface Row {
  readonly id: string
  readonly customer_id: string
  readonly operator_id: string
  readonly connection_id: string
  readonly shard: number
  readonly currency: string
  readonly name: string
  readonly type: 'main' | 'sub'
  readonly parent_balance_id: string | null
  readonly status: BalanceStatus
  readonly is_default: boolean
  readonly posted: string
  readonly held: string
  readonly low_balance_threshold: string | null
  readonly metadata: Record<string, string>
  readonly terms_version: number
}

const COLUMNS = `b.id, b.customer_id, b.operator_id, b.connection_id, b.shard, b.currency, b.name, b.type, b.parent_balance_id, b.status, b.is_default,
  b.posted, b.held, b.low_balance_threshold, b.metadata, b.terms_version`

function recordOf(row: Row): BalanceRecord {
  return {
    id: row.id,
    customerId: row.customer_id,
    operatorId: row.operator_id,
    connectionId: row.connection_id,
    shard: row.shard,
    currency: row.currency,
    name: row.name,
    type: row.type,
    parentBalanceId: row.parent_balance_id,
    status: row.status,
    isDefault: row.is_default,
    posted: BigInt(row.posted),
    held: BigInt(row.held),
    lowBalanceThreshold: row.low_balance_threshold === null ? null : BigInt(row.low_balance_threshold),
    metadata: row.metadata,
    version: row.terms_version,
  }
}

/**
 * Locks the balance and all others of its customer and currency, oldest first, until the transaction ends; none when
 * the balance is not the customer's.
 */
export async function lockSiblings(
  client: TransactionClient,
  customerId: string,
  id: string,
): Promise<readonly BalanceRecord[]> {
  const { rows } = await client.query<Row>({
    name: 'lock_siblings',
    values: [customerId, id],
    text: `select ${COLUMNS} from balance b where b.customer_id = $1 and b.currency = (select currency from balance where id = $2 and customer_id = $1)
      order by b.id for update of b`,
  })
  return rows.map(recordOf)
}

/** Locks one balance of a customer; null when the balance is not the customer's. */
export async function lockOneBalance(
  client: TransactionClient,
  customerId: string,
  id: string,
): Promise<BalanceRecord | null> {
  const {
    rows: [row],
  } = await client.query<Row>({
    name: 'lock_balance_of_customer',
    values: [customerId, id],
    text: `select ${COLUMNS} from balance b where b.id = $2 and b.customer_id = $1 for update of b`,
  })
  return row === undefined ? null : recordOf(row)
}

/** Locks the balances of a customer that are not closed, in the order of the commit's locks. */
export async function lockOpenBalances(
  client: TransactionClient,
  customerId: string,
): Promise<readonly BalanceRecord[]> {
  const { rows } = await client.query<Row>({
    name: 'lock_open_balances',
    values: [customerId],
    text: `select ${COLUMNS} from balance b where b.customer_id = $1 and b.status <> 'closed' order by b.id for update of b`,
  })
  return rows.map(recordOf)
}

export interface NewBalance {
  readonly id: string
  readonly customerId: string
  readonly currency: string
  readonly name: string
  readonly parentBalanceId: string | null
  readonly metadata: Readonly<Record<string, string>>
  readonly now: number
}

/**
 * Opens a balance on its parent's connection, or without a parent on the connection for new work. The first main balance
 * in a currency is its default. The caller must hold the lock of the customer.
 *
 * @throws ProblemError `service-unavailable` while there is no such connection
 */
export async function insertBalance(
  client: TransactionClient,
  { id, customerId, currency, name, parentBalanceId, metadata, now }: NewBalance,
): Promise<void> {
  const { rowCount } = await client.query({
    name: 'insert_balance',
    text: `insert into balance (id, customer_id, operator_id, connection_id, shard, currency, name, type, parent_balance_id, status, customer_status, customer_measure, is_default, metadata, created_at, updated_at)
      select $1, c.id, c.operator_id, k.id, c.shard, $3, $4, case when $5::uuid is null then 'main' else 'sub' end, $5, 'active', c.status, c.measure,
        $5::uuid is null and not exists (select from balance o where o.customer_id = c.id and o.currency = $3 and o.is_default), $6, $7, $7
      from customer c cross join lateral (select coalesce((select p.connection_id from balance p where p.id = $5), ${CONNECTION_FOR_NEW_WORK}) as id) k
      where c.id = $2 and k.id is not null`,
    values: [id, customerId, currency, name, parentBalanceId, JSON.stringify(metadata), timestamp(now)],
  })
  if (rowCount === 0) refuse('service-unavailable', 'No connection to a banking partner is active.')
}

/** The fields of a balance that users may change. */
export type BalanceChange = Pick<BalanceRecord, 'name' | 'isDefault' | 'lowBalanceThreshold' | 'metadata'>

/** Changes a locked balance. Its version moves, so that no actor goes on with its cached state. */
export async function updateBalance(
  client: TransactionClient,
  id: string,
  change: BalanceChange,
  now: number,
): Promise<void> {
  await client.query({
    name: 'update_balance',
    text: `update balance set name = $2, is_default = $3, low_balance_threshold = $4, metadata = $5, version = version + 1, terms_version = terms_version + 1,
      updated_at = greatest(updated_at, $6::timestamptz)
      where id = $1`,
    values: [
      id,
      change.name,
      change.isDefault,
      change.lowBalanceThreshold?.toString() ?? null,
      JSON.stringify(change.metadata),
      timestamp(now),
    ],
  })
}

/** Sets whether a locked balance is the default of its currency. */
export async function setDefault(
  client: TransactionClient,
  id: string,
  isDefault: boolean,
  now: number,
): Promise<void> {
  await client.query({
    name: 'set_default_balance',
    values: [id, isDefault, timestamp(now)],
    text: `update balance set is_default = $2, version = version + 1, terms_version = terms_version + 1,
      updated_at = greatest(updated_at, $3::timestamptz) where id = $1`,
  })
}

/** Moves a locked balance to `closing` or `closed`. Either way it stops being the default of its currency. */
export async function closeBalance(
  client: TransactionClient,
  id: string,
  status: 'closing' | 'closed',
  now: number,
): Promise<void> {
  await client.query({
    name: 'close_balance',
    values: [id, status, timestamp(now)],
    text: `update balance set status = $2, is_default = false, closed_at = case when $2 = 'closed' then $3::timestamptz end, version = version + 1, terms_version = terms_version + 1,
      updated_at = greatest(updated_at, $3::timestamptz) where id = $1`,
  })
}

/**
 * Sets the status of a balance's account details. No decision about money rests on that status, so the balance's
 * version stays.
 */
export async function setDetailsStatus(
  client: TransactionClient,
  id: string,
  status: AccountDetailsStatus | null,
  now: number,
): Promise<void> {
  await client.query({
    name: 'set_details_status',
    values: [id, status, timestamp(now)],
    text: 'update balance set details_status = $2, updated_at = greatest(updated_at, $3::timestamptz) where id = $1 and details_status is distinct from $2',
  })
}

/** Counts the balances of a customer that are not closed. */
export async function countOpenBalances(client: TransactionClient, customerId: string): Promise<number> {
  const { rows } = await client.query<{ open: number }>({
    name: 'count_open_balances',
    values: [customerId],
    text: `select count(*)::int as open from balance where customer_id = $1 and status <> 'closed'`,
  })
  return rows[0]!.open
}

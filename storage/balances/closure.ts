/** The closure of a customer: requested, revoked and completed. Statements only; rules are elsewhere. */
import { timestamp } from '../../lib/base/clock.ts'
import type { CustomerStanding, LifeStatus, MeasureTaken, MeasureTaker } from '../../lib/customers/status.ts'
import type { Database } from '../db/database.ts'
import { fenceBalances } from '../commit/fences.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { wakePaymentQueues } from './stopped-balances.ts'

/** Locks a customer until the transaction ends and reads its standing; null when the customer does not exist. */
export async function lockCustomer(client: TransactionClient, id: string): Promise<CustomerStanding | null> {
  const {
    rows: [row],
  } = await client.query<CustomerStanding>({
    name: 'lock_customer',
    text: 'select status as "customerStatus", measure as "customerMeasure" from customer where id = $1 for update',
    values: [id],
  })
  return row ?? null
}

/**
 * Moves a locked customer to another status; payments that waited for it to be active go on. Decisions of its balances
 * that rest on the old status can no longer commit, so a later `openBusiness` counts everything.
 *
 * @returns the version of the customer, of which all nodes are told
 */
export async function moveCustomer(
  client: TransactionClient,
  id: string,
  { to, now }: { readonly to: LifeStatus; readonly now: number },
): Promise<bigint> {
  const { rows } = await client.query<{ version: string }>({
    name: 'move_customer',
    text: 'update customer set status = $2, version = version + 1, updated_at = $3 where id = $1 returning version',
    values: [id, to, timestamp(now)],
  })
  await copyStanding(client, id)
  if (to === 'active') await wakePaymentQueues(client)
  return BigInt(rows[0]!.version)
}

/** Reads what has taken the measure against a locked customer; null when there is no measure. */
export async function readMeasureTaker(client: TransactionClient, id: string): Promise<MeasureTaker | null> {
  const { rows } = await client.query<{ measure_by: MeasureTaker | null }>({
    name: 'measure_taker',
    text: 'select measure_by from customer where id = $1',
    values: [id],
  })
  return rows[0]?.measure_by ?? null
}

/**
 * Writes the measure against a locked customer, and what takes it; null ends it, and payments that waited for the end go
 * on. Decisions of its balances that rest on the old standing can no longer commit.
 *
 * @returns the version of the customer, of which all nodes are told
 */
export async function measureCustomer(
  client: TransactionClient,
  id: string,
  { measure, by, now }: { readonly measure: MeasureTaken | null; readonly by: MeasureTaker; readonly now: number },
): Promise<bigint> {
  const { rows } = await client.query<{ version: string }>({
    name: 'measure_customer',
    text: 'update customer set measure = $2, measure_by = $4, version = version + 1, updated_at = $3 where id = $1 returning version',
    values: [id, measure, timestamp(now), measure === null ? null : by],
  })
  await copyStanding(client, id)
  if (measure === null) await wakePaymentQueues(client)
  return BigInt(rows[0]!.version)
}

/** Gives the balances of a customer its standing as their next version. */
async function copyStanding(client: TransactionClient, id: string): Promise<void> {
  await fenceBalances(client, [id])
  await client.query({
    name: 'standing_of_balances',
    text: `update balance b set customer_status = c.status, customer_measure = c.measure from customer c
      where c.id = $1 and b.customer_id = c.id`,
    values: [id],
  })
}

/** Moves the balances of a locked customer with its closure, or back. */
export async function moveBalances(
  client: TransactionClient,
  id: string,
  { from, to, now }: { readonly from: 'active' | 'closing'; readonly to: 'active' | 'closing'; readonly now: number },
): Promise<void> {
  await client.query({
    name: 'move_balances',
    text: 'update balance set status = $3, updated_at = $4 where customer_id = $1 and status = $2',
    values: [id, from, to, timestamp(now)],
  })
}

/** SQL of the open business that keeps a customer from closing, one number each. */
const OPEN = `select
    (select count(*) from payment where customer_id = $1 and status in ('pending_approval', 'scheduled', 'processing', 'on_hold', 'exception'))::int as payments,
    (select count(*) from transfer where customer_id = $1 and status in ('processing', 'on_hold', 'exception'))::int as transfers,
    (select count(*) from exchange where customer_id = $1 and status not in ('completed', 'failed', 'rejected', 'cancelled', 'expired', 'closed_out'))::int as exchanges,
    (select count(*) from mandate where customer_id = $1 and status in ('pending', 'submitted', 'active', 'suspended'))::int as mandates,
    (select count(*) from collection where customer_id = $1 and status in ('pending', 'submitted', 'exception'))::int as collections`

export interface OpenBusiness {
  readonly payments: number
  readonly transfers: number
  readonly exchanges: number
  /** Mandates that are not over, and collections that may still bring money. */
  readonly mandates: number
  readonly collections: number
}

export async function openBusiness(client: TransactionClient, customerId: string): Promise<OpenBusiness> {
  const { rows } = await client.query<OpenBusiness>({ name: 'open_business', text: OPEN, values: [customerId] })
  return rows[0]!
}

/**
 * Whether money of a customer is under review. The customer must not learn of the review, so its closure waits without
 * a message.
 */
export async function hasMoneyUnderReview(client: TransactionClient, customerId: string): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'money_under_review',
    text: `select from incoming_payment where customer_id = $1 and status = 'under_review' limit 1`,
    values: [customerId],
  })
  return rowCount !== 0
}

// ── Closure
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Writes a customer's request for closure; the poller checks from now on whether the customer can be closed. */
export async function insertClosure(
  client: TransactionClient,
  {
    customerId,
    by,
    now,
  }: {
    readonly customerId: string
    readonly by: string
    readonly now: number
  },
): Promise<void> {
  await client.query({
    name: 'insert_closure',
    values: [customerId, by, timestamp(now)],
    text: `insert into customer_closure (customer_id, shard, requested_by, requested_at, due_at) select id, shard, $2, $3, $3 from customer where id = $1
      on conflict (customer_id) do nothing`,
  })
}

/** Deletes a request for closure. @returns whether the closing of the customer's account details had begun */
export async function deleteClosure(client: TransactionClient, customerId: string): Promise<boolean> {
  const {
    rows: [row],
  } = await client.query<{ begun: boolean }>({
    name: 'delete_closure',
    text: 'delete from customer_closure where customer_id = $1 returning begun_at is not null as begun',
    values: [customerId],
  })
  return row?.begun ?? false
}

/** Records that the closing of the customer's account details has begun. */
export async function noteBegun(client: TransactionClient, customerId: string, now: number): Promise<void> {
  await client.query({
    name: 'closure_begun',
    text: 'update customer_closure set begun_at = coalesce(begun_at, $2) where customer_id = $1',
    values: [customerId, timestamp(now)],
  })
}

export interface DueClosure {
  readonly customerId: string
  readonly requestedBy: string
}

// A closure is checked every tenth of its age: at the earliest after a second, at the latest after a minute.
const TAKE = `with due as materialized (
    select customer_id from customer_closure where due_at <= $1::timestamptz and ($2::smallint[] is null or shard = any($2)) order by due_at limit $3 for update skip locked)
  update customer_closure c set due_at = $1::timestamptz + least(greatest(($1::timestamptz - c.requested_at) / 10, interval '1 second'), interval '1 minute')
  from due where c.customer_id = due.customer_id returning c.customer_id, c.requested_by`

/** Takes the closures of these shards (null: all) whose check is due. */
export async function takeDueClosures(
  database: Database,
  { now, shards, max }: { readonly now: number; readonly shards: string | null; readonly max: number },
): Promise<readonly DueClosure[]> {
  const rows = await database.query<[string, string]>({
    name: 'take_due_closures',
    text: TAKE,
    values: [timestamp(now), shards, max],
  })
  return rows.map(([customerId, requestedBy]) => ({ customerId, requestedBy }))
}

/** Closes a locked customer: its keys, memberships and webhook endpoints stop working. @returns its endpoints */
export async function endCustomer(
  client: TransactionClient,
  { customerId, by, now }: { readonly customerId: string; readonly by: string; readonly now: number },
): Promise<readonly string[]> {
  const at = timestamp(now)
  await client.query({
    name: 'end_customer',
    text: 'update customer set closed_at = $2, measure = null, measure_by = null where id = $1',
    values: [customerId, at],
  })
  await moveCustomer(client, customerId, { to: 'closed', now })
  await client.query({
    name: 'end_keys_of_customer',
    values: [customerId, by, at],
    text: `update api_key set status = 'revoked', revoked_at = $3, revoked_by = $2, version = version + 1 where tenant_id = $1 and status in ('active', 'rotating')`,
  })
  await client.query({
    name: 'end_members_of_customer',
    values: [customerId, at],
    text: `update membership set status = 'removed', is_primary_owner = false, version = version + 1, updated_at = $2 where tenant_id = $1 and status <> 'removed'`,
  })
  await client.query({
    name: 'end_invitations_of_customer',
    values: [customerId],
    text: `update invitation set status = 'revoked', version = version + 1 where customer_id = $1 and status = 'pending'`,
  })
  const { rows } = await client.query<{ id: string }>({
    name: 'end_endpoints_of_customer',
    values: [customerId, at],
    text: `update webhook_endpoint set status = 'disabled', disabled_reason = 'owner', status_changed_at = $2, updated_at = $2, version = version + 1
      where tenant_id = $1 and status <> 'disabled' returning id`,
  })
  await client.query({
    name: 'end_closure',
    text: 'delete from customer_closure where customer_id = $1',
    values: [customerId],
  })
  return rows.map(({ id }) => id)
}

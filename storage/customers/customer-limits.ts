/**
 * Payment limits of customers and members as rows: the customer's own limits, the operator's limits for its type, and
 * the used amounts.
 */
import {
  limitsJson,
  limitsOf,
  periodsOf,
  type CurrencyLimits,
  type LimitsJson,
  type Used,
} from '../../lib/customers/limits.ts'
import type { CustomerType } from '../../lib/customers/types.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { fenceBalances } from '../commit/fences.ts'
import { idAt } from '../db/page.ts'
import type { TransactionClient } from '../db/transaction.ts'

/** The limits of a customer, and their source. */
export interface LimitsRecord {
  readonly version: number
  readonly source: 'customer' | 'operator' | 'none'
  readonly limits: readonly CurrencyLimits[]
  readonly updatedBy: string | null
  readonly updatedAt: number | null
}

/** Reads the limits in effect for a customer; null when the operator has no such customer. */
export async function readLimits(
  client: Pick<TransactionClient, 'query'>,
  customerId: string,
): Promise<LimitsRecord | null> {
  const {
    rows: [row],
  } = await client.query<{
    own: LimitsJson | null
    fallback: LimitsJson | null
    version: number | null
    updated_by: string | null
    own_ms: number | null
    fallback_ms: number | null
  }>({
    name: 'read_limits',
    text: `select l.terms as own, d.terms as fallback, l.version, l.updated_by, (extract(epoch from l.updated_at) * 1000)::float8 as own_ms,
        (extract(epoch from d.updated_at) * 1000)::float8 as fallback_ms
      from customer c left join customer_limit l on l.customer_id = c.id
        left join operator_limit d on d.operator_id = c.operator_id and d.customer_type = c.customer_type
      where c.id = $1`,
    values: [customerId],
  })
  if (row === undefined) return null
  const terms = row.own ?? row.fallback
  return {
    version: row.version ?? 0,
    source: row.own !== null ? 'customer' : row.fallback !== null ? 'operator' : 'none',
    limits: terms === null ? [] : limitsOf(terms),
    updatedBy: row.updated_by,
    updatedAt: row.own_ms ?? row.fallback_ms,
  }
}

/** Reads the amounts that a customer has paid out in the day and month of a moment, by currency. */
export async function readUsed(
  client: Pick<TransactionClient, 'query'>,
  customerId: string,
  now: number,
): Promise<ReadonlyMap<string, { readonly day: Used; readonly month: Used }>> {
  const { day, month } = periodsOf(now)
  const { rows } = await client.query<{ currency: string; day: string; month: string }>({
    name: 'read_used',
    text: `select currency, coalesce(sum(amount) filter (where period_kind = 'day'), 0) as day, coalesce(sum(amount) filter (where period_kind = 'month'), 0) as month
      from outflow where customer_id = $1 and spender_id = $1 and (period_kind, period_start) in (('day', $2::date), ('month', $3::date)) group by currency`,
    values: [customerId, day, month],
  })
  return new Map(
    rows.map((row) => [
      row.currency,
      { day: { start: day, amount: BigInt(row.day) }, month: { start: month, amount: BigInt(row.month) } },
    ]),
  )
}

/** Sets or removes a customer's own limits. Amounts paid out earlier in the period count. */
export async function writeLimits(
  client: TransactionClient,
  {
    customerId,
    limits,
    by,
    now,
  }: {
    readonly customerId: string
    readonly limits: readonly CurrencyLimits[] | null
    readonly by: string
    readonly now: number
  },
): Promise<void> {
  // The operator is share-locked: a customer that falls back to the operator's limits must not do so while those
  // change.
  await client.query({
    name: 'share_operator',
    text: 'select 1 from operator o join customer c on c.operator_id = o.id where c.id = $1 for share of o',
    values: [customerId],
  })
  if (limits === null)
    await client.query({
      name: 'delete_limits',
      text: 'delete from customer_limit where customer_id = $1',
      values: [customerId],
    })
  else {
    await client.query({
      name: 'write_limits',
      text: `insert into customer_limit (customer_id, version, terms, updated_by, updated_at) values ($1, 1, $2, $3, $4)
        on conflict (customer_id) do update set version = customer_limit.version + 1, terms = excluded.terms, updated_by = excluded.updated_by, updated_at = excluded.updated_at`,
      values: [customerId, JSON.stringify(limitsJson(limits)), by, timestamp(now)],
    })
  }
  // From here on no payment of the customer commits before this transaction does, so the recount is complete.
  await fenceBalances(client, [customerId])
  const effective = await readLimits(client, customerId)
  for (const one of effective?.limits ?? []) await recount(client, [customerId], null, one, now)
}

/** Reads the operator's limits for customers without limits of their own, by type; a type without limits is absent. */
export async function readDefaultLimits(
  client: Pick<TransactionClient, 'query'>,
  operatorId: string,
): Promise<ReadonlyMap<CustomerType, readonly CurrencyLimits[]>> {
  const { rows } = await client.query<{ customer_type: CustomerType; terms: LimitsJson }>({
    name: 'read_default_limits',
    text: 'select customer_type, terms from operator_limit where operator_id = $1',
    values: [operatorId],
  })
  return new Map(rows.map(({ customer_type, terms }) => [customer_type, limitsOf(terms)]))
}

/**
 * Sets or removes the limits of customers of a type; customers with limits of their own keep them. Amounts paid out
 * earlier in the period count. The caller must hold the lock of the operator.
 */
export async function writeDefaultLimits(
  client: TransactionClient,
  {
    operatorId,
    type,
    limits,
    now,
  }: {
    readonly operatorId: string
    readonly type: CustomerType
    readonly limits: readonly CurrencyLimits[] | null
    readonly now: number
  },
): Promise<void> {
  if (limits === null)
    await client.query({
      name: 'delete_default_limits',
      text: 'delete from operator_limit where operator_id = $1 and customer_type = $2',
      values: [operatorId, type],
    })
  else {
    await client.query({
      name: 'write_default_limits',
      text: `insert into operator_limit (operator_id, customer_type, terms, updated_at) values ($1, $2, $3, $4)
        on conflict (operator_id, customer_type) do update set terms = excluded.terms, updated_at = excluded.updated_at`,
      values: [operatorId, type, JSON.stringify(limitsJson(limits)), timestamp(now)],
    })
  }
  const { rows } = await client.query<{ id: string }>({
    name: 'customers_by_default_limits',
    values: [operatorId, type],
    text: `select c.id from customer c where c.operator_id = $1 and c.customer_type = $2
      and not exists (select from customer_limit l where l.customer_id = c.id) order by c.id`,
  })
  const customerIds = rows.map(({ id }) => id)
  await fenceBalances(client, customerIds)
  for (const one of limits ?? []) await recount(client, customerIds, null, one, now)
}

/** Sets or removes a member's limits. Amounts paid out in the member's name earlier in the period count. */
export async function writeMemberLimits(
  client: TransactionClient,
  {
    customerId,
    membershipId,
    userId,
    limits,
    now,
  }: {
    readonly customerId: string
    readonly membershipId: string
    readonly userId: string
    readonly limits: readonly CurrencyLimits[] | null
    readonly now: number
  },
): Promise<void> {
  await client.query({
    name: 'write_member_limits',
    text: 'update membership set limits = $2 where id = $1',
    values: [membershipId, limits === null ? null : JSON.stringify(limitsJson(limits))],
  })
  await fenceBalances(client, [customerId])
  for (const one of limits ?? []) await recount(client, [customerId], userId, one, now)
}

/**
 * Recounts from the payments the amounts paid out in the running day and month, by all members or in the name of one.
 */
async function recount(
  client: TransactionClient,
  customerIds: readonly string[],
  spenderId: string | null,
  { currency, daily, monthly }: CurrencyLimits,
  now: number,
): Promise<void> {
  const periods = periodsOf(now)
  for (const [kind, start, limit] of [
    ['day', periods.day, daily],
    ['month', periods.month, monthly],
  ] as const) {
    if (limit === null) continue
    const from = `${start}T00:00:00.000Z`
    await client.query({
      name: 'recount_outflow',
      text: `insert into outflow (customer_id, spender_id, currency, period_kind, period_start, amount, max_amount)
        select c.id, coalesce($8::uuid, c.id), $2, $3, $4::date, s.amount, greatest(s.amount, $5::bigint) from unnest($1::uuid[]) c(id) cross join lateral (
          select coalesce(sum(coalesce(x.sell_amount, p.amount)), 0)::bigint as amount from payment p
          -- Of a payment whose money is bought, what is sold counts.
          left join exchange x on x.payment_id = p.id
          where p.customer_id = c.id and p.id >= $6::uuid and coalesce(x.sell_currency, p.currency) = $2 and p.created_at >= $7::timestamptz
            and p.status not in ('draft', 'scheduled', 'failed', 'rejected', 'cancelled')
            -- Who set its amount, as spenderOf has it (lib/payments/payment.ts).
            and ($8::uuid is null or coalesce(p.details::jsonb ->> 'spenderId', p.details::jsonb #>> '{submitted,by}', p.created_by::text) = $8::text)) s
        on conflict (customer_id, spender_id, currency, period_kind, period_start) do update set amount = excluded.amount, max_amount = excluded.max_amount`,
      // An id is made a moment before its row, so ids are searched from five minutes earlier.
      values: [customerIds, currency, kind, start, limit.toString(), idAt(Date.parse(from) - 300_000), from, spenderId],
    })
  }
}

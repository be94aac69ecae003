/** The sections of the commit statement for amounts that count against the limits of customers and members. */
import type { Outflow } from '../../lib/customers/limits.ts'
import type { OutflowReturn } from '../../lib/payments/effects.ts'
import { gathered, rowsOf, section, type Section } from '../commit/section.ts'

/**
 * Adds outflow to one day or month of a customer or member: one row for each, because a statement cannot write a row
 * twice. Rows are written in the order of their keys.
 */
export const OUTFLOWS: Section<Outflow> = gathered(
  'outflows',
  {
    ...section<Outflow>(
      'outflow',
      {
        customerId: 'uuid',
        spenderId: 'uuid',
        currency: 'text',
        periodKind: 'text',
        periodStart: 'date',
        amount: 'bigint',
        maxAmount: 'bigint',
      },
      (source) => `outflow_written as (
  insert into outflow as o (customer_id, spender_id, currency, period_kind, period_start, amount, max_amount)
  select u.customer_id, u.spender_id, u.currency, u.period_kind, u.period_start, u.amount, u.max_amount from ${source} where (select ok from verdict)
  on conflict (customer_id, spender_id, currency, period_kind, period_start) do update set amount = o.amount + excluded.amount, max_amount = excluded.max_amount)`,
    ),
    keyed: 'sorted' as const,
  },
  (outflow, batch) => {
    const outflows = batch.keyed(OUTFLOWS)
    const key = `${outflow.customerId} ${outflow.spenderId} ${outflow.currency} ${outflow.periodKind} ${outflow.periodStart}`
    const known = outflows.get(key)
    outflows.set(key, known === undefined ? outflow : { ...outflow, amount: known.amount + outflow.amount })
  },
)

export const OUTFLOW_RETURNS = rowsOf(
  'outflowReturns',
  section<OutflowReturn>(
    'outflow_return',
    { customerId: 'uuid', spenderId: 'uuid', currency: 'text', day: 'date', amount: 'bigint' },
    (source, bound) => `outflow_returned_written as (
  update outflow o set amount = greatest(o.amount - r.amount, 0)
  from (select u.customer_id, s.spender_id, u.currency, k.kind, k.start, sum(u.amount)::bigint as amount from ${source}
    cross join lateral (select u.customer_id union select u.spender_id) s(spender_id)
    cross join lateral (values ('day', u.day), ('month', date_trunc('month', u.day)::date)) k(kind, start) group by 1, 2, 3, 4, 5) r
  where o.customer_id = r.customer_id and o.spender_id = r.spender_id and o.currency = r.currency and o.period_kind = r.kind and o.period_start = r.start
    and o.customer_id = any(${bound('customer_id')}) and (select ok from verdict))`,
  ),
)

/**
 * Whether an error means that a commit would have exceeded a limit: another balance or node has used the remaining
 * amount since it was read. As with any stale decision, nothing was written, and the command is decided again on
 * current facts.
 */
export function isBeyondLimit(error: unknown): boolean {
  return (error as { readonly constraint?: unknown } | null)?.constraint === 'outflow_within_limit'
}

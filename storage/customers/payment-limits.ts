/**
 * Limits as balances cache them: the amounts that customers and their members may pay out, and the amounts they have
 * paid out.
 */
import {
  limitsOf,
  NOTHING,
  type CurrencyLimits,
  type LimitsJson,
  type LimitState,
  type PaymentLimits,
} from '../../lib/customers/limits.ts'
import { plainArray } from '../db/array-literal.ts'
import type { SqlStatement } from '../db/connection.ts'

/** SQL on a balance `b`: its customer's limits, or else the operator's limits for customers of that type. */
export const EFFECTIVE_LIMITS = `coalesce((select l.terms from customer_limit l where l.customer_id = b.customer_id),
      (select d.terms from operator_limit d where d.operator_id = b.operator_id and d.customer_type = (select c.customer_type from customer c where c.id = b.customer_id)))`

/** SQL on a balance `b`: the limits of members by user id; null where no member has limits. */
export const MEMBER_LIMITS = `(select json_object_agg(m.user_id, m.limits) from membership m where m.tenant_id = b.customer_id and m.limits is not null)`

/** A balance whose payments have limits, with the terms of its row. */
export interface LimitedBalance {
  readonly id: string
  readonly customerId: string
  readonly currency: string
  readonly customerTerms: LimitsJson | null
  readonly memberTerms: Readonly<Record<string, LimitsJson>> | null
}

/** Limits of one member, or of the customer, for one balance. */
interface Limited {
  readonly balance: LimitedBalance
  readonly spenderId: string
  readonly limits: CurrencyLimits
}

/**
 * The newest day and month of each. Older ones no longer count; a period ahead of the clock counts once the clock
 * reaches it.
 */
const USED = `select u.nth, k.kind, o.period_start::text, o.amount
  from unnest($1::uuid[], $2::uuid[], $3::text[]) with ordinality u(customer_id, spender_id, currency, nth) cross join (values ('day'), ('month')) k(kind)
  cross join lateral (select o.period_start, o.amount from outflow o
    where o.customer_id = u.customer_id and o.spender_id = u.spender_id and o.currency = u.currency and o.period_kind = k.kind order by o.period_start desc limit 1) o`

/**
 * Reads the limits of balances and the amounts paid out, by the balance's id; a balance whose currency has no limit is
 * absent. A separate read, so that balances without limits do not pay for it.
 */
export async function loadPaymentLimits(
  reader: { query(statement: SqlStatement): Promise<{ rows: unknown[][] }> },
  balances: readonly LimitedBalance[],
): Promise<ReadonlyMap<string, PaymentLimits>> {
  const limited = balances.flatMap(limitedIn)
  if (limited.length === 0) return new Map()
  const { rows } = await reader.query({
    name: 'load_outflows',
    text: USED,
    values: [
      plainArray(limited.map(({ balance }) => balance.customerId)),
      plainArray(limited.map(({ spenderId }) => spenderId)),
      plainArray(limited.map(({ limits }) => limits.currency)),
    ],
  })
  const states = limited.map(({ limits }): LimitState => ({ limits, day: NOTHING, month: NOTHING }))
  for (const [nth, kind, start, amount] of rows as [string, 'day' | 'month', string, string][]) {
    const index = Number(nth) - 1
    states[index] = { ...(states[index] as LimitState), [kind]: { start, amount: BigInt(amount) } }
  }
  const found = new Map<string, { customer: LimitState | null; members: Map<string, LimitState> }>()
  for (const [index, { balance, spenderId }] of limited.entries()) {
    let of = found.get(balance.id)
    if (of === undefined) found.set(balance.id, (of = { customer: null, members: new Map() }))
    if (spenderId === balance.customerId) of.customer = states[index] as LimitState
    else of.members.set(spenderId, states[index] as LimitState)
  }
  return found
}

function limitedIn(balance: LimitedBalance): Limited[] {
  const terms: readonly (readonly [string, LimitsJson])[] = [
    ...(balance.customerTerms === null ? [] : [[balance.customerId, balance.customerTerms] as const]),
    ...Object.entries(balance.memberTerms ?? {}),
  ]
  return terms.flatMap(([spenderId, json]) => {
    const limits = limitsOf(json).find(({ currency }) => currency === balance.currency)
    return limits === undefined ? [] : [{ balance, spenderId, limits }]
  })
}

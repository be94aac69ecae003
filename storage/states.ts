/** What actors remember, read from Postgres: many at once, on the lane's own connection. */
import { limitsOf, type CurrencyLimits, type LimitsJson, type LimitState } from '../lib/customers/limits.ts'
import { termsOf, type PolicyTerms, type TermsJson } from '../lib/approvals/policy.ts'
import type { BalanceState } from '../lib/ledger/balance.ts'
import type { CalendarTerms } from '../lib/payments/business-days.ts'
import { feeRuleOf, type FeeRule, type FeeRuleJson } from '../lib/payments/fees.ts'
import type { PaymentState } from '../lib/payments/payment-moves.ts'
import type { PaymentDetails, PaymentRecall, PaymentStatus } from '../lib/payments/payment.ts'
import { plainArray } from './array-literal.ts'
import { CALENDAR_OF_CONNECTION } from './due-payments.ts'
import { FEES_OF_BALANCE } from './pricing.ts'
import type { Statement } from './connection.ts'
import type { TransactionClient } from './transaction.ts'

interface Reader {
  query(statement: Statement): Promise<{ rows: unknown[][] }>
}

/** Of a balance `b`: its customer's limits, or else those that the operator has for customers of its type. */
const EFFECTIVE_LIMITS = `coalesce((select l.terms from customer_limit l where l.customer_id = b.customer_id),
      (select d.terms from operator_limit d where d.operator_id = b.operator_id and d.customer_type = (select c.customer_type from customer c where c.id = b.customer_id)))`

const BALANCES = `select b.id, b.customer_id, b.operator_id, b.connection_id, b.shard, b.currency, b.name, b.status, b.posted - b.held, b.version,
    (select json_object_agg(p.kind, p.terms) from approval_policy p where p.customer_id = b.customer_id and p.kind in ('payment', 'exchange')), ${EFFECTIVE_LIMITS},
    ${FEES_OF_BALANCE},
    (select ${CALENDAR_OF_CONNECTION} from provider_connection k where k.id = b.connection_id)
  from balance b where b.id = any($1::uuid[]) order by b.id`

/** The states of balances; an id without a row is absent. `lock` holds the rows in the order of their ids (I3). */
export async function loadBalances(reader: Reader, ids: readonly string[], lock: boolean): Promise<Map<string, BalanceState>> {
  const { rows } = await reader.query(lock
    ? { name: 'lock_balances', text: `${BALANCES} for update of b`, values: [plainArray(ids)] }
    : { name: 'load_balances', text: BALANCES, values: [plainArray(ids)] })
  const states = new Map<string, BalanceState>()
  const limited: Limited[] = []
  for (const row of rows as [string, string, string, string, number, string, string, BalanceState['status'], string, string, Policies | null, LimitsJson | null, FeeRuleJson[] | null, CalendarTerms | null][]) {
    const [id, customerId, operatorId, connectionId, shard, currency, name, status, available, version, policies, terms, fees, calendar] = row
    states.set(id, { id, customerId, operatorId, connectionId, shard, currency, name, status, available: BigInt(available), version: BigInt(version),
      policy: enabled(policies?.payment), exchangePolicy: enabled(policies?.exchange ?? policies?.payment), limits: null, fees: fees?.map(feeRuleOf) ?? NO_FEES, calendar })
    const limits = terms === null ? undefined : limitsOf(terms).find((one) => one.currency === currency)
    if (limits !== undefined) limited.push({ id, customerId, limits })
  }
  if (limited.length > 0) {
    const used = await loadUsed(reader, limited)
    for (const { id } of limited) states.set(id, { ...states.get(id) as BalanceState, limits: used.get(id) as LimitState })
  }
  return states
}

const NO_FEES: readonly FeeRule[] = []

/** A customer's policies by kind; one that was never set is absent. */
type Policies = { readonly [kind in 'payment' | 'exchange']?: TermsJson }

const enabled = (policy: TermsJson | undefined): PolicyTerms | null => (policy?.enabled === true ? termsOf(policy) : null)

interface Limited {
  readonly id: string
  readonly customerId: string
  readonly limits: CurrencyLimits
}

/** The newest day and month of each; older ones no longer count, and what is newer than the clock counts when it comes. */
const USED = `select u.nth, k.kind, o.period_start::text, o.amount
  from unnest($1::uuid[], $2::text[]) with ordinality u(customer_id, currency, nth) cross join (values ('day'), ('month')) k(kind)
  cross join lateral (select o.period_start, o.amount from outflow o
    where o.customer_id = u.customer_id and o.currency = u.currency and o.period_kind = k.kind order by o.period_start desc limit 1) o`

/** What was paid out under limits. A look of its own, so that those without limits do not pay for it. */
async function loadUsed(reader: Reader, limited: readonly Limited[]): Promise<Map<string, LimitState>> {
  const { rows } = await reader.query({ name: 'load_outflows', text: USED, values: [plainArray(limited.map(({ customerId }) => customerId)), plainArray(limited.map(({ limits }) => limits.currency))] })
  const nothing = { start: '', amount: 0n }
  const states = new Map(limited.map(({ id, limits }) => [id, { limits, day: nothing, month: nothing } as LimitState]))
  for (const [nth, kind, start, amount] of rows as [string, 'day' | 'month', string, string][]) {
    const { id } = limited[Number(nth) - 1] as Limited
    states.set(id, { ...states.get(id) as LimitState, [kind]: { start, amount: BigInt(amount) } })
  }
  return states
}

const PAYMENTS = `select id, customer_id, operator_id, connection_id, shard, number, status, version, sent_at is not null,
    source_balance_id, hold_id, currency, amount, fee, rail, details, (extract(epoch from created_at) * 1000)::float8, recall
  from payment where id = any($1::uuid[]) order by id`

/** The states of payments; an id without a row is absent. */
export async function loadPayments(reader: Reader, ids: readonly string[], lock: boolean): Promise<Map<string, PaymentState>> {
  const { rows } = await reader.query(lock
    ? { name: 'lock_payments', text: `${PAYMENTS} for update`, values: [plainArray(ids)] }
    : { name: 'load_payments', text: PAYMENTS, values: [plainArray(ids)] })
  const states = new Map<string, PaymentState>()
  for (const row of rows as [string, string, string, string, number, string, PaymentStatus, number, boolean, string, string, string, string, string, string, string, number, string | null][]) {
    const [id, customerId, operatorId, connectionId, shard, number, status, version, sent, sourceBalanceId, holdId, currency, amount, fee, rail, text, createdAt, recall] = row
    const details = JSON.parse(text) as PaymentDetails
    states.set(id, { id, customerId, operatorId, connectionId, shard, number, status, version, sent, sourceBalanceId, holdId, currency,
      amount: BigInt(amount), fee: BigInt(fee), rail, reference: details.reference, recipientName: details.recipient.name, createdAt: details.heldAt ?? createdAt,
      recall: recall === null ? null : JSON.parse(recall) as PaymentRecall, charges: details.charges, conversion: details.conversion })
  }
  return states
}

/** The state of one payment, read within a transaction; null when there is none. */
export async function readPayment(client: TransactionClient, id: string): Promise<PaymentState | null> {
  const reader: Reader = { query: async (statement) => await client.query({ ...statement, rowMode: 'array' }) as unknown as { rows: unknown[][] } }
  return (await loadPayments(reader, [id], false)).get(id) ?? null
}

/** What actors remember, read from Postgres: many at once, on the lane's own connection. */
import type { LimitsJson } from '../lib/customers/limits.ts'
import { ruleInEffect, storedPolicies } from '../lib/approvals/in-effect.ts'
import type { TermsJson } from '../lib/approvals/policy.ts'
import type { BalanceState } from '../lib/ledger/balance.ts'
import type { CalendarTerms } from '../lib/payments/business-days.ts'
import { feeRuleOf, type FeeRule, type FeeRuleJson } from '../lib/payments/fees.ts'
import type { PaymentState } from '../lib/payments/payment-moves.ts'
import { spenderOf, type PaymentDetails, type PaymentRecall, type PaymentStatus } from '../lib/payments/payment.ts'
import { plainArray } from './array-literal.ts'
import { CALENDAR_OF_CONNECTION } from './due-payments.ts'
import { EFFECTIVE_LIMITS, loadPaymentLimits, MEMBER_LIMITS, type LimitedBalance } from './payment-limits.ts'
import { FEES_OF_BALANCE } from './pricing.ts'
import type { Statement } from './connection.ts'
import type { TransactionClient } from './transaction.ts'

interface Reader {
  query(statement: Statement): Promise<{ rows: unknown[][] }>
}

const BALANCES = `select b.id, b.customer_id, b.operator_id, b.connection_id, b.shard, b.currency, b.name, b.status, b.posted - b.held, b.version,
    (select json_object_agg(p.kind, p.terms) from approval_policy p where p.customer_id = b.customer_id and p.kind in ('payment', 'exchange')), ${EFFECTIVE_LIMITS},
    ${MEMBER_LIMITS}, ${FEES_OF_BALANCE},
    (select ${CALENDAR_OF_CONNECTION} from provider_connection k where k.id = b.connection_id), (select o.rail_version from operator o where o.id = b.operator_id)
  from balance b where b.id = any($1::uuid[]) order by b.id`

/** The states of balances; an id without a row is absent. `lock` holds the rows in the order of their ids (I3). */
export async function loadBalances(reader: Reader, ids: readonly string[], lock: boolean): Promise<Map<string, BalanceState>> {
  const { rows } = await reader.query(lock
    ? { name: 'lock_balances', text: `${BALANCES} for update of b`, values: [plainArray(ids)] }
    : { name: 'load_balances', text: BALANCES, values: [plainArray(ids)] })
  const states = new Map<string, BalanceState>()
  const limited: LimitedBalance[] = []
  for (const row of rows as [string, string, string, string, number, string, string, BalanceState['status'], string, string, Policies | null, LimitsJson | null, Record<string, LimitsJson> | null, FeeRuleJson[] | null, CalendarTerms | null, number][]) {
    const [id, customerId, operatorId, connectionId, shard, currency, name, status, available, version, policies, customerTerms, memberTerms, fees, calendar, railVersion] = row
    const stored = policies === null ? NO_POLICIES : storedPolicies(policies)
    states.set(id, { id, customerId, operatorId, connectionId, shard, currency, name, status, available: BigInt(available), version: BigInt(version),
      policy: ruleInEffect('payment', stored).terms, exchangePolicy: ruleInEffect('exchange', stored).terms, limits: null, fees: fees?.map(feeRuleOf) ?? NO_FEES, calendar, railVersion })
    if (customerTerms !== null || memberTerms !== null) limited.push({ id, customerId, currency, customerTerms, memberTerms })
  }
  for (const [id, limits] of await loadPaymentLimits(reader, limited)) states.set(id, { ...states.get(id) as BalanceState, limits })
  return states
}

const NO_FEES: readonly FeeRule[] = []

/** A customer's policies by kind; one that was never set is absent. */
type Policies = { readonly [kind in 'payment' | 'exchange']?: TermsJson }

const NO_POLICIES = {}

const PAYMENTS = `select id, customer_id, operator_id, connection_id, shard, number, status, version, sent_at is not null,
    source_balance_id, paying_balance_id, hold_id, currency, amount, fee, rail, details, (extract(epoch from created_at) * 1000)::float8, recall, created_by
  from payment where id = any($1::uuid[]) order by id`

/** The states of payments; an id without a row is absent. */
export async function loadPayments(reader: Reader, ids: readonly string[], lock: boolean): Promise<Map<string, PaymentState>> {
  const { rows } = await reader.query(lock
    ? { name: 'lock_payments', text: `${PAYMENTS} for update`, values: [plainArray(ids)] }
    : { name: 'load_payments', text: PAYMENTS, values: [plainArray(ids)] })
  const states = new Map<string, PaymentState>()
  for (const row of rows as [string, string, string, string, number, string, PaymentStatus, number, boolean, string, string, string, string, string, string, string, string, number, string | null, string][]) {
    const [id, customerId, operatorId, connectionId, shard, number, status, version, sent, sourceBalanceId, payingBalanceId, holdId, currency, amount, fee, rail, text, createdAt, recall, createdBy] = row
    const details = JSON.parse(text) as PaymentDetails
    states.set(id, { id, customerId, operatorId, connectionId, shard, number, status, version, sent, sourceBalanceId, payingBalanceId, holdId, currency,
      amount: BigInt(amount), fee: BigInt(fee), rail, reference: details.reference, recipientName: details.recipient.name, createdAt: details.heldAt ?? createdAt,
      spenderId: spenderOf({ createdBy, details }), recall: recall === null ? null : JSON.parse(recall) as PaymentRecall, charges: details.charges, conversion: details.conversion, payeeBalanceId: details.payeeBalanceId })
  }
  return states
}

/** The state of one payment, read within a transaction; null when there is none. */
export async function readPayment(client: TransactionClient, id: string): Promise<PaymentState | null> {
  return (await readPayments(client, [id])).get(id) ?? null
}

/** The states of payments, read within a transaction; an id without a row is absent. */
export async function readPayments(client: TransactionClient, ids: readonly string[]): Promise<ReadonlyMap<string, PaymentState>> {
  const reader: Reader = { query: async (statement) => await client.query({ ...statement, rowMode: 'array' }) as unknown as { rows: unknown[][] } }
  return await loadPayments(reader, ids, false)
}

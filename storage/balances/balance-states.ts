/** Reads the cached state of actors from Postgres: many balances at once, on the lane's own connection. */
import type { LimitsJson } from '../../lib/customers/limits.ts'
import { ruleInEffect, storedPolicies } from '../../lib/approvals/in-effect.ts'
import type { TermsJson } from '../../lib/approvals/policy.ts'
import type { BalanceState } from '../../lib/balances/balance.ts'
import type { CalendarTerms } from '../../lib/rails/business-days.ts'
import { feeRuleOf, type FeeRule, type FeeRuleJson } from '../../lib/pricing/fees.ts'
import { plainArray } from '../db/array-literal.ts'
import { pick } from '../db/columns.ts'
import { CALENDAR_OF_CONNECTION } from '../providers/connection-calendars.ts'
import { EFFECTIVE_LIMITS, loadPaymentLimits, MEMBER_LIMITS, type LimitedBalance } from '../customers/payment-limits.ts'
import { FEES_OF_BALANCE } from '../pricing/pricing.ts'
import type { Reader } from '../db/connection.ts'
import { bigintExpression, expression, from, select } from '../db/select.ts'
import { CONTROLS_OF_BALANCE, controlsOf, type ControlsJson } from '../incoming-debits/debit-controls.ts'
import { Balance } from './balance-entity.ts'

/** The columns of the balance that its state has as they are. */
const STATE = select({
  ...pick(from(Balance, 'b'), [
    'id',
    'customerId',
    'operatorId',
    'connectionId',
    'shard',
    'currency',
    'name',
    'status',
    'customerStatus',
    'customerMeasure',
    'version',
  ]),
  available: bigintExpression('b.posted - b.held'),
  calendar: expression<CalendarTerms | null>(
    `(select ${CALENDAR_OF_CONNECTION} from provider_connection k where k.id = b.connection_id)`,
  ),
  railVersion: expression<number>('(select o.rail_version from operator o where o.id = b.operator_id)'),
})

/** The facts from which policies, limits and fees are computed. */
const TERMS = select({
  policies: expression<Policies | null>(
    `(select json_object_agg(p.kind, p.terms) from approval_policy p where p.customer_id = b.customer_id and p.kind in ('payment', 'exchange'))`,
  ),
  customerTerms: expression<LimitsJson | null>(EFFECTIVE_LIMITS),
  memberTerms: expression<Readonly<Record<string, LimitsJson>> | null>(MEMBER_LIMITS),
  fees: expression<FeeRuleJson[] | null>(FEES_OF_BALANCE),
  controls: expression<ControlsJson | null>(CONTROLS_OF_BALANCE),
})

const BALANCES = `select ${STATE.sql}, ${TERMS.sql} from balance b where b.id = any($1::uuid[]) order by b.id`

const LOCK = `select from balance b where b.id = any($1::uuid[]) order by b.id for update of b`

/**
 * Reads the states of balances; an id without a row is absent. `lock` locks the rows in the order of their ids (I3).
 *
 * Locking and reading are two statements. A statement that waits for a lock sees the new version of the locked row, but
 * other tables as they were before it waited: the version would be new and the policies, limits, fees and calendar of
 * the version before it, and no later change would be noticed. The second statement sees all of them.
 */
export async function loadBalances(
  reader: Reader,
  ids: readonly string[],
  lock: boolean,
): Promise<Map<string, BalanceState>> {
  const values = [plainArray(ids)]
  if (lock) await reader.query({ name: 'lock_balances', text: LOCK, values })
  const { rows } = await reader.query({ name: 'load_balances', text: BALANCES, values })
  const states = new Map<string, BalanceState>()
  const limited: LimitedBalance[] = []
  for (const row of rows) {
    const state = STATE.read(row)
    const { policies, customerTerms, memberTerms, fees, controls } = TERMS.read(row, STATE.width)
    const stored = policies === null ? NO_POLICIES : storedPolicies(policies)
    const { id, customerId, currency } = state
    states.set(id, {
      ...state,
      policy: ruleInEffect('payment', stored).terms,
      exchangePolicy: ruleInEffect('exchange', stored).terms,
      limits: null,
      fees: fees?.map(feeRuleOf) ?? NO_FEES,
      debitControls: controlsOf(controls),
    })
    if (customerTerms !== null || memberTerms !== null)
      limited.push({ id, customerId, currency, customerTerms, memberTerms })
  }
  for (const [id, limits] of await loadPaymentLimits(reader, limited))
    states.set(id, { ...(states.get(id) as BalanceState), limits })
  return states
}

const NO_FEES: readonly FeeRule[] = []

/** A customer's policies by kind; a policy that was never set is absent. */
type Policies = { readonly [kind in 'payment' | 'exchange']?: TermsJson }

const NO_POLICIES = {}

/**
 * The facts of routing: the rules and connections of operators, and the sums that rules have sent through a connection.
 *
 * Volumes are sums over the routed payments of a day, read through an index that holds no other payments. So nothing is
 * counted in the commit of a payment, no row is written by every payment, and payments that failed or were cancelled
 * give their volume back. Whoever needs them often keeps them for a moment (actors/providers/routing/routing-table.ts).
 */
import { PROVIDER_DESCRIPTIONS } from '../../../lib/providers/descriptions.ts'
import type { ProviderId } from '../../../lib/providers/provider.ts'
import type { RoutedVolume, RoutingConnection, RoutingRule, RoutingTerms } from '../../../lib/providers/routing.ts'
import { pick } from '../../db/columns.ts'
import { expression, from, select } from '../../db/select.ts'
import type { Queries } from '../../db/transaction.ts'
import type { CalendarTerms } from '../../../lib/rails/business-days.ts'
import { CALENDAR_OF_CONNECTION } from '../connection-calendars.ts'
import { ProviderConnection } from '../provider-connection-entity.ts'
import { RoutingRuleRow } from './routing-rule-entity.ts'

const RULE = select({
  operatorId: expression<string>('r.operator_id'),
  ...pick(from(RoutingRuleRow, 'r'), [
    'id',
    'name',
    'priority',
    'currency',
    'rail',
    'country',
    'customerType',
    'amountMin',
    'amountMax',
    'connectionId',
    'preferredRail',
    'costPerPayment',
    'costBps',
    'dailyVolumeMax',
    'dailyCountMax',
    'enabled',
  ]),
})

const CONNECTION = select({
  operatorId: expression<string>('k.operator_id'),
  provider: expression<ProviderId>('k.provider'),
  ...pick(from(ProviderConnection, 'k'), ['id', 'customerId', 'name', 'status', 'role', 'health']),
  calendar: expression<CalendarTerms | null>(CALENDAR_OF_CONNECTION),
  fallbackCurrencies: expression<readonly string[]>('to_jsonb(k.fallback_currencies)'),
})

/**
 * Reads the rules and connections of one operator, or of all (null), by operator. Connections come oldest first.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function readRoutingTerms(
  queries: Queries,
  operatorId: string | null,
): Promise<ReadonlyMap<string, RoutingTerms>> {
  const terms = new Map<string, { rules: RoutingRule[]; connections: RoutingConnection[] }>()
  const of = (id: string) => {
    const known = terms.get(id) ?? { rules: [], connections: [] }
    terms.set(id, known)
    return known
  }
  const connections = await queries.query({
    name: 'routing_connections',
    text: `select ${CONNECTION.sql} from provider_connection k where $1::uuid is null or k.operator_id = $1 order by k.id`,
    values: [operatorId],
  })
  for (const row of connections) {
    const { operatorId: owner, provider, ...connection } = CONNECTION.read(row)
    const { rails = null, capabilities = null } = PROVIDER_DESCRIPTIONS[provider] ?? {}
    of(owner).connections.push({ ...connection, rails, capabilities })
  }
  const rules = await queries.query({
    name: 'routing_rules',
    text: `select ${RULE.sql} from routing_rule r where $1::uuid is null or r.operator_id = $1 order by r.priority, r.id`,
    values: [operatorId],
  })
  for (const row of rules) {
    const { operatorId: owner, currency, rail, country, customerType, amountMin, amountMax, ...rule } = RULE.read(row)
    of(owner).rules.push({ ...rule, match: { currency, rail, country, customerType, amountMin, amountMax } })
  }
  return terms
}

/**
 * Sums, by currency, the payments that were routed through a connection on a day (`YYYY-MM-DD`, UTC) and were not given
 * up.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function readRoutedVolumes(
  queries: Queries,
  connectionId: string,
  day: string,
): Promise<ReadonlyMap<string, RoutedVolume>> {
  const rows = await queries.query<[string, string, string]>({
    name: 'routed_volumes',
    text: `select currency, sum(amount), count(*) from payment
      where connection_id = $1 and routing is not null and routing->>'day' = $2
        and status not in ('failed', 'cancelled', 'rejected') group by 1`,
    values: [connectionId, day],
  })
  return new Map(rows.map(([currency, amount, count]) => [currency, { amount: BigInt(amount), count: Number(count) }]))
}

/** Tells how a payment would leave, with the reasons of every rule, by the rules as they are stored now. */
import type { CurrencyCode } from '../../../lib/base/currency.ts'
import { refuseField } from '../../../lib/base/problems.ts'
import type { RoutingResult, RoutingSimulation } from '../../../lib/providers/routing-rule-schema.ts'
import { chooseRail } from '../../../lib/rails/choose-rail.ts'
import { RAILS, type Rail } from '../../../lib/rails/rails.ts'
import type { BalanceCache } from '../../../storage/balances/balance-cache.ts'
import type { Database } from '../../../storage/db/database.ts'
import { readRoutingTerms } from '../../../storage/providers/routing/routing-terms.ts'
import type { RoutingTable } from './routing-table.ts'

/** Every detail that any rail needs. */
const EVERY_FIELD = new Set([...RAILS.values()].flatMap(({ needs }) => needs.flat()))

export interface RoutingSimulationDeps {
  readonly database: Database
  readonly balances: Pick<BalanceCache, 'find'>
  readonly table: RoutingTable
}

/**
 * Simulates a payment of the operator's customers. The recipient is taken to have every bank detail that a rail needs.
 *
 * @throws ProblemError `validation-error`; DatabaseUnavailable
 */
export async function simulateRouting(
  { database, balances, table }: RoutingSimulationDeps,
  operatorId: string,
  { amount: { amountMinor, currency }, country, rail, customerType = 'business', balanceId }: RoutingSimulation,
): Promise<RoutingResult> {
  const terms = (await readRoutingTerms(database, operatorId)).get(operatorId) ?? { rules: [], connections: [] }
  const balance = balanceId == null ? null : await balances.find(balanceId.toLowerCase())
  const home =
    balanceId == null
      ? terms.connections.find(
          (each) => each.status === 'active' && each.role === 'primary' && each.customerId === null,
        )
      : terms.connections.find(({ id }) => id === balance?.connectionId)
  if (balanceId != null && home === undefined) refuseField('/balanceId', 'not_found', 'No such balance.')
  const question = {
    currency: currency as CurrencyCode,
    amountMinor: BigInt(amountMinor),
    bankCountry: country,
    fields: EVERY_FIELD,
  }
  const isUsable = (wanted: Rail) => 'rail' in chooseRail({ ...question, requested: wanted }, RAILS)
  const choice = chooseRail({ ...question, requested: rail ?? null }, RAILS)
  if ('refused' in choice) return { connectionId: null, rail: null, ruleId: null, rules: [] }
  const decision = await table.decideBy(
    terms,
    {
      currency,
      amount: BigInt(amountMinor),
      rail: choice.rail,
      isRailFixed: rail != null,
      country,
      customerId: balance?.customerId ?? '',
      customerType,
      homeConnectionId: home?.id ?? '',
    },
    { canUse: isUsable },
  )
  return {
    connectionId: decision.isOpen ? decision.connectionId : null,
    rail: decision.rail,
    ruleId: decision.ruleId,
    rules: decision.rules.map((each) => ({ ...each, reasons: [...each.reasons] })),
  }
}

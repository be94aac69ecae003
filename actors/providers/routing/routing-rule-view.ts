/** Routing rules in the form of the API. */
import { timestamp } from '../../../lib/base/clock.ts'
import type { CurrencyCode } from '../../../lib/base/currency.ts'
import { moneyJson } from '../../../lib/base/money.ts'
import type { Versioned } from '../../../lib/commands/command.ts'
import type { RoutingRuleView } from '../../../lib/providers/routing-rule-schema.ts'
import type { RoutingRuleRecord } from '../../../storage/providers/routing/routing-rules.ts'

/** The members of a rule that people set, as the API and the audit trail show them. */
export function ruleFacts({ name, priority, match, ...rule }: RoutingRuleRecord) {
  const money = (amountMinor: bigint | null) =>
    amountMinor === null ? null : moneyJson({ amountMinor, currency: match.currency as CurrencyCode })
  return {
    name,
    priority,
    match: { ...match, amountMin: money(match.amountMin), amountMax: money(match.amountMax) },
    connectionId: rule.connectionId,
    preferredRail: rule.preferredRail,
    costPerPayment: money(rule.costPerPayment),
    costBps: rule.costBps,
    dailyVolumeMax: money(rule.dailyVolumeMax),
    dailyCountMax: rule.dailyCountMax,
    enabled: rule.enabled,
  }
}

/** The rule as the API shows it. */
export function ruleView(record: RoutingRuleRecord): Versioned<RoutingRuleView> {
  const { id, version, createdAt, updatedBy, updatedAt } = record
  return {
    version,
    view: {
      id,
      ...ruleFacts(record),
      createdAt: timestamp(createdAt),
      updatedBy,
      updatedAt: timestamp(updatedAt),
    },
  }
}

/** Routing rules of operators, as rows. */
import type { InferEntity } from '@mikro-orm/core'
import type { RoutingRule } from '../../../lib/providers/routing.ts'
import { entitiesOf } from '../../db/entities.ts'
import type { StatementRunner } from '../../db/entity-driver.ts'
import type { TransactionClient } from '../../db/transaction.ts'
import { RoutingRuleRow } from './routing-rule-entity.ts'

/** A rule as it is stored. Times are epoch milliseconds. */
export interface RoutingRuleRecord extends RoutingRule {
  readonly operatorId: string
  readonly version: number
  readonly createdAt: number
  readonly updatedBy: string | null
  readonly updatedAt: number
}

function recordOf({
  currency,
  rail,
  country,
  customerType,
  amountMin,
  amountMax,
  ...row
}: InferEntity<typeof RoutingRuleRow>): RoutingRuleRecord {
  return {
    ...row,
    name: row.name ?? null,
    preferredRail: row.preferredRail ?? null,
    costPerPayment: row.costPerPayment ?? null,
    dailyVolumeMax: row.dailyVolumeMax ?? null,
    dailyCountMax: row.dailyCountMax ?? null,
    updatedBy: row.updatedBy ?? null,
    match: {
      currency: currency ?? null,
      rail: rail ?? null,
      country: country ?? null,
      customerType: customerType ?? null,
      amountMin: amountMin ?? null,
      amountMax: amountMax ?? null,
    },
  }
}

/** The columns of a rule: its conditions have columns of their own. */
const columnsOf = <Rule extends Pick<RoutingRule, 'match'>>({ match, ...rule }: Rule) => ({ ...rule, ...match })

/** Lists the rules of an operator in the order in which they are asked. */
export async function listRoutingRules(
  client: StatementRunner,
  operatorId: string,
): Promise<readonly RoutingRuleRecord[]> {
  const rows = entitiesOf(client, { operatorId })
  return (await rows.find(RoutingRuleRow, {}, { priority: 'asc', id: 'asc' })).map(recordOf)
}

/** Reads a rule of an operator; null when the operator has no such rule. */
export async function readRoutingRule(
  client: StatementRunner,
  operatorId: string,
  id: string,
): Promise<RoutingRuleRecord | null> {
  const row = await entitiesOf(client, { operatorId }).findOne(RoutingRuleRow, { id })
  return row === null ? null : recordOf(row)
}

/** Locks the rules of an operator until the transaction ends, those not yet made included. */
export async function lockRoutingRules(
  client: TransactionClient,
  operatorId: string,
): Promise<readonly RoutingRuleRecord[]> {
  await client.query({
    name: 'lock_routing_rules',
    text: `select pg_advisory_xact_lock(hashtextextended('routing rules of ' || $1::text, 0))`,
    values: [operatorId],
  })
  return await listRoutingRules(client, operatorId)
}

/** Adds a rule. */
export async function insertRoutingRule(
  client: TransactionClient,
  { version: _, ...record }: RoutingRuleRecord,
): Promise<void> {
  const { operatorId } = record
  await entitiesOf(client, { operatorId }).insert(RoutingRuleRow, columnsOf(record))
}

/** Replaces the members of a rule as its next version. @returns the rule as it is now */
export async function replaceRoutingRule(
  client: TransactionClient,
  { id, operatorId }: Pick<RoutingRuleRecord, 'id' | 'operatorId'>,
  change: Omit<RoutingRuleRecord, 'operatorId' | 'version' | 'createdAt'>,
): Promise<RoutingRuleRecord> {
  const rows = entitiesOf(client, { operatorId })
  const row = await rows.get(RoutingRuleRow, id)
  Object.assign(row, columnsOf(change))
  await rows.save()
  return recordOf(row)
}

/** Deletes a rule. */
export async function deleteRoutingRule(
  client: TransactionClient,
  { id, operatorId }: Pick<RoutingRuleRecord, 'id' | 'operatorId'>,
): Promise<void> {
  const rows = entitiesOf(client, { operatorId })
  await rows.remove(await rows.get(RoutingRuleRow, id))
}

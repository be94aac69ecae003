/** A rule that routes payments. Amounts are minor units of its currency. */
import { defineEntity, p } from '@mikro-orm/core'
import type { CustomerType } from '../../../lib/customers/types.ts'
import type { Rail } from '../../../lib/rails/rails.ts'
import { instant, managed } from '../../db/entity-types.ts'

/** The trigger as the migration defines it: nodes that keep the rules in memory are notified of each change. */
const TELL_NODES = `create trigger routing_changed after insert or update or delete on routing_rule
  for each row execute function routing_changed()`

export const RoutingRuleRow = managed(
  defineEntity({
    name: 'RoutingRule',
    tableName: 'routing_rule',
    properties: {
      id: p.uuid().primary(),
      operatorId: p.uuid().fieldName('operator_id'),
      name: p.text().nullable(),
      priority: p.integer(),
      currency: p.string().columnType('char(3)').nullable(),
      rail: p.text().$type<Rail>().nullable(),
      country: p.string().columnType('char(2)').nullable(),
      customerType: p.text().$type<CustomerType>().fieldName('customer_type').nullable(),
      amountMin: p.bigint().fieldName('amount_min').nullable(),
      amountMax: p.bigint().fieldName('amount_max').nullable(),
      connectionId: p.uuid().fieldName('connection_id'),
      preferredRail: p.text().$type<Rail>().fieldName('preferred_rail').nullable(),
      costPerPayment: p.bigint().fieldName('cost_per_payment').nullable(),
      costBps: p.integer().fieldName('cost_bps').default(0),
      dailyVolumeMax: p.bigint().fieldName('daily_volume_max').nullable(),
      dailyCountMax: p.integer().fieldName('daily_count_max').nullable(),
      enabled: p.boolean().default(true),
      version: p.integer().version(),
      createdAt: instant().fieldName('created_at'),
      updatedBy: p.uuid().fieldName('updated_by').nullable(),
      updatedAt: instant().fieldName('updated_at'),
    },
    indexes: [{ name: 'routing_rule_operator', properties: ['operatorId', 'priority', 'id'] }],
    triggers: [
      { name: 'routing_changed', timing: 'after', events: ['insert', 'update', 'delete'], expression: TELL_NODES },
    ],
  }),
)

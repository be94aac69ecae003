/** An exchange that the partner carries out. Only the commit writes it. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'

export const FxOrder = defineEntity({
  name: 'FxOrder',
  tableName: 'fx_order',
  properties: {
    exchangeId: p.uuid().fieldName('exchange_id').primary(),
    shard: p.smallint(),
    dueAt: instant().fieldName('due_at'),
    sentAt: instant().fieldName('sent_at').nullable(),
    attempts: p.smallint().defaultRaw('0'),
  },
  indexes: [{ name: 'fx_order_due', properties: ['dueAt'] }],
})

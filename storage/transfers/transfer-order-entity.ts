/** A transfer between two connections that the partner carries out. Only the commit writes it. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'

export const TransferOrder = defineEntity({
  name: 'TransferOrder',
  tableName: 'transfer_order',
  properties: {
    transferId: p.uuid().fieldName('transfer_id').primary(),
    shard: p.smallint(),
    holdId: p.uuid().fieldName('hold_id'),
    fromConnectionId: p.uuid().fieldName('from_connection_id'),
    toConnectionId: p.uuid().fieldName('to_connection_id'),
    sentAt: instant().fieldName('sent_at').nullable(),
    dueAt: instant().fieldName('due_at').nullable(),
    attempts: p.smallint().defaultRaw('0'),
  },
  indexes: [
    {
      name: 'transfer_order_due',
      expression: 'create index transfer_order_due on transfer_order (due_at) where due_at is not null',
    },
  ],
})

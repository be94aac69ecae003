/** Cash that moves between two connections. The commit inserts it. */
import { defineEntity, p } from '@mikro-orm/core'
import type { CashSubject } from '../../../lib/providers/effects.ts'
import { instant } from '../../db/entity-types.ts'

export const CashOrder = defineEntity({
  name: 'CashOrder',
  tableName: 'cash_order',
  properties: {
    id: p.uuid().primary(),
    subjectObject: p.text().fieldName('subject_object').$type<CashSubject>(),
    subjectId: p.uuid().fieldName('subject_id'),
    customerId: p.uuid().fieldName('customer_id'),
    operatorId: p.uuid().fieldName('operator_id'),
    shard: p.smallint(),
    fromConnectionId: p.uuid().fieldName('from_connection_id'),
    toConnectionId: p.uuid().fieldName('to_connection_id'),
    currency: p.string().columnType('char(3)'),
    amount: p.bigint(),
    createdAt: instant().fieldName('created_at'),
    dueAt: instant().fieldName('due_at').nullable(),
    fromBookedAt: instant().fieldName('from_booked_at').nullable(),
    toBookedAt: instant().fieldName('to_booked_at').nullable(),
  },
  indexes: [
    { name: 'cash_order_subject', properties: ['subjectId'] },
    {
      name: 'cash_order_due',
      expression: 'create index cash_order_due on cash_order (due_at) where due_at is not null',
    },
    {
      name: 'cash_order_from',
      expression: 'create index cash_order_from on cash_order (from_connection_id) where from_booked_at is null',
    },
    {
      name: 'cash_order_to',
      expression: 'create index cash_order_to on cash_order (to_connection_id) where to_booked_at is null',
    },
  ],
})

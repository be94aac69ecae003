/** An internal account of the chart. It has no stored total: its total is a sum over postings. */
import { defineEntity, p } from '@mikro-orm/core'

export const Account = defineEntity({
  name: 'Account',
  tableName: 'account',
  properties: {
    id: p.uuid().primary(),
    operatorId: p.uuid().fieldName('operator_id'),
    key: p.text(),
    currency: p.string().columnType('char(3)'),
    connectionId: p.uuid().fieldName('connection_id').nullable(),
    customerId: p.uuid().fieldName('customer_id').nullable(),
  },
  uniques: [{ name: 'account_unique', properties: ['operatorId', 'key', 'currency', 'connectionId', 'customerId'] }],
})

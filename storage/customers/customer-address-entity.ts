/** A postal address of a customer. */
import { defineEntity, p } from '@mikro-orm/core'

export const CustomerAddress = defineEntity({
  name: 'CustomerAddress',
  tableName: 'customer_address',
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    kind: p.text(),
    address: p.json(),
    version: p.integer(),
    createdAt: p.datetime().fieldName('created_at').columnType('timestamptz'),
    updatedAt: p.datetime().fieldName('updated_at').columnType('timestamptz'),
  },
  indexes: [{ name: 'customer_address_customer', properties: ['customerId', 'id'] }],
  uniques: [
    {
      name: 'customer_address_registered',
      expression: `create unique index customer_address_registered on customer_address (customer_id) where kind = 'registered'`,
    },
  ],
})

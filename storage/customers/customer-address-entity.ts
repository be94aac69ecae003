/** A postal address of a customer. */
import { defineEntity, p } from '@mikro-orm/core'
import type { CustomerAddress as AddressView } from '../../lib/customers/customer-address-schema.ts'
import { instant, managed } from '../db/entity-types.ts'

export const CustomerAddress = managed(
  defineEntity({
    name: 'CustomerAddress',
    tableName: 'customer_address',
    properties: {
      id: p.uuid().primary(),
      customerId: p.uuid().fieldName('customer_id'),
      kind: p.text().$type<AddressView['kind']>(),
      address: p.json().$type<AddressView['address']>(),
      version: p.integer().version(),
      createdAt: instant().fieldName('created_at'),
      updatedAt: instant().fieldName('updated_at'),
    },
    indexes: [{ name: 'customer_address_customer', properties: ['customerId', 'id'] }],
    uniques: [
      {
        name: 'customer_address_registered',
        expression: `create unique index customer_address_registered on customer_address (customer_id) where kind = 'registered'`,
      },
    ],
  }),
)

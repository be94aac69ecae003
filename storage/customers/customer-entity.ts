/** A customer of an operator: a tenant with its own balances, recipients and payments. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import type { CustomerStatus } from '../../lib/customers/status.ts'
import { Operator } from '../operators/operator-entity.ts'

export const Customer = defineEntity({
  name: 'Customer',
  tableName: 'customer',
  properties: {
    id: p.uuid().primary(),
    operator: () =>
      p
        .manyToOne(Operator)
        .fieldName('operator_id')
        .foreignKeyName('customer_operator_id_fkey')
        .updateRule('no action')
        .deleteRule('no action')
        .index(false),
    number: p.text(),
    legalName: p.text().fieldName('legal_name'),
    customerType: p.text().$type<'business' | 'sole_trader' | 'individual'>().fieldName('customer_type'),
    status: p.text().$type<CustomerStatus>(),
    shard: p.smallint(),
    version: p.bigint().defaultRaw('1'),
    createdAt: instant().fieldName('created_at'),
    updatedAt: instant().fieldName('updated_at'),
    closedAt: instant().fieldName('closed_at').nullable(),
  },
  uniques: [{ name: 'customer_number_unique', properties: ['operator', 'number'] }],
})

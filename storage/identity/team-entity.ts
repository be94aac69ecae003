/** A group of a customer's members. Hand-written statements store its members. */
import { defineEntity, p } from '@mikro-orm/core'

export const Team = defineEntity({
  name: 'Team',
  tableName: 'team',
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    name: p.text(),
    version: p.integer(),
    createdAt: p.datetime().fieldName('created_at').columnType('timestamptz'),
    updatedAt: p.datetime().fieldName('updated_at').columnType('timestamptz'),
  },
  uniques: [
    { name: 'team_name_unique', expression: 'create unique index team_name_unique on team (customer_id, lower(name))' },
  ],
})

/** A group of a customer's members. Hand-written statements store its members. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant, managed } from '../db/entity-types.ts'

export const Team = managed(
  defineEntity({
    name: 'Team',
    tableName: 'team',
    properties: {
      id: p.uuid().primary(),
      customerId: p.uuid().fieldName('customer_id'),
      name: p.text(),
      version: p.integer().version(),
      createdAt: instant().fieldName('created_at'),
      updatedAt: instant().fieldName('updated_at'),
    },
    uniques: [
      {
        name: 'team_name_unique',
        expression: 'create unique index team_name_unique on team (customer_id, lower(name))',
      },
    ],
  }),
)

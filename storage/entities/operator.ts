/** Whoever runs the platform for customers of their own. */
import { defineEntity, p } from '@mikro-orm/core'

export const Operator = defineEntity({
  name: 'Operator',
  tableName: 'operator',
  properties: {
    id: p.uuid().primary(),
    name: p.text(),
    createdAt: p.datetime().fieldName('created_at').columnType('timestamptz'),
  },
})

/** A pricing template of an operator. Statements of their own write and read its rules (fee_rule), all at once. */
import { defineEntity, p } from '@mikro-orm/core'
import { Operator } from '../operators/operator-entity.ts'

export const PricingTemplate = defineEntity({
  name: 'PricingTemplate',
  tableName: 'pricing_template',
  properties: {
    id: p.uuid().primary(),
    operator: () =>
      p
        .manyToOne(Operator)
        .fieldName('operator_id')
        .foreignKeyName('pricing_template_operator_id_fkey')
        .updateRule('no action')
        .deleteRule('no action')
        .index(false),
    name: p.text(),
    version: p.integer().defaultRaw('1'),
    createdAt: p.datetime().fieldName('created_at').columnType('timestamptz'),
    updatedBy: p.uuid().fieldName('updated_by').nullable(),
    updatedAt: p.datetime().fieldName('updated_at').columnType('timestamptz'),
  },
  uniques: [{ name: 'pricing_template_name', properties: ['operator', 'name'] }],
})

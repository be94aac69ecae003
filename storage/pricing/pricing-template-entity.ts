/** A pricing template of an operator. Statements of their own write and read its rules (fee_rule), all at once. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant, managed } from '../db/entity-types.ts'
import { Operator } from '../operators/operator-entity.ts'

export const PricingTemplate = managed(
  defineEntity({
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
      version: p.integer().version(),
      createdAt: instant().fieldName('created_at'),
      updatedBy: p.uuid().fieldName('updated_by').nullable(),
      updatedAt: instant().fieldName('updated_at'),
    },
    uniques: [{ name: 'pricing_template_name', properties: ['operator', 'name'] }],
  }),
)

/** An approval policy of a customer: the approvers that its payments, recipients or policy changes need. */
import { defineEntity, p } from '@mikro-orm/core'

export const ApprovalPolicy = defineEntity({
  name: 'ApprovalPolicy',
  tableName: 'approval_policy',
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    kind: p.text(),
    version: p.integer().version(),
    terms: p.json(),
    effectiveFrom: p.datetime().fieldName('effective_from').columnType('timestamptz'),
    updatedBy: p.uuid().fieldName('updated_by'),
    updatedAt: p.datetime().fieldName('updated_at').columnType('timestamptz'),
  },
  uniques: [{ name: 'approval_policy_unique', properties: ['customerId', 'kind'] }],
})

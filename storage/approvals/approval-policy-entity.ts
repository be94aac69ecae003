/** An approval policy of a customer: the approvers that its payments, recipients or policy changes need. */
import { defineEntity, p } from '@mikro-orm/core'
import type { PolicyKind, TermsJson } from '../../lib/approvals/policy.ts'
import { instant, managed } from '../db/entity-types.ts'

export const ApprovalPolicy = managed(
  defineEntity({
    name: 'ApprovalPolicy',
    tableName: 'approval_policy',
    properties: {
      id: p.uuid().primary(),
      customerId: p.uuid().fieldName('customer_id'),
      kind: p.text().$type<PolicyKind>(),
      version: p.integer().version(),
      terms: p.json().$type<TermsJson>(),
      effectiveFrom: instant().fieldName('effective_from'),
      updatedBy: p.uuid().fieldName('updated_by'),
      updatedAt: instant().fieldName('updated_at'),
    },
    uniques: [{ name: 'approval_policy_unique', properties: ['customerId', 'kind'] }],
  }),
)

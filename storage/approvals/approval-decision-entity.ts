/** One approver's decision on an approval. */
import { defineEntity, p } from '@mikro-orm/core'
import type { StepUpMethod } from '../../lib/identity/step-up.ts'
import { instant } from '../db/entity-types.ts'
import type { DecisionRecord } from '../../lib/approvals/approval.ts'

export const ApprovalDecision = defineEntity({
  name: 'ApprovalDecision',
  tableName: 'approval_decision',
  properties: {
    id: p.uuid().primary(),
    approvalId: p.uuid().fieldName('approval_id'),
    customerId: p.uuid().fieldName('customer_id'),
    userId: p.uuid().fieldName('user_id'),
    userName: p.text().fieldName('user_name'),
    decision: p.text().$type<DecisionRecord['decision']>(),
    comment: p.text().nullable(),
    stepUpMethod: p.text().$type<StepUpMethod>().fieldName('step_up_method').nullable(),
    round: p.smallint().defaultRaw('1'),
    counted: p.boolean().defaultRaw('true'),
    decidedAt: instant().fieldName('decided_at'),
  },
  indexes: [{ name: 'approval_decision_approval', properties: ['approvalId', 'id'] }],
  uniques: [
    {
      name: 'approval_decision_once',
      expression:
        'create unique index approval_decision_once on approval_decision (approval_id, user_id, round) where step_up_method is not null',
    },
  ],
})

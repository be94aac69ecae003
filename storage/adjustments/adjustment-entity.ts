/** An entry that the operator's treasury makes by hand. */
import { defineEntity, p } from '@mikro-orm/core'
import type { AdjustmentKind, AdjustmentStatus } from '../../lib/adjustments/adjustment.ts'
import type { RuleId } from '../../lib/ledger/postings.ts'
import { instant, managed } from '../db/entity-types.ts'

export const Adjustment = managed(
  defineEntity({
    name: 'Adjustment',
    tableName: 'adjustment',
    properties: {
      id: p.uuid().primary(),
      operatorId: p.uuid().fieldName('operator_id'),
      kind: p.text().$type<AdjustmentKind>(),
      status: p.text().$type<AdjustmentStatus>().defaultRaw(`'pending_approval'`),
      rule: p.text().$type<RuleId>(),
      currency: p.string().columnType('char(3)'),
      amount: p.bigint().nullable(),
      balanceId: p.uuid().fieldName('balance_id').nullable(),
      customerId: p.uuid().fieldName('customer_id').nullable(),
      connectionId: p.uuid().fieldName('connection_id').nullable(),
      period: p.text().nullable(),
      breakId: p.uuid().fieldName('break_id').nullable(),
      entryId: p.uuid().fieldName('entry_id').nullable(),
      description: p.text(),
      reason: p.text(),
      documentIds: p.array().fieldName('document_ids').columnType('uuid[]').defaultRaw(`'{}'`),
      requestedBy: p.uuid().fieldName('requested_by'),
      requestedByName: p.text().fieldName('requested_by_name'),
      decidedBy: p.uuid().fieldName('decided_by').nullable(),
      decidedByName: p.text().fieldName('decided_by_name').nullable(),
      decidedAt: instant().fieldName('decided_at').nullable(),
      decisionReason: p.text().fieldName('decision_reason').nullable(),
      entryIds: p.array().fieldName('entry_ids').columnType('uuid[]').defaultRaw(`'{}'`),
      version: p.integer().version(),
      createdAt: instant().fieldName('created_at'),
      updatedAt: instant().fieldName('updated_at'),
    },
    indexes: [{ name: 'adjustment_operator', properties: ['operatorId', 'id'] }],
    uniques: [
      {
        name: 'adjustment_of_entry',
        expression: `create unique index adjustment_of_entry on adjustment (entry_id) where entry_id is not null and status <> 'rejected'`,
      },
      {
        name: 'adjustment_of_break',
        expression: `create unique index adjustment_of_break on adjustment (break_id) where break_id is not null and status <> 'rejected'`,
      },
    ],
    checks: [
      { name: 'adjustment_status', expression: `status in ('pending_approval', 'posted', 'rejected')` },
      { name: 'adjustment_amount_positive', expression: 'amount > 0' },
      { name: 'adjustment_two_people', expression: 'decided_by <> requested_by' },
    ],
  }),
)

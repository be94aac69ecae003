/** A hold that the operator's staff have placed; the hold itself is a row of `hold` with the same id. */
import { defineEntity, p } from '@mikro-orm/core'
import type { StaffHoldSubject } from '../../lib/balances/staff-hold.ts'
import { instant, managed } from '../db/entity-types.ts'
import { dueTriggers } from '../db/due-work.ts'

export const StaffHold = managed(
  defineEntity({
    name: 'StaffHold',
    tableName: 'staff_hold',
    triggers: dueTriggers('staff_hold', 'expires_at'),
    properties: {
      id: p.uuid().primary(),
      balanceId: p.uuid().fieldName('balance_id'),
      customerId: p.uuid().fieldName('customer_id'),
      operatorId: p.uuid().fieldName('operator_id'),
      shard: p.smallint(),
      subjectType: p.text().$type<StaffHoldSubject>().fieldName('subject_type'),
      amount: p.bigint(),
      currency: p.string().columnType('char(3)'),
      status: p.text().$type<'active' | 'released' | 'expired'>().defaultRaw(`'active'`),
      reason: p.text(),
      placedBy: p.uuid().fieldName('placed_by'),
      placedByName: p.text().fieldName('placed_by_name'),
      releaseReason: p.text().fieldName('release_reason').nullable(),
      version: p.integer().version(),
      expiresAt: instant().fieldName('expires_at').nullable(),
      resolvedAt: instant().fieldName('resolved_at').nullable(),
      createdAt: instant().fieldName('created_at'),
    },
    indexes: [
      { name: 'staff_hold_balance', properties: ['balanceId', 'id'] },
      {
        name: 'staff_hold_due',
        expression: `create index staff_hold_due on staff_hold (expires_at) where status = 'active' and expires_at is not null`,
      },
    ],
  }),
)

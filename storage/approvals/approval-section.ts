/** The section of the commit statement for approvals. */
import type { ApprovalRow } from '../../lib/approvals/opening.ts'
import { computed } from '../commit/columns.ts'
import { insert, rowsOf } from '../commit/section.ts'

export const APPROVALS = rowsOf(
  'approvals',
  insert<ApprovalRow>(
    'approval',
    {
      id: 'uuid',
      customerId: 'uuid',
      operatorId: 'uuid',
      shard: 'smallint',
      subjectType: 'text',
      subjectId: 'uuid',
      subject: 'text',
      payload: 'text',
      kind: 'text',
      source: 'text',
      tier: 'jsonb',
      tierNumber: 'smallint',
      required: 'smallint',
      converted: computed('boolean', (a) => String(a.converted)),
      requestedBy: 'uuid',
      requestedByName: 'text',
      requesters: 'jsonb',
      sandboxDecision: 'text',
      expiresAt: 'timestamptz',
      createdAt: 'timestamptz',
    },
    { status: `'pending'`, received: '0', version: '1', wake_at: 'u.created_at' },
  ),
)

/** The section of the commit statement for approvals. */
import { insertInto, rowsOf } from '../commit/section.ts'
import { columns, without } from '../db/columns.ts'
import { Approval } from './approval-entity.ts'

export const APPROVALS = rowsOf(
  'approvals',
  insertInto(
    Approval,
    without(columns(Approval), [
      'received',
      'round',
      'subjectChanges',
      'status',
      'version',
      'reason',
      'wakeAt',
      'announcedAt',
      'warnedAt',
      'remindedAt',
      'decidedAt',
    ]),
    { status: `'pending'`, received: '0', version: '1', wake_at: 'u.created_at' },
  ),
)

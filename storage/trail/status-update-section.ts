/** The section of the commit statement for the status updates of payments, transfers and exchanges. */
import { alike, insertInto, rowsOf } from '../commit/section.ts'
import { columns } from '../db/columns.ts'
import { StatusUpdateRow } from './status-update-entity.ts'

export const STATUS_UPDATES = rowsOf(
  'statusUpdates',
  alike(
    insertInto(StatusUpdateRow, columns(StatusUpdateRow)),
    ['customer_id'],
    ['version', 'status', 'previous_status', 'message', 'actor'],
  ),
)

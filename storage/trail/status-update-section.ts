/** The section of the commit statement for the status updates of payments, transfers and exchanges. */
import type { StatusUpdate } from '../../lib/decisions/effects.ts'
import { alike, insert, rowsOf } from '../commit/section.ts'

export const STATUS_UPDATES = rowsOf(
  'statusUpdates',
  alike(
    insert<StatusUpdate>('status_update', {
      objectId: 'uuid',
      version: 'integer',
      customerId: 'uuid',
      status: 'text',
      previousStatus: 'text',
      message: 'text',
      actor: 'text',
      at: 'timestamptz',
    }),
    ['customer_id'],
    ['version', 'status', 'previous_status', 'message', 'actor'],
  ),
)

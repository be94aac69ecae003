/** The section of the commit statement for money that arrived from outside. */
import type { IncomingPaymentRow } from '../../lib/incoming-payments/effects.ts'
import { computed, type Columns } from '../commit/columns.ts'
import { insertInto, rowsOf } from '../commit/section.ts'
import { columns, without } from '../db/columns.ts'
import { IncomingPayment } from './incoming-payment-entity.ts'

const COLUMNS = columns(IncomingPayment)

export const INCOMING_PAYMENTS = rowsOf(
  'incomingPayments',
  insertInto(
    IncomingPayment,
    {
      ...without(COLUMNS, [
        'version',
        'fundsRequestId',
        'decidedBy',
        'decidedAt',
        'decisionReason',
        'recall',
        'recallHoldId',
        'returnedAmount',
        'returnReason',
        'returnState',
        'updatedAt',
      ]),
      originId: computed<IncomingPaymentRow>(COLUMNS.originId, (i) => i.originId ?? null),
    } satisfies Columns<IncomingPaymentRow>,
    { version: '1', updated_at: 'u.received_at' },
  ),
)

/** The section of the commit statement for money that arrived from outside. */
import type { IncomingPaymentRow } from '../../lib/incoming-payments/effects.ts'
import { computed } from '../commit/columns.ts'
import { insert, rowsOf } from '../commit/section.ts'

export const INCOMING_PAYMENTS = rowsOf(
  'incomingPayments',
  insert<IncomingPaymentRow>(
    'incoming_payment',
    {
      id: 'uuid',
      customerId: 'uuid',
      balanceId: 'uuid',
      operatorId: 'uuid',
      connectionId: 'uuid',
      shard: 'smallint',
      status: 'text',
      currency: 'text',
      amount: 'bigint',
      payerName: 'text',
      payerIdentifier: 'text',
      payerBankName: 'text',
      payerCountry: 'text',
      reference: 'text',
      rail: 'text',
      endToEndId: 'text',
      uetr: 'uuid',
      valueDate: 'date',
      suspense: 'text',
      suspenseReason: 'text',
      creditedAt: 'timestamptz',
      receivedAt: 'timestamptz',
      originId: computed('uuid', (i) => i.originId ?? null),
    },
    { version: '1', updated_at: 'u.received_at' },
  ),
)

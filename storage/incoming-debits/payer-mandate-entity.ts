/** A mandate as the payer's side keeps it. Only the commit writes it. */
import { defineEntity, p } from '@mikro-orm/core'
import type { PayerMandateStatus } from '../../lib/incoming-debits/effects.ts'
import type { MandateScheme } from '../../lib/rails/debit-schemes.ts'
import { instant } from '../db/entity-types.ts'

export const PayerMandateRow = defineEntity({
  name: 'PayerMandateRow',
  tableName: 'payer_mandate',
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    balanceId: p.uuid().fieldName('balance_id'),
    scheme: p.text().$type<MandateScheme>(),
    creditorName: p.text().fieldName('creditor_name'),
    creditorId: p.text().fieldName('creditor_id').nullable(),
    reference: p.text(),
    status: p.text().$type<PayerMandateStatus>(),
    lastDueDate: p.date().fieldName('last_due_date').nullable(),
    version: p.integer(),
    updatedAt: instant().fieldName('updated_at'),
  },
  indexes: [{ name: 'payer_mandate_balance', properties: ['balanceId'] }],
  checks: [{ name: 'payer_mandate_status', expression: `status in ('seen', 'confirmed', 'cancelled')` }],
})

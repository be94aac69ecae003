/** The controls that a payer has set for the direct debits of a balance. */
import { defineEntity, p } from '@mikro-orm/core'
import type { Periodicity } from '../../lib/balances/debit-controls.ts'
import { instant, managed } from '../db/entity-types.ts'

export const DebitControlsRow = managed(
  defineEntity({
    name: 'DebitControlsRow',
    tableName: 'debit_controls',
    properties: {
      balanceId: p.uuid().fieldName('balance_id').primary(),
      customerId: p.uuid().fieldName('customer_id'),
      blockAll: p.boolean().fieldName('block_all'),
      allowedCreditorIds: p.array().fieldName('allowed_creditor_ids').columnType('text[]').defaultRaw(`'{}'`),
      blockedCreditorIds: p.array().fieldName('blocked_creditor_ids').columnType('text[]').defaultRaw(`'{}'`),
      maxAmount: p.bigint().fieldName('max_amount').nullable(),
      periodicity: p.text().$type<Periodicity>().nullable(),
      version: p.integer().version(),
      updatedBy: p.uuid().fieldName('updated_by'),
      updatedAt: instant().fieldName('updated_at'),
    },
    checks: [{ name: 'debit_controls_amount_positive', expression: 'max_amount > 0' }],
  }),
)

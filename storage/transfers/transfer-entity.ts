/** A transfer of money between two balances of one customer. Only the commit writes it. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import type { TransferRecord } from '../../lib/transfers/transfer.ts'
import { jsonText } from '../db/columns.ts'

export const Transfer = defineEntity({
  name: 'Transfer',
  tableName: 'transfer',
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    operatorId: p.uuid().fieldName('operator_id'),
    shard: p.smallint(),
    number: p.text(),
    externalId: p.text().fieldName('external_id').nullable(),
    status: p.text().$type<TransferRecord['status']>(),
    version: p.integer(),
    fromBalanceId: p.uuid().fieldName('from_balance_id'),
    toBalanceId: p.uuid().fieldName('to_balance_id'),
    currency: p.string().columnType('char(3)'),
    amount: p.bigint(),
    reference: p.text().nullable(),
    createdBy: p.uuid().fieldName('created_by'),
    createdVia: p.text().$type<TransferRecord['createdVia']>().fieldName('created_via'),
    metadata: p.json<TransferRecord['metadata']>().nullable(),
    failure: jsonText<NonNullable<TransferRecord['failure']>>().nullable(),
    completedAt: instant().fieldName('completed_at').nullable(),
    createdAt: instant().fieldName('created_at'),
    updatedAt: instant().fieldName('updated_at'),
  },
  indexes: [{ name: 'transfer_customer', properties: ['customerId', 'id'] }],
  uniques: [
    { name: 'transfer_number_unique', properties: ['number'] },
    {
      name: 'transfer_external_id_unique',
      expression:
        'create unique index transfer_external_id_unique on transfer (customer_id, external_id) where external_id is not null',
    },
  ],
  checks: [{ name: 'transfer_amount_positive', expression: 'amount > 0' }],
})

/** A statement of a balance for a period. Its figures never change. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'

export const Statement = defineEntity({
  name: 'Statement',
  tableName: 'statement',
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    operatorId: p.uuid().fieldName('operator_id'),
    balanceId: p.uuid().fieldName('balance_id'),
    kind: p.text(),
    sequenceNumber: p.integer().fieldName('sequence_number'),
    periodFrom: p.string().fieldName('period_from').columnType('date'),
    periodTo: p.string().fieldName('period_to').columnType('date'),
    currency: p.string().columnType('char(3)'),
    firstSequence: p.bigint().fieldName('first_sequence'),
    lastSequence: p.bigint().fieldName('last_sequence'),
    opening: p.bigint(),
    closing: p.bigint(),
    credits: p.string().columnType('numeric(38,0)'),
    debits: p.string().columnType('numeric(38,0)'),
    creditCount: p.bigint().fieldName('credit_count'),
    debitCount: p.bigint().fieldName('debit_count'),
    largest: p.bigint(),
    holder: p.text(),
    status: p.text(),
    version: p.integer().defaultRaw('1'),
    jobId: p.uuid().fieldName('job_id').nullable(),
    createdAt: instant().fieldName('created_at'),
  },
  indexes: [
    { name: 'statement_balance', properties: ['balanceId', 'periodTo', 'id'] },
    {
      name: 'statement_month',
      expression: `create unique index statement_month on statement (balance_id, period_to) where kind = 'monthly'`,
    },
    { name: 'statement_job', expression: 'create unique index statement_job on statement (job_id)' },
  ],
  uniques: [{ name: 'statement_number_unique', properties: ['balanceId', 'kind', 'sequenceNumber'] }],
  checks: [
    { name: 'statement_adds_up', expression: 'opening + credits - debits = closing' },
    { name: 'statement_lines', expression: 'last_sequence - first_sequence + 1 = credit_count + debit_count' },
  ],
})

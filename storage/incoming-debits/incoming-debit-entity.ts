/** A direct debit that a creditor collects from a balance. Only the commit writes it. */
import { defineEntity, p } from '@mikro-orm/core'
import type { DebitAnswer, IncomingDebitStatus } from '../../lib/incoming-debits/incoming-debit.ts'
import type { RefusalReason } from '../../lib/incoming-debits/refusals.ts'
import type { MandateScheme } from '../../lib/rails/debit-schemes.ts'
import { instant } from '../db/entity-types.ts'

export const IncomingDebit = defineEntity({
  name: 'IncomingDebit',
  tableName: 'incoming_debit',
  triggers: [
    {
      name: 'task_added',
      timing: 'after',
      events: ['insert', 'update'],
      expression: `create constraint trigger task_added after insert or update of due_at on incoming_debit deferrable initially deferred for each row when (new.due_at is not null) execute function add_task_of_second('incoming_debits.take', 'due_at')`,
    },
  ],
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    balanceId: p.uuid().fieldName('balance_id'),
    operatorId: p.uuid().fieldName('operator_id'),
    connectionId: p.uuid().fieldName('connection_id'),
    shard: p.smallint(),
    status: p.text().$type<IncomingDebitStatus>(),
    version: p.integer(),
    scheme: p.text().$type<MandateScheme>(),
    currency: p.string().columnType('char(3)'),
    amount: p.bigint(),
    creditorName: p.text().fieldName('creditor_name'),
    creditorId: p.text().fieldName('creditor_id').nullable(),
    mandateReference: p.text().fieldName('mandate_reference').nullable(),
    mandateId: p.uuid().fieldName('mandate_id').nullable(),
    reference: p.text().nullable(),
    endToEndId: p.text().fieldName('end_to_end_id').nullable(),
    dueDate: p.date().fieldName('due_date'),
    isBooked: p.boolean().fieldName('is_booked'),
    dueAt: instant().fieldName('due_at').nullable(),
    refusal: p.text().$type<RefusalReason>().nullable(),
    reasonCode: p.text().fieldName('reason_code').nullable(),
    entryId: p.uuid().fieldName('entry_id').nullable(),
    backEntryId: p.uuid().fieldName('back_entry_id').nullable(),
    debitedAt: instant().fieldName('debited_at').nullable(),
    endedAt: instant().fieldName('ended_at').nullable(),
    answer: p.text().$type<DebitAnswer>().nullable(),
    answerDueAt: instant().fieldName('answer_due_at').nullable(),
    receivedAt: instant().fieldName('received_at'),
    updatedAt: instant().fieldName('updated_at'),
  },
  indexes: [
    { name: 'incoming_debit_customer', properties: ['customerId', 'receivedAt', 'id'] },
    {
      name: 'incoming_debit_end_to_end',
      expression:
        'create index incoming_debit_end_to_end on incoming_debit (connection_id, end_to_end_id) where end_to_end_id is not null',
    },
    {
      name: 'incoming_debit_due',
      expression: 'create index incoming_debit_due on incoming_debit (due_at) where due_at is not null',
    },
    {
      name: 'incoming_debit_answer_due',
      expression:
        'create index incoming_debit_answer_due on incoming_debit (answer_due_at) where answer_due_at is not null',
    },
    {
      name: 'incoming_debit_mandate',
      expression: `create index incoming_debit_mandate on incoming_debit (mandate_id) where status = 'pending_confirmation'`,
    },
    {
      name: 'incoming_debit_open',
      expression: `create index incoming_debit_open on incoming_debit (balance_id) where due_at is not null`,
    },
  ],
  checks: [{ name: 'incoming_debit_amount_positive', expression: 'amount > 0' }],
})

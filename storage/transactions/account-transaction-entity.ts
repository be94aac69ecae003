/**
 * A movement of money as its customer sees it, and the users' notes on it.
 *
 * Each index was the plan of some filter or sort of the list, looked at with every filter in every order over 200 000
 * rows, three quarters of them of one customer. An index costs a row's insert 2 to 4 us of a backend, the words 25.
 */
import { defineEntity, p } from '@mikro-orm/core'
import { bigVersion, instant, managed } from '../db/entity-types.ts'

const KEYSET = '(customer_id, created_at, id)'

export const AccountTransaction = defineEntity({
  name: 'AccountTransaction',
  tableName: 'account_transaction',
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    balanceId: p.uuid().fieldName('balance_id'),
    type: p.text(),
    status: p.text(),
    direction: p.text(),
    currency: p.string().columnType('char(3)'),
    amount: p.bigint(),
    fee: p.bigint().defaultRaw('0'),
    feeTax: p.bigint().fieldName('fee_tax').defaultRaw('0'),
    orderId: p.text().fieldName('order_id').nullable(),
    description: p.text(),
    counterpartyName: p.text().fieldName('counterparty_name').nullable(),
    counterpartyIdentifier: p.text().fieldName('counterparty_identifier').nullable(),
    recipientId: p.uuid().fieldName('recipient_id').nullable(),
    reference: p.text().nullable(),
    rail: p.text().nullable(),
    category: p.text().nullable(),
    sourceObject: p.text().fieldName('source_object'),
    sourceId: p.uuid().fieldName('source_id'),
    sourceVersion: p.bigint().fieldName('source_version'),
    runningBalance: p.bigint().fieldName('running_balance').nullable(),
    bookedAt: instant().fieldName('booked_at').nullable(),
    valueDate: p.string().fieldName('value_date').columnType('date').nullable(),
    attachmentCount: p.integer().fieldName('attachment_count').defaultRaw('0'),
    annotationCount: p.integer().fieldName('annotation_count').defaultRaw('0'),
    version: p.bigint().defaultRaw('1'),
    createdAt: instant().fieldName('created_at'),
    updatedAt: instant().fieldName('updated_at'),
  },
  indexes: [
    { name: 'account_transaction_created', properties: ['customerId', 'createdAt', 'id'] },
    {
      name: 'account_transaction_booked',
      expression: `create index account_transaction_booked on account_transaction (customer_id, coalesce(booked_at, 'infinity'::timestamptz), id)`,
    },
    { name: 'account_transaction_amount', properties: ['customerId', 'amount', 'id'] },
    { name: 'account_transaction_balance', properties: ['balanceId', 'createdAt', 'id'] },
    { name: 'account_transaction_source', properties: ['sourceId'] },
    {
      name: 'account_transaction_recipient',
      expression:
        'create index account_transaction_recipient on account_transaction (recipient_id, created_at, id) where recipient_id is not null',
    },
    {
      name: 'account_transaction_category',
      expression:
        'create index account_transaction_category on account_transaction (customer_id, category, created_at, id) where category is not null',
    },
    { name: 'account_transaction_type', properties: ['customerId', 'type', 'createdAt', 'id'] },
    {
      name: 'account_transaction_rail',
      expression:
        'create index account_transaction_rail on account_transaction (customer_id, rail, created_at, id) where rail is not null',
    },
    {
      name: 'account_transaction_unsettled',
      expression: `create index account_transaction_unsettled on account_transaction ${KEYSET} where status <> 'completed'`,
    },
    {
      name: 'account_transaction_besides_out',
      expression: `create index account_transaction_besides_out on account_transaction ${KEYSET} where type <> 'outgoing_payment'`,
    },
    {
      name: 'account_transaction_besides_in',
      expression: `create index account_transaction_besides_in on account_transaction ${KEYSET} where type <> 'incoming_payment'`,
    },
    {
      name: 'account_transaction_attached',
      expression: `create index account_transaction_attached on account_transaction ${KEYSET} where attachment_count > 0`,
    },
    {
      name: 'account_transaction_annotated',
      expression: `create index account_transaction_annotated on account_transaction ${KEYSET} where annotation_count > 0`,
    },
    {
      name: 'account_transaction_search',
      expression: `create index account_transaction_search on account_transaction using gin ((search_words(customer_id,
      description || ' ' || coalesce(counterparty_name, '') || ' ' || coalesce(reference, '') || ' ' || coalesce(order_id, ''))))`,
    },
  ],
  checks: [{ name: 'account_transaction_amount_positive', expression: 'amount > 0' }],
})

/** A user's note on a transaction. */
export const Annotation = managed(
  defineEntity({
    name: 'Annotation',
    tableName: 'annotation',
    properties: {
      id: p.uuid().primary(),
      transactionId: p.uuid().fieldName('transaction_id'),
      customerId: p.uuid().fieldName('customer_id'),
      text: p.text(),
      authorId: p.uuid().fieldName('author_id'),
      authorName: p.text().fieldName('author_name'),
      version: bigVersion(),
      createdAt: instant().fieldName('created_at'),
      updatedAt: instant().fieldName('updated_at'),
    },
    indexes: [{ name: 'annotation_transaction', properties: ['transactionId', 'id'] }],
  }),
)

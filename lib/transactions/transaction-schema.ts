/** Schemas of transactions: every movement of a customer's money, whatever its cause. */
import Type, { type Static } from 'typebox'
import { TRANSACTION_STATUSES } from './transaction.ts'
import { list } from '../contract/list.ts'
import { Annotation } from './annotation-schema.ts'
import { Attachment } from '../documents/document-schema.ts'
import { Hold } from '../balances/hold-schema.ts'
import { JournalLine, TRANSACTION_TYPES, TransactionType } from '../balances/journal-line-schema.ts'
import { FeeTax } from '../pricing/pricing-template-schema.ts'
import { PaymentReturn } from '../payments/payment-schema.ts'
import {
  CalendarDate,
  Failure,
  Money,
  Nullable,
  Rail,
  Rate,
  Text,
  Timestamp,
  Uuid,
  Words,
} from '../contract/primitives.ts'

const DIRECTIONS = ['in', 'out'] as const
export const TransactionStatus = Words('TransactionStatus', TRANSACTION_STATUSES)
const CATEGORY_MAX = 50

export const Transaction = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    balanceId: Uuid,
    type: TransactionType,
    status: TransactionStatus,
    direction: Words('TransactionDirection', DIRECTIONS),
    amount: Money,
    fee: Nullable(Money),
    feeTax: FeeTax,
    orderId: Nullable(
      Type.String({ description: 'The number of the order that caused the transaction.', examples: ['PAY7K3M9QX2TB'] }),
    ),
    description: Type.String({ examples: ['Payment to Acme GmbH'] }),
    counterparty: Nullable(
      Type.Object({
        name: Nullable(Type.String()),
        maskedIdentifier: Nullable(Type.String()),
        recipientId: Nullable(Uuid),
      }),
    ),
    reference: Nullable(Type.String()),
    rail: Nullable(Rail),
    category: Nullable(Type.String({ description: "A category of the customer's own choice.", examples: ['travel'] })),
    source: Type.Object({
      object: Type.String({
        description: 'The kind of the object that caused the transaction.',
        examples: ['payment'],
      }),
      id: Uuid,
    }),
    exchange: Nullable(Type.Object({ rate: Rate, sellAmount: Money, buyAmount: Money })),
    merchant: Nullable(Type.Object({ name: Type.String(), mcc: Type.String(), country: Nullable(Type.String()) })),
    cardId: Nullable(Uuid),
    hasAttachments: Type.Boolean(),
    attachmentCount: Type.Integer({ minimum: 0 }),
    annotationCount: Type.Integer({ minimum: 0 }),
    runningBalance: Nullable(Money, {
      description: 'The balance after the transaction; null before the transaction is booked.',
    }),
    createdAt: Timestamp,
    bookedAt: Nullable(Timestamp),
    valueDate: Nullable(CalendarDate),
    updatedAt: Timestamp,
  },
  { title: 'Transaction' },
)
export type Transaction = Static<typeof Transaction>

export const TransactionUpdate = Type.Object(
  {
    id: Uuid,
    transactionId: Uuid,
    status: TransactionStatus,
    previousStatus: Nullable(TransactionStatus),
    message: Type.String(),
    actor: Words('TransactionActor', ['system', 'member', 'partner']),
    at: Timestamp,
  },
  { title: 'TransactionUpdate' },
)
export type TransactionUpdate = Static<typeof TransactionUpdate>

export const TransactionDetail = Type.Object(
  {
    ...Transaction.properties,
    updates: Type.Array(TransactionUpdate, { description: 'The newest 20, newest first.' }),
    holds: Type.Array(Hold),
    journalLines: Type.Array(JournalLine),
    annotations: Type.Array(Annotation, { description: 'The newest 100, newest first.' }),
    attachments: Type.Array(Attachment),
    related: Type.Array(
      Type.Object({
        object: Type.String(),
        id: Uuid,
        relation: Words(
          'TransactionRelation',
          ['return_of', 'recall_of', 'refund_of', 'fee_of', 'counterpart'],
          'The relation of this transaction to the other.',
        ),
      }),
    ),
    references: Type.Object({
      endToEndId: Nullable(Type.String()),
      uetr: Nullable(Uuid),
      providerRef: Type.Optional(Nullable(Type.String(), { description: 'Shown to operator staff only.' })),
    }),
    failure: Nullable(Failure),
    return: Nullable(PaymentReturn),
    originalAmount: Nullable(Money, {
      description: 'The amount in the merchant’s currency; null where that is the currency of the card.',
    }),
  },
  { title: 'TransactionDetail' },
)
export type TransactionDetail = Static<typeof TransactionDetail>

export const TransactionUpdateBody = Type.Object(
  {
    category: Type.Optional(Nullable(Text(1, CATEGORY_MAX))),
  },
  { title: 'TransactionChange', additionalProperties: false, examples: [{ category: 'travel' }] },
)
export type TransactionUpdateBody = Static<typeof TransactionUpdateBody>

export const transactionList = list({
  filters: {
    status: { kind: 'words', values: TRANSACTION_STATUSES },
    type: { kind: 'words', values: TRANSACTION_TYPES },
    direction: { kind: 'words', values: DIRECTIONS },
    balanceId: { kind: 'ids' },
    currency: { kind: 'text', max: 3 },
    rail: { kind: 'words', values: Rail.enum },
    recipientId: { kind: 'ids' },
    cardId: { kind: 'ids' },
    category: { kind: 'text', max: CATEGORY_MAX },
    sourceId: { kind: 'ids' },
    amountFrom: { kind: 'amountFrom' },
    amountTo: { kind: 'amountTo' },
    bookedFrom: { kind: 'timeFrom' },
    bookedTo: { kind: 'timeTo' },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
    hasAttachments: { kind: 'boolean' },
    hasAnnotations: { kind: 'boolean' },
  },
  sorts: ['-createdAt', 'createdAt', '-bookedAt', '-amount'],
  q: true,
})
export const transactionUpdateList = list({ filters: {}, sorts: ['-at', 'at'] })

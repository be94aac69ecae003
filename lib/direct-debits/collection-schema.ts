/** Collections, as the API takes and shows them. */
import Type, { type Static } from 'typebox'
import { list } from '../contract/list.ts'
import {
  CalendarDate,
  CreatedVia,
  ExternalId,
  Metadata,
  Money,
  Nullable,
  PositiveMoney,
  Text,
  Timestamp,
  Uuid,
  Words,
} from '../contract/primitives.ts'
import { COLLECTION_STATUSES, REVERSAL_STATUSES } from './collection.ts'
import { MandateScheme, SequenceType } from './mandate-schema.ts'
import { R_TRANSACTION_TYPES } from './reason-codes.ts'
import { REVERSAL_REASONS } from './reversal.ts'

const CollectionStatus = Words('CollectionStatus', COLLECTION_STATUSES)
const ReversalReason = Words('ReversalReason', REVERSAL_REASONS)
const Retry = {
  enabled: Type.Boolean(),
  maxAttempts: Type.Integer({ minimum: 1, maximum: 3 }),
  withinDays: Type.Integer({ minimum: 1, maximum: 28 }),
} as const

export const Collection = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    number: Type.String({ examples: ['COL7K3M9QX2TB'] }),
    externalId: Nullable(ExternalId),
    mandateId: Uuid,
    balanceId: Uuid,
    scheme: MandateScheme,
    status: CollectionStatus,
    statusReason: Nullable(Type.String()),
    amount: Money,
    dueDate: CalendarDate,
    submissionDeadline: Timestamp,
    sequenceType: SequenceType,
    reference: Type.String(),
    endToEndId: Type.String(),
    preNotification: Nullable(
      Type.Object(
        {
          sentBy: Words('PreNotificationSender', ['customer', 'service']),
          channel: Words('PreNotificationChannel', ['email', 'letter', 'none']),
          sentAt: Nullable(Timestamp),
          sendBy: CalendarDate,
          values: Type.Object(
            {
              amount: Money,
              dueDate: CalendarDate,
              reference: Type.String(),
              creditorName: Nullable(Type.String()),
              creditorId: Nullable(Type.String()),
              mandateReference: Type.String(),
              account: Nullable(Type.String({ description: 'Of the payer, its numbers masked.' })),
            },
            { title: 'PreNotificationValues', description: 'The values of its text.' },
          ),
        },
        { title: 'PreNotification', description: 'Sent again when the amount or the date has changed.' },
      ),
    ),
    preNotifiedAt: Nullable(Timestamp),
    submittedAt: Nullable(Timestamp),
    collectedAt: Nullable(Timestamp),
    returnedAt: Nullable(Timestamp),
    failedAt: Nullable(Timestamp),
    cancelledAt: Nullable(Timestamp),
    reversedAt: Nullable(Timestamp),
    rTransactions: Type.Array(
      Type.Object(
        {
          type: Type.Union([Words('RTransactionType', R_TRANSACTION_TYPES), Type.Literal('reinstatement')]),
          reasonCode: Nullable(Type.String()),
          reason: Type.String(),
          at: Timestamp,
          amount: Nullable(Money),
          fee: Nullable(Money),
          challengeUntil: Nullable(CalendarDate),
        },
        { title: 'RTransaction' },
      ),
      { description: 'Oldest first.' },
    ),
    returnedAmount: Money,
    refundableUntil: Nullable(CalendarDate),
    retry: Nullable(Type.Object(Retry, { title: 'CollectionRetry' })),
    attempts: Type.Array(
      Type.Object(
        {
          number: Type.Integer(),
          dueDate: CalendarDate,
          submittedAt: Nullable(Timestamp),
          outcome: Words('AttemptOutcome', ['pending', 'submitted', 'collected', 'failed', 'returned']),
          reasonCode: Nullable(Type.String()),
        },
        { title: 'CollectionAttempt' },
      ),
    ),
    reversal: Nullable(
      Type.Object(
        {
          status: Words('ReversalStatus', REVERSAL_STATUSES),
          reasonCode: ReversalReason,
          note: Nullable(Type.String()),
          amount: Money,
          requestedAt: Timestamp,
          decidedAt: Nullable(Timestamp),
          refusalCode: Nullable(Type.String()),
        },
        { title: 'CollectionReversal', description: 'The last one. Refused, the collection is `collected` again.' },
      ),
    ),
    nextAttemptAt: Nullable(Timestamp),
    willRetry: Type.Boolean(),
    reservedUntil: Nullable(Timestamp),
    transactionId: Nullable(Uuid),
    providerRef: Nullable(Type.String()),
    cancellable: Type.Boolean(),
    metadata: Metadata,
    createdBy: Uuid,
    createdVia: CreatedVia,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Collection' },
)
export type Collection = Static<typeof Collection>

export const CollectionCreate = Type.Object(
  {
    mandateId: Uuid,
    amount: PositiveMoney,
    dueDate: Type.Optional(Nullable(CalendarDate, { description: 'By default the earliest that is possible.' })),
    reference: Text(1, 140),
    externalId: Type.Optional(Nullable(ExternalId)),
    retry: Type.Optional(
      Nullable(
        Type.Object(
          {
            enabled: Retry.enabled,
            maxAttempts: Type.Optional(Retry.maxAttempts),
            withinDays: Type.Optional(Retry.withinDays),
          },
          { title: 'CollectionRetryCreate', additionalProperties: false },
        ),
      ),
    ),
    metadata: Type.Optional(Metadata),
  },
  {
    title: 'CollectionCreate',
    additionalProperties: false,
    examples: [
      {
        mandateId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
        amount: { amountMinor: '12500', currency: 'EUR' },
        reference: 'Invoice 42',
      },
    ],
  },
)
export type CollectionCreate = Static<typeof CollectionCreate>

export const PreNotificationSent = Type.Object(
  {
    channel: Words('PreNotificationSentBy', ['email', 'letter']),
    sentAt: Type.Optional(Nullable(Timestamp, { description: 'By default now.' })),
  },
  { title: 'PreNotificationSent', additionalProperties: false, examples: [{ channel: 'letter' }] },
)
export type PreNotificationSent = Static<typeof PreNotificationSent>

export const CollectionReverse = Type.Object(
  { reasonCode: ReversalReason, note: Type.Optional(Nullable(Text(1, 140))) },
  { title: 'CollectionReverse', additionalProperties: false, examples: [{ reasonCode: 'DUPL', note: 'Invoice 42' }] },
)
export type CollectionReverse = Static<typeof CollectionReverse>

export const CollectionStatusReport = Type.Object(
  {
    status: Words(
      'ReportedCollectionStatus',
      ['submitted', 'collected', 'failed', 'returned', 'reinstated', 'reversed'],
      '`reinstated`: returned money came again. Of a collection that its creditor has reversed: `reversed` when the bank has sent the money back, `collected` when it has refused to.',
    ),
    reasonCode: Type.Optional(Nullable(Text(1, 10))),
    amount: Type.Optional(
      Nullable(PositiveMoney, {
        description: 'What came back, with the compensation of the bank, or came again; by default all of it.',
      }),
    ),
    documentId: Type.Optional(Nullable(Uuid, { description: 'A document of the customer that proves the report.' })),
    reportedAt: Timestamp,
  },
  {
    title: 'CollectionStatusReport',
    additionalProperties: false,
    examples: [{ status: 'collected', reportedAt: '2026-05-04T09:30:00.000Z' }],
  },
)
export type CollectionStatusReport = Static<typeof CollectionStatusReport>

export const collectionList = list({
  filters: {
    status: { kind: 'words', values: COLLECTION_STATUSES },
    mandateId: { kind: 'ids' },
    balanceId: { kind: 'ids' },
    dueFrom: { kind: 'dateFrom' },
    dueTo: { kind: 'dateTo' },
    externalId: { kind: 'text', max: 64 },
    reasonCode: { kind: 'text', max: 10 },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'dueDate', '-dueDate'],
})

/** Schemas of transfers: money that moves between two balances of one customer. */
import Type, { type Static } from 'typebox'
import { list } from '../contract/list.ts'
import {
  CreatedVia,
  ExternalId,
  Failure,
  Metadata,
  Money,
  Nullable,
  PositiveMoney,
  Text,
  Timestamp,
  Uuid,
  Words,
} from '../contract/primitives.ts'

const STATUSES = ['processing', 'completed', 'on_hold', 'failed', 'exception'] as const

export const Transfer = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    number: Type.String({ examples: ['TRF7K3M9QX2TB'] }),
    externalId: Nullable(ExternalId),
    status: Words('TransferStatus', STATUSES),
    fromBalanceId: Uuid,
    toBalanceId: Uuid,
    amount: Money,
    reference: Nullable(Type.String()),
    failure: Nullable(Failure),
    transactionIds: Type.Array(Uuid, { description: 'The outgoing one, then the incoming one.' }),
    createdBy: Uuid,
    createdVia: CreatedVia,
    completedAt: Nullable(Timestamp),
    metadata: Metadata,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Transfer' },
)
export type Transfer = Static<typeof Transfer>

export const TransferCreate = Type.Object(
  {
    fromBalanceId: Uuid,
    toBalanceId: Uuid,
    amount: PositiveMoney,
    reference: Type.Optional(Nullable(Text(0, 140))),
    externalId: Type.Optional(Nullable(ExternalId)),
    metadata: Type.Optional(Metadata),
  },
  {
    title: 'TransferCreate',
    additionalProperties: false,
    examples: [
      {
        fromBalanceId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
        toBalanceId: '01980d6e-8a01-7b44-8e12-1c2d3e4f5a6b',
        amount: { amountMinor: '12500', currency: 'EUR' },
        reference: 'Savings',
      },
    ],
  },
)
export type TransferCreate = Static<typeof TransferCreate>

export const transferList = list({
  filters: {
    status: { kind: 'words', values: STATUSES },
    fromBalanceId: { kind: 'ids' },
    toBalanceId: { kind: 'ids' },
    balanceId: { kind: 'ids' },
    currency: { kind: 'text', max: 3 },
    externalId: { kind: 'text', max: 64 },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'createdAt'],
})

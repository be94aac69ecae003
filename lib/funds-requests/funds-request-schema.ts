/** Funds requests: money that a customer requests from an outside payer. */
import Type, { type Static } from 'typebox'
import { FUNDS_REQUEST_STATUSES } from './funds-request.ts'
import { list } from '../contract/list.ts'
import { AccountDetails } from '../accounts/account-details-schema.ts'
import {
  CalendarDate,
  Email,
  ExternalId,
  Metadata,
  MetadataPatch,
  Money,
  Nullable,
  PositiveMoney,
  Text,
  Timestamp,
  Uuid,
  Words,
} from '../contract/primitives.ts'

const FundsRequestStatus = Words(
  'FundsRequestStatus',
  FUNDS_REQUEST_STATUSES,
  '`declined`: the payer refused on the page of the link.',
)
const AllowPartial = Type.Boolean({
  description: 'Whether the payer is offered to pay in parts. Every payment with the reference counts in any case.',
})
const Reference = Type.String({
  description: 'Creditor reference of ISO 11649: incoming payments that quote it are counted.',
  examples: ['RF18539007547034'],
})

export const FundsRequest = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    number: Type.String({ examples: ['FRQ7K3M9QX2TB'] }),
    externalId: Nullable(ExternalId),
    status: FundsRequestStatus,
    balanceId: Uuid,
    amount: Money,
    paidAmount: Money,
    remainingAmount: Money,
    payer: Type.Object(
      { name: Type.String(), email: Nullable(Email), recipientId: Nullable(Uuid) },
      { title: 'FundsRequestPayer' },
    ),
    description: Type.String(),
    invoiceNumber: Nullable(Type.String()),
    dueDate: Nullable(CalendarDate),
    expiresAt: Timestamp,
    allowPartial: AllowPartial,
    reference: Reference,
    depositDetails: Type.Array(AccountDetails, {
      description: 'The accounts of the balance that accept payments now.',
    }),
    link: Nullable(
      Type.String({ format: 'uri', description: 'The page that shows the request to the payer, without sign-in.' }),
    ),
    payments: Type.Array(
      Type.Object({ incomingPaymentId: Uuid, amount: Money, at: Timestamp }, { title: 'FundsRequestPayment' }),
    ),
    remindersSent: Type.Integer({ minimum: 0, maximum: 5 }),
    lastRemindedAt: Nullable(Timestamp),
    metadata: Metadata,
    createdBy: Uuid,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'FundsRequest' },
)
export type FundsRequest = Static<typeof FundsRequest>

export const FundsRequestCreate = Type.Object(
  {
    balanceId: Uuid,
    amount: PositiveMoney,
    payer: Type.Object(
      {
        name: Text(1, 140),
        email: Type.Optional(Nullable(Email)),
        recipientId: Type.Optional(Nullable(Uuid)),
      },
      { title: 'FundsRequestPayerInput', additionalProperties: false },
    ),
    description: Text(1, 140),
    externalId: Type.Optional(Nullable(ExternalId)),
    invoiceNumber: Type.Optional(Nullable(Text(1, 35))),
    dueDate: Type.Optional(Nullable(CalendarDate)),
    expiresAt: Type.Optional(
      Nullable(Type.String({ format: 'date-time', description: 'Within 365 days; by default in thirty days.' })),
    ),
    allowPartial: Type.Optional(AllowPartial),
    send: Type.Optional(Type.Boolean({ description: 'Whether a payer with an address gets a mail; by default true.' })),
    metadata: Type.Optional(Metadata),
  },
  {
    title: 'FundsRequestCreate',
    additionalProperties: false,
    examples: [
      {
        balanceId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
        amount: { amountMinor: '125000', currency: 'EUR' },
        payer: { name: 'Amsterdam Trading BV', email: 'billing@example.com' },
        description: 'Consulting in April',
        invoiceNumber: 'INV-2026-0042',
      },
    ],
  },
)
export type FundsRequestCreate = Static<typeof FundsRequestCreate>

export const FundsRequestUpdate = Type.Object(
  {
    description: Type.Optional(Text(1, 140)),
    dueDate: Type.Optional(Nullable(CalendarDate)),
    expiresAt: Type.Optional(Type.String({ format: 'date-time' })),
    metadata: Type.Optional(MetadataPatch),
  },
  {
    title: 'FundsRequestUpdate',
    additionalProperties: false,
    description:
      'Members that are left out stay unchanged. `metadata` can be changed at any time, the other members ' +
      'while the request is open.',
    examples: [{ dueDate: '2026-06-30' }],
  },
)
export type FundsRequestUpdate = Static<typeof FundsRequestUpdate>

/** The account details that a payer needs in order to pay, and no others. */
const PublicDetails = Type.Pick(
  AccountDetails,
  [
    'currency',
    'rails',
    'accountHolderName',
    'iban',
    'bic',
    'accountNumber',
    'sortCode',
    'routingNumber',
    'bsb',
    'bankCode',
    'branchCode',
    'clabe',
    'bankName',
    'bankAddress',
    'country',
    'scope',
    'shared',
    'reference',
    'intermediaryBic',
    'estimatedArrival',
  ],
  { title: 'PublicDepositDetails' },
)

export const PublicFundsRequest = Type.Object(
  {
    payeeName: Type.String(),
    status: FundsRequestStatus,
    number: Type.String(),
    amount: Money,
    paidAmount: Money,
    remainingAmount: Money,
    description: Type.String(),
    invoiceNumber: Nullable(Type.String()),
    dueDate: Nullable(CalendarDate),
    expiresAt: Timestamp,
    allowPartial: AllowPartial,
    reference: Reference,
    depositDetails: Type.Array(PublicDetails, {
      description: 'The accounts to pay to; empty when the request is no longer open.',
    }),
    qrPayload: Nullable(
      Type.String({ description: 'Text of a QR code for banking apps (EPC069-12). Only for euros to an IBAN.' }),
    ),
  },
  { title: 'PublicFundsRequest' },
)
export type PublicFundsRequest = Static<typeof PublicFundsRequest>

export const ArrivalAllocation = Type.Object(
  { fundsRequestId: Uuid },
  {
    title: 'IncomingPaymentAllocation',
    additionalProperties: false,
    examples: [{ fundsRequestId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f' }],
  },
)
export type ArrivalAllocation = Static<typeof ArrivalAllocation>

export const fundsRequestList = list({
  filters: {
    status: { kind: 'words', values: FUNDS_REQUEST_STATUSES },
    balanceId: { kind: 'ids' },
    currency: { kind: 'text', max: 3 },
    number: { kind: 'text', max: 20 },
    dueFrom: { kind: 'dateFrom' },
    dueTo: { kind: 'dateTo' },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'dueDate'],
})

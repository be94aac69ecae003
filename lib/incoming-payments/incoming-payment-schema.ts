/**
 * Schemas of incoming money: the customer's view, the operator's suspense list, and the sandbox simulations of both.
 */
import Type, { type Static } from 'typebox'
import { RECALL_REASONS, SHOWN_STATUSES, SUSPENSE_REASONS, SUSPENSE_STATUSES } from './incoming-payment.ts'
import { list } from '../contract/list.ts'
import {
  CalendarDate,
  CountryCode,
  Money,
  Nullable,
  PositiveMoney,
  Rail,
  RecallStatus,
  Text,
  Timestamp,
  Uuid,
  Words,
} from '../contract/primitives.ts'

const RecallReason = Words('IncomingRecallReason', RECALL_REASONS)

const Payer = Type.Object(
  {
    name: Nullable(Type.String()),
    maskedIdentifier: Nullable(Type.String()),
    bankName: Nullable(Type.String()),
    country: Nullable(CountryCode),
  },
  { title: 'IncomingPayer' },
)

export const IncomingPayment = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    balanceId: Uuid,
    status: Words('IncomingPaymentStatus', SHOWN_STATUSES, 'Customers see only `received` and `returned` payments.'),
    amount: Money,
    rail: Nullable(Rail),
    payer: Payer,
    reference: Nullable(Type.String()),
    endToEndId: Nullable(Type.String()),
    uetr: Nullable(Uuid),
    fundsRequestId: Nullable(Uuid),
    transactionId: Nullable(Uuid),
    valueDate: CalendarDate,
    receivedAt: Timestamp,
    recall: Nullable(
      Type.Object(
        {
          status: RecallStatus,
          reasonCode: RecallReason,
          requestedAt: Timestamp,
          decidedAt: Nullable(Timestamp),
        },
        { title: 'IncomingRecall' },
      ),
    ),
  },
  { title: 'IncomingPayment' },
)
export type IncomingPayment = Static<typeof IncomingPayment>

const TIMES = { receivedFrom: { kind: 'timeFrom' }, receivedTo: { kind: 'timeTo' } } as const

export const incomingPaymentList = list({
  filters: {
    balanceId: { kind: 'ids' },
    currency: { kind: 'text', max: 3 },
    rail: { kind: 'words', values: Rail.enum },
    fundsRequestId: { kind: 'ids' },
    ...TIMES,
  },
  sorts: ['-receivedAt', 'receivedAt'],
})

export const SuspenseItem = Type.Object(
  {
    id: Uuid,
    status: Words('SuspenseStatus', SUSPENSE_STATUSES),
    reason: Words('SuspenseReason', SUSPENSE_REASONS, 'The reason why the amount is in suspense.'),
    amount: Money,
    connectionId: Uuid,
    rail: Nullable(Rail),
    payer: Payer,
    reference: Nullable(Type.String()),
    endToEndId: Nullable(Type.String()),
    uetr: Nullable(Uuid),
    valueDate: CalendarDate,
    customerId: Nullable(Uuid, { description: 'The customer that was found to own the amount.' }),
    balanceId: Nullable(Uuid),
    incomingPaymentId: Nullable(Uuid, { description: "The id of the owner's incoming payment, after the allocation." }),
    returnReasonCode: Nullable(Type.String()),
    decidedBy: Nullable(Uuid),
    decidedAt: Nullable(Timestamp),
    decisionReason: Nullable(Type.String()),
    receivedAt: Timestamp,
  },
  { title: 'SuspenseItem' },
)
export type SuspenseItem = Static<typeof SuspenseItem>

export const suspenseList = list({
  filters: {
    status: { kind: 'words', values: SUSPENSE_STATUSES, default: ['open'] },
    reason: { kind: 'words', values: SUSPENSE_REASONS },
    currency: { kind: 'text', max: 3 },
    ...TIMES,
  },
  sorts: ['receivedAt', '-receivedAt'],
})

export const SuspenseAllocation = Type.Object(
  {
    balanceId: Uuid,
    reason: Type.Optional(Nullable(Text(1, 500))),
  },
  {
    title: 'SuspenseAllocation',
    additionalProperties: false,
    examples: [{ balanceId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f', reason: 'The payer confirmed the account.' }],
  },
)
export type SuspenseAllocation = Static<typeof SuspenseAllocation>

export const SuspenseReturn = Type.Object(
  {
    reason: Text(1, 500),
    reasonCode: Type.Optional(Words('SuspenseReturnReason', ['AC01', 'AC03', 'AC04', 'AC06', 'BE01', 'MS03', 'NARR'])),
  },
  {
    title: 'SuspenseReturn',
    additionalProperties: false,
    examples: [{ reason: 'No such customer.', reasonCode: 'AC01' }],
  },
)
export type SuspenseReturn = Static<typeof SuspenseReturn>

// ── The sandbox
// ───────────────────────────────────────────────────────────────────────────────────────────────────────

const CREDIT = {
  balanceId: Uuid,
  amount: PositiveMoney,
  payerName: Type.Optional(
    Text(1, 140, {
      description:
        'With `SBX:HOLD` in the text the payment is reviewed first; with `SBX:UNALLOCATED` the bank does not ' +
        'know the owner.',
    }),
  ),
  payerIban: Type.Optional(Nullable(Text(1, 42))),
  payerAccountNumber: Type.Optional(Nullable(Text(1, 34))),
  payerSortCode: Type.Optional(Nullable(Text(6, 8))),
  reference: Type.Optional(Nullable(Text(1, 140))),
  rail: Type.Optional(Nullable(Rail)),
  endToEndId: Type.Optional(Nullable(Text(1, 35))),
  valueDate: Type.Optional(Nullable(CalendarDate)),
}
const EXAMPLES = [
  {
    balanceId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
    amount: { amountMinor: '12500', currency: 'EUR' },
    payerName: 'Acme BV',
    reference: 'Invoice 42',
  },
]

export const SimIncomingPayment = Type.Object(CREDIT, {
  title: 'SimIncomingPayment',
  additionalProperties: false,
  examples: EXAMPLES,
})
export type SimIncomingPayment = Static<typeof SimIncomingPayment>

export const SandboxIncomingPayment = Type.Object(CREDIT, {
  title: 'SandboxIncomingPayment',
  additionalProperties: false,
  examples: EXAMPLES,
})

export const SimIncomingRecall = Type.Object(
  {
    reasonCode: Type.Optional(RecallReason),
    amount: Type.Optional(Nullable(PositiveMoney, { description: 'By default the whole amount.' })),
    note: Type.Optional(Nullable(Text(0, 500))),
  },
  { title: 'SimIncomingRecall', additionalProperties: false, examples: [{ reasonCode: 'DUPL' }] },
)
export type SimIncomingRecall = Static<typeof SimIncomingRecall>

// ── Adding money
// ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** Schemas of incoming debits: the customer's view, its commands, the controls of a balance, and the simulation. */
import Type, { type Static } from 'typebox'
import { PERIODICITIES } from '../balances/debit-controls.ts'
import { list } from '../contract/list.ts'
import {
  CalendarDate,
  CurrencyCode,
  Money,
  Nullable,
  PositiveMoney,
  Text,
  Timestamp,
  Uuid,
  Words,
} from '../contract/primitives.ts'
import { MANDATE_SCHEMES } from '../rails/debit-schemes.ts'
import { INCOMING_DEBIT_STATUSES } from './incoming-debit.ts'
import { REFUND_REASONS } from './schemes.ts'

const Scheme = Words('MandateScheme', MANDATE_SCHEMES)
const Status = Words(
  'IncomingDebitStatus',
  INCOMING_DEBIT_STATUSES,
  '`pending_confirmation`: the mandate has to be confirmed first. `returned`: the bank or the creditor gave the ' +
    'money back; `refunded`: at the wish of the customer.',
)

export const IncomingDebit = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    balanceId: Uuid,
    status: Status,
    scheme: Scheme,
    amount: Money,
    creditor: Type.Object(
      { name: Type.String(), identifier: Nullable(Type.String()) },
      { title: 'IncomingDebitCreditor' },
    ),
    mandateReference: Nullable(Type.String()),
    reference: Nullable(Type.String()),
    endToEndId: Nullable(Type.String()),
    dueDate: CalendarDate,
    reasonCode: Nullable(
      Type.String({ description: 'The code of a refusal, return or refund, as the bank is told or has told it.' }),
    ),
    reason: Nullable(Type.String({ description: 'Why the debit was refused, in words.' })),
    refundableUntil: Nullable(Timestamp, {
      description: 'The end of the time for a refund of an authorised debit (MD06); null where there is none.',
    }),
    unauthorisedRefundUntil: Nullable(Timestamp, {
      description: 'The end of the time for a refund of a debit without a mandate (MD01); null where there is none.',
    }),
    transactionId: Nullable(Uuid),
    returnTransactionId: Nullable(Uuid),
    receivedAt: Timestamp,
    debitedAt: Nullable(Timestamp),
    endedAt: Nullable(Timestamp, { description: 'When the debit was refused, returned or refunded.' }),
    updatedAt: Timestamp,
  },
  { title: 'IncomingDebit' },
)
export type IncomingDebit = Static<typeof IncomingDebit>

export const incomingDebitList = list({
  filters: {
    status: { kind: 'words', values: INCOMING_DEBIT_STATUSES },
    balanceId: { kind: 'ids' },
    scheme: { kind: 'words', values: MANDATE_SCHEMES },
    currency: { kind: 'text', max: 3 },
    creditorId: { kind: 'text', max: 35 },
    receivedFrom: { kind: 'timeFrom' },
    receivedTo: { kind: 'timeTo' },
  },
  sorts: ['-receivedAt', 'receivedAt'],
})

export const IncomingDebitRefusal = Type.Object(
  {
    cancelMandate: Type.Optional(
      Type.Boolean({ description: 'Also ends the mandate: its later debits are refused with the code MD01.' }),
    ),
  },
  { title: 'IncomingDebitRefusal', additionalProperties: false, examples: [{ cancelMandate: true }] },
)
export type IncomingDebitRefusal = Static<typeof IncomingDebitRefusal>

export const IncomingDebitRefund = Type.Object(
  {
    reasonCode: Words(
      'IncomingDebitRefundReason',
      REFUND_REASONS,
      '`MD06`: an authorised debit. `MD01`: a debit without a mandate, which also ends the mandate that it named.',
    ),
  },
  { title: 'IncomingDebitRefund', additionalProperties: false, examples: [{ reasonCode: 'MD06' }] },
)
export type IncomingDebitRefund = Static<typeof IncomingDebitRefund>

// ── Controls
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const CREDITORS_MAX = 200
const CreditorIds = (description: string) =>
  Type.Array(Text(1, 35), { maxItems: CREDITORS_MAX, uniqueItems: true, description })

const CONTROLS = {
  blockAll: Type.Boolean({ description: 'Refuses all direct debits of the balance.' }),
  allowedCreditorIds: CreditorIds('When it names any, only these creditors may collect.'),
  blockedCreditorIds: CreditorIds('These creditors may not collect.'),
  maxAmount: Nullable(PositiveMoney, {
    description: 'The largest amount of one debit, in the currency of the balance.',
  }),
  periodicity: Nullable(
    Words('DebitPeriodicity', PERIODICITIES, 'A mandate is debited at most once in this time, by its due dates.'),
  ),
}

export const DebitControls = Type.Object(
  {
    ...CONTROLS,
    balanceId: Uuid,
    currency: CurrencyCode,
    updatedBy: Nullable(Uuid),
    updatedAt: Nullable(Timestamp),
  },
  { title: 'DebitControls' },
)
export type DebitControls = Static<typeof DebitControls>

export const DebitControlsWrite = Type.Object(CONTROLS, {
  title: 'DebitControlsWrite',
  additionalProperties: false,
  examples: [
    {
      blockAll: false,
      allowedCreditorIds: [],
      blockedCreditorIds: ['DE98ZZZ09999999999'],
      maxAmount: { amountMinor: '50000', currency: 'EUR' },
      periodicity: 'monthly',
    },
  ],
})
export type DebitControlsWrite = Static<typeof DebitControlsWrite>

// ── The sandbox
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

export const SimIncomingDebit = Type.Object(
  {
    balanceId: Uuid,
    amount: PositiveMoney,
    creditorName: Text(1, 140, {
      description: 'With `SBX:NOMANDATE` in the text the debit names no mandate, and is refused with the code MD01.',
    }),
    creditorId: Type.Optional(Nullable(Text(1, 35))),
    mandateReference: Type.Optional(Nullable(Text(1, 35))),
    scheme: Scheme,
    reference: Type.Optional(Nullable(Text(1, 140))),
    dueDate: Type.Optional(Nullable(CalendarDate, { description: 'By default today.' })),
  },
  {
    title: 'SimIncomingDebit',
    additionalProperties: false,
    examples: [
      {
        balanceId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
        amount: { amountMinor: '12500', currency: 'EUR' },
        creditorName: 'City Power',
        scheme: 'sepa_dd_core',
      },
    ],
  },
)
export type SimIncomingDebit = Static<typeof SimIncomingDebit>

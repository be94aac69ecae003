/** Schemas of adjustments: entries that the operator's treasury makes by hand. */
import Type, { type Static } from 'typebox'
import { list } from '../contract/list.ts'
import { CurrencyCode, Money, Nullable, PositiveMoney, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'
import { RULE_IDS } from '../ledger/postings.ts'
import { ADJUSTMENT_KINDS, ADJUSTMENT_STATUSES } from './adjustment.ts'

const REASON_MAX = 500
const DESCRIPTION_MAX = 140
const DOCUMENTS_MAX = 10
const CURRENCY_MAX = 3

const Kind = Words(
  'AdjustmentKind',
  ADJUSTMENT_KINDS,
  '`correction_credit` and `correction_debit` correct a balance for and against its customer (L90), `write_off` ends a ' +
    'negative balance (L91), `interest` pays interest (L92), `suspense_charge` and `suspense_direct_debit` explain a ' +
    "debit in suspense (L93), `house_funding` is the operator's own money at a partner (L94), which a break may show, `card_settlement_paid` and `card_settlement_received` are the net settlement with the card scheme (L74), `period_close` sweeps the " +
    'income and expenses of a month into equity (L95), `reversal` posts the opposite of such an entry.',
)
const Period = Type.String({ pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$', title: 'Period', examples: ['2026-05'] })
const Reason = Text(1, REASON_MAX, { description: "For the operator's staff; never shown to customers." })

export const AdjustmentCreate = Type.Object(
  {
    kind: Kind,
    balanceId: Type.Optional(Uuid),
    connectionId: Type.Optional(Uuid),
    amount: Type.Optional(PositiveMoney),
    currency: Type.Optional(CurrencyCode),
    period: Type.Optional(Period),
    breakId: Type.Optional(Uuid),
    entryId: Type.Optional(Uuid),
    description: Type.Optional(
      Text(1, DESCRIPTION_MAX, { description: 'The text that the customer reads; otherwise a text of the kind.' }),
    ),
    reason: Reason,
    documentIds: Type.Optional(
      Type.Array(Uuid, { maxItems: DOCUMENTS_MAX, description: "Documents of the balance's customer." }),
    ),
  },
  {
    title: 'AdjustmentCreate',
    description: 'The kind tells which members are needed; the others are refused with `not_applicable`.',
    additionalProperties: false,
    examples: [
      {
        kind: 'correction_credit',
        balanceId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
        amount: { amountMinor: '1250', currency: 'EUR' },
        reason: 'Charged twice, ticket 4711.',
      },
    ],
  },
)
export type AdjustmentCreate = Static<typeof AdjustmentCreate>

export const AdjustmentApprove = Type.Object(
  { note: Type.Optional(Nullable(Text(1, REASON_MAX))) },
  { title: 'AdjustmentApprove', additionalProperties: false },
)
export type AdjustmentApprove = Static<typeof AdjustmentApprove>

export const AdjustmentReject = Type.Object(
  { reason: Reason },
  { title: 'AdjustmentReject', additionalProperties: false },
)
export type AdjustmentReject = Static<typeof AdjustmentReject>

export const Adjustment = Type.Object(
  {
    id: Uuid,
    kind: Kind,
    status: Words('AdjustmentStatus', ADJUSTMENT_STATUSES),
    rule: Words('PostingRule', RULE_IDS, 'The posting rule.'),
    currency: CurrencyCode,
    amount: Nullable(Money, { description: 'Null for a period that is not closed yet.' }),
    balanceId: Nullable(Uuid),
    customerId: Nullable(Uuid),
    connectionId: Nullable(Uuid),
    period: Nullable(Period),
    breakId: Nullable(Uuid),
    entryId: Nullable(Uuid, { description: 'The entry that is reversed.' }),
    description: Type.String(),
    reason: Type.String(),
    documentIds: Type.Array(Uuid),
    requestedBy: Uuid,
    requestedByName: Type.String(),
    decidedBy: Nullable(Uuid),
    decidedByName: Nullable(Type.String()),
    decidedAt: Nullable(Timestamp),
    decisionReason: Nullable(Type.String()),
    entryIds: Type.Array(Uuid, { description: 'The entries that the approval has posted.' }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Adjustment' },
)
export type Adjustment = Static<typeof Adjustment>

export const adjustmentList = list({
  filters: {
    kind: { kind: 'words', values: ADJUSTMENT_KINDS },
    status: { kind: 'words', values: ADJUSTMENT_STATUSES },
    currency: { kind: 'text', max: CURRENCY_MAX },
    balanceId: { kind: 'ids' },
    customerId: { kind: 'ids' },
    requestedBy: { kind: 'ids' },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'createdAt'],
})

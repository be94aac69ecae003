/** Schemas of reconciliation: the partners' statements compared with the ledger, and the ledger's own totals. */
import Type, { type Static } from 'typebox'
import { ACCOUNT_CLASSES } from '../ledger/chart.ts'
import { BREAK_KINDS, BREAK_OUTCOMES, BREAK_STATUSES } from './item.ts'
import { list } from '../contract/list.ts'
import { CalendarDate, CurrencyCode, Money, Nullable, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'

const EVIDENCE_MAX = 2_000
const STATUSES = ['queued', 'running', 'matched', 'breaks', 'failed'] as const
const DIRECTIONS = ['debit', 'credit'] as const

export const JournalBlock = Type.Object(
  {
    number: Type.String(),
    hash: Type.String({ description: 'SHA-256, hexadecimal.' }),
  },
  {
    title: 'JournalBlock',
    description:
      'The newest block of the chain of hashes over the journal at the time. Whoever keeps it elsewhere can prove later that nothing before it was changed.',
  },
)

export const Reconciliation = Type.Object(
  {
    id: Uuid,
    connectionId: Uuid,
    currency: CurrencyCode,
    day: CalendarDate,
    status: Words(
      'ReconciliationStatus',
      STATUSES,
      '`breaks`: something is open, or the balances differ by what nothing explains. `failed`: the statement cannot be used; the days behind it wait.',
    ),
    error: Nullable(Type.String()),
    statement: Nullable(
      Type.Object(
        {
          reference: Type.String(),
          sha256: Type.String(),
          entries: Type.Integer(),
          openingBalance: Money,
          closingBalance: Money,
        },
        { title: 'PartnerStatement' },
      ),
      { description: 'What the partner says.' },
    ),
    nostro: Nullable(Type.Object({ openingBalance: Money, closingBalance: Money }, { title: 'NostroBalances' }), {
      description: 'What the ledger says.',
    }),
    matched: Type.Integer({ description: 'Lines that are on both sides with the same amount.' }),
    timing: Type.Integer({ description: 'Items that one side has and the other may have the next day.' }),
    breaks: Type.Integer({ description: 'Items that are open.' }),
    difference: Nullable(Money, { description: "What the partner's closing balance is above ours." }),
    unexplained: Nullable(Money, { description: 'What of the difference no item explains.' }),
    journalBlock: Nullable(JournalBlock),
    requestedBy: Nullable(Uuid, { description: 'Null where the timer has asked for it.' }),
    startedAt: Nullable(Timestamp),
    finishedAt: Nullable(Timestamp),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Reconciliation' },
)
export type Reconciliation = Static<typeof Reconciliation>

export const reconciliationList = list({
  filters: {
    status: { kind: 'words', values: STATUSES },
    connectionId: { kind: 'ids' },
    currency: { kind: 'text', max: 3 },
    dayFrom: { kind: 'dateFrom' },
    dayTo: { kind: 'dateTo' },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'createdAt'],
})

export const ReconciliationRun = Type.Object(
  {
    connectionId: Type.Optional(Nullable(Uuid)),
    currency: Type.Optional(Nullable(CurrencyCode)),
    until: Type.Optional(
      Nullable(CalendarDate, { description: 'The last day to compare, yesterday at most; yesterday unless given.' }),
    ),
  },
  { title: 'ReconciliationRun', additionalProperties: false },
)
export type ReconciliationRun = Static<typeof ReconciliationRun>

export const ReconciliationRunAccepted = Type.Object(
  {
    until: CalendarDate,
    queued: Type.Integer({
      minimum: 0,
      description:
        'Days of accounts that are being compared now. Days that were compared before are not compared again.',
    }),
  },
  { title: 'ReconciliationRunAccepted' },
)
export type ReconciliationRunAccepted = Static<typeof ReconciliationRunAccepted>

const Outcome = Words(
  'BreakOutcome',
  BREAK_OUTCOMES,
  '`explained`: it is known why, and nothing is booked. `charge`: a fee of the partner, which is booked as an expense.',
)

export const ReconciliationBreak = Type.Object(
  {
    id: Uuid,
    reconciliationId: Uuid,
    connectionId: Uuid,
    currency: CurrencyCode,
    kind: Words(
      'BreakKind',
      BREAK_KINDS,
      '`missing_with_us` and `duplicate`: only the partner has it. `missing_with_partner`: only the ledger has it.',
    ),
    status: Words(
      'BreakStatus',
      BREAK_STATUSES,
      '`timing` on its first day, `open` from then on, `in_suspense` when it was booked to suspense, `matched` when the other side has it too.',
    ),
    direction: Words('BreakDirection', DIRECTIONS, '`credit` came in at the partner, `debit` went out.'),
    reference: Nullable(Uuid, {
      description: 'What it is about on either side: a payment, an incoming payment, a transfer, an exchange.',
    }),
    sourceObject: Nullable(Type.String({ description: 'What kind of thing that is in the ledger.' })),
    entryId: Nullable(Uuid, { description: 'The entry of the ledger.' }),
    bankReference: Nullable(Type.String({ description: "The partner's own reference." })),
    text: Nullable(Type.String()),
    ourAmount: Nullable(Money),
    partnerAmount: Nullable(Money),
    difference: Nullable(Money, { description: "What the partner's balance is above ours because of it." }),
    foundOn: CalendarDate,
    ageDays: Type.Integer({ minimum: 0 }),
    clearedOn: Nullable(CalendarDate, { description: 'The day from which both sides agree again.' }),
    suspenseItemId: Nullable(Uuid, {
      description: 'Where its owner is looked for: the item of the list of money without an owner.',
    }),
    allowedOutcomes: Type.Array(Outcome),
    proposal: Nullable(
      Type.Object(
        {
          outcome: Outcome,
          evidence: Type.String(),
          by: Uuid,
          byName: Type.String(),
          at: Timestamp,
        },
        { title: 'BreakProposal' },
      ),
      { description: 'What the first of two people has found out.' },
    ),
    outcome: Nullable(
      Type.String({
        description: 'As it was resolved by people; `allocated` or `returned` where money in suspense was.',
      }),
    ),
    evidence: Nullable(Type.String()),
    resolvedBy: Nullable(Uuid),
    resolvedByName: Nullable(Type.String()),
    resolvedAt: Nullable(Timestamp),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'ReconciliationBreak' },
)
export type ReconciliationBreak = Static<typeof ReconciliationBreak>

export const reconciliationBreakList = list({
  filters: {
    status: { kind: 'words', values: BREAK_STATUSES },
    kind: { kind: 'words', values: BREAK_KINDS },
    direction: { kind: 'words', values: DIRECTIONS },
  },
  sorts: ['-createdAt', 'createdAt'],
})

export const BreakResolve = Type.Object(
  {
    outcome: Outcome,
    evidence: Text(1, EVIDENCE_MAX, {
      description: 'What it rests on: a message of the partner, a line of its tariff.',
    }),
  },
  { title: 'BreakResolve', additionalProperties: false },
)
export type BreakResolve = Static<typeof BreakResolve>

export const TrialBalance = Type.Object(
  {
    asOf: Nullable(Timestamp, { description: 'Everything booked before it counts; null: everything.' }),
    generatedAt: Timestamp,
    rows: Type.Array(
      Type.Object(
        {
          code: Type.Integer({ description: 'As in the chart of accounts.' }),
          account: Type.String(),
          class: Words('AccountClass', ACCOUNT_CLASSES),
          connectionId: Nullable(Uuid, {
            description: 'Null for accounts that exist once per operator, or per customer.',
          }),
          currency: CurrencyCode,
          accounts: Type.Integer({
            description: 'How many accounts are in the row: balances of customers are summed up.',
          }),
          debits: Money,
          credits: Money,
          balance: Money,
        },
        {
          title: 'TrialBalanceRow',
          description: 'The balance is on the side on which the account grows; negative where it is on the other.',
        },
      ),
    ),
    totals: Type.Array(
      Type.Object(
        {
          currency: CurrencyCode,
          debits: Money,
          credits: Money,
          difference: Money,
        },
        { title: 'TrialBalanceTotal', description: 'The difference is zero, or the books are wrong.' },
      ),
    ),
    journalBlock: Nullable(JournalBlock),
  },
  { title: 'TrialBalance' },
)
export type TrialBalance = Static<typeof TrialBalance>

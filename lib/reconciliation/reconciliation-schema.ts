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
      'The newest block of the chain of hashes over the journal at the time of the export. A copy kept ' +
      'elsewhere proves later that no earlier line was changed.',
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
      '`breaks`: an item is open, or the balances have an unexplained difference. `failed`: the statement ' +
        'cannot be used; later days wait.',
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
      { description: 'The statement of the partner.' },
    ),
    nostro: Nullable(Type.Object({ openingBalance: Money, closingBalance: Money }, { title: 'NostroBalances' }), {
      description: 'The balances of the ledger.',
    }),
    matched: Type.Integer({ description: 'The number of lines that both sides have with the same amount.' }),
    timing: Type.Integer({
      description: 'The number of items that only one side has, and the other may have the next day.',
    }),
    breaks: Type.Integer({ description: 'The number of open items.' }),
    difference: Nullable(Money, { description: "The partner's closing balance minus that of the ledger." }),
    unexplained: Nullable(Money, { description: 'The part of the difference that no item explains.' }),
    journalBlock: Nullable(JournalBlock),
    requestedBy: Nullable(Uuid, { description: 'The person who started the reconciliation; null for the timer.' }),
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
      Nullable(CalendarDate, { description: 'The last day to reconcile: yesterday or earlier, by default yesterday.' }),
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
        'The number of account days that are being reconciled. Days that were reconciled before are not repeated.',
    }),
  },
  { title: 'ReconciliationRunAccepted' },
)
export type ReconciliationRunAccepted = Static<typeof ReconciliationRunAccepted>

const Outcome = Words(
  'BreakOutcome',
  BREAK_OUTCOMES,
  '`explained`: the cause is known, and nothing is booked. `charge`: a fee of the partner, which is booked ' +
    'as an expense.',
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
      '`timing`: the first day of an item. `open`: a later day. `in_suspense`: booked to suspense. ' +
        '`matched`: the other side has the item, too.',
    ),
    direction: Words(
      'BreakDirection',
      DIRECTIONS,
      '`credit`: money into the account at the partner. `debit`: money out of it.',
    ),
    reference: Nullable(Uuid, {
      description: 'The id of the object on either side: a payment, an incoming payment, a transfer or an exchange.',
    }),
    sourceObject: Nullable(Type.String({ description: 'The kind of the object in the ledger.' })),
    entryId: Nullable(Uuid, { description: 'The entry of the ledger.' }),
    bankReference: Nullable(Type.String({ description: "The partner's own reference." })),
    text: Nullable(Type.String()),
    ourAmount: Nullable(Money),
    partnerAmount: Nullable(Money),
    difference: Nullable(Money, {
      description: "The item's part in the difference between the partner's balance and that of the ledger.",
    }),
    foundOn: CalendarDate,
    ageDays: Type.Integer({ minimum: 0 }),
    clearedOn: Nullable(CalendarDate, { description: 'The day from which both sides agree again.' }),
    suspenseItemId: Nullable(Uuid, {
      description: 'The suspense item of the credit.',
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
      { description: 'The outcome that the first of two people proposes.' },
    ),
    outcome: Nullable(
      Type.String({
        description: 'The outcome set by staff; `allocated` or `returned` for a suspense item.',
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
      description: 'The evidence for the outcome: a message of the partner, a line of its tariff.',
    }),
  },
  { title: 'BreakResolve', additionalProperties: false },
)
export type BreakResolve = Static<typeof BreakResolve>

export const TrialBalance = Type.Object(
  {
    asOf: Nullable(Timestamp, { description: 'Only entries booked before this time count; null: all entries.' }),
    generatedAt: Timestamp,
    rows: Type.Array(
      Type.Object(
        {
          code: Type.Integer({ description: 'The name of the account in the chart of accounts.' }),
          account: Type.String(),
          class: Words('AccountClass', ACCOUNT_CLASSES),
          connectionId: Nullable(Uuid, {
            description: 'Null for accounts that exist once per operator, or per customer.',
          }),
          currency: CurrencyCode,
          accounts: Type.Integer({
            description: "The number of accounts in the row: customers' balances are added up.",
          }),
          debits: Money,
          credits: Money,
          balance: Money,
        },
        {
          title: 'TrialBalanceRow',
          description: "The balance on the account's normal side; negative when it is on the other side.",
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
        {
          title: 'TrialBalanceTotal',
          description: 'The difference between debits and credits, always zero in correct books.',
        },
      ),
    ),
    journalBlock: Nullable(JournalBlock),
  },
  { title: 'TrialBalance' },
)
export type TrialBalance = Static<typeof TrialBalance>

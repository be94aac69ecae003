/** Schemas of the operator's ledger: the accounts of its chart, and the entries. */
import Type, { type Static } from 'typebox'
import { list } from '../contract/list.ts'
import { CalendarDate, CurrencyCode, Money, Nullable, Timestamp, Uuid, Words } from '../contract/primitives.ts'
import { ACCOUNT_CLASSES, CHART } from './chart.ts'
import { SOURCE_OBJECTS } from './posting.ts'
import { RULE_IDS } from './postings.ts'

const KEYS = CHART.map(({ key }) => key)
const CURRENCY_MAX = 3

const Key = Words('LedgerAccountKey', KEYS, 'The name of the account in the chart of accounts.')
const RuleName = Words('PostingRule', RULE_IDS, 'The posting rule.')
const Source = Words('LedgerSource', SOURCE_OBJECTS, 'The kind of object that caused the entry.')

export const LedgerAccount = Type.Object(
  {
    id: Uuid,
    code: Type.Integer({ description: 'The number of the account in the chart of accounts.' }),
    key: Key,
    class: Words('AccountClass', ACCOUNT_CLASSES),
    purpose: Type.String(),
    currency: CurrencyCode,
    connectionId: Nullable(Uuid, { description: 'Null for accounts that exist once per operator, or per customer.' }),
    customerId: Nullable(Uuid),
    name: Nullable(Type.String({ description: "The name of a customer's balance." })),
    debits: Nullable(Money, { description: "Null for a customer's balance, whose journal has the lines." }),
    credits: Nullable(Money, { description: "Null for a customer's balance, whose journal has the lines." }),
    balance: Money,
  },
  {
    title: 'LedgerAccount',
    description:
      "One account of the operator's books. `balance` is on the account's normal side; negative when it is on the " +
      'other side. An account `cust` is the balance of a customer and has its id.',
  },
)
export type LedgerAccount = Static<typeof LedgerAccount>

export const ledgerAccountList = list({
  filters: {
    id: { kind: 'ids' },
    key: { kind: 'words', values: KEYS },
    currency: { kind: 'text', max: CURRENCY_MAX },
    connectionId: { kind: 'ids' },
    customerId: { kind: 'ids' },
  },
  sorts: ['createdAt', '-createdAt'],
})

export const LedgerEntry = Type.Object(
  {
    id: Uuid,
    rule: RuleName,
    event: Type.String({ description: 'What the rule books.', examples: ['Payment handed to the partner'] }),
    source: Type.Object({ object: Source, id: Uuid }),
    occurrence: Type.Integer({
      minimum: 1,
      description: 'Source, rule and occurrence are unique, so nothing is booked twice.',
    }),
    customerId: Nullable(Uuid, { description: "Null for an entry of the operator's own." }),
    amounts: Type.Array(Money, {
      description: 'What the entry moves, per currency: an exchange may book both of its currencies in one entry.',
    }),
    description: Nullable(Type.String()),
    reference: Nullable(Type.String()),
    counterpartyName: Nullable(Type.String()),
    reversalOfEntryId: Nullable(Uuid),
    lines: Type.Array(
      Type.Object(
        {
          accountId: Uuid,
          code: Type.Integer(),
          key: Key,
          direction: Words('LedgerDirection', ['debit', 'credit']),
          amount: Money,
          connectionId: Nullable(Uuid),
          customerId: Nullable(Uuid, { description: 'The owner of the account.' }),
        },
        { title: 'LedgerLine' },
      ),
      { description: 'A debit and its credit follow each other.' },
    ),
    bookedAt: Timestamp,
    valueDate: CalendarDate,
  },
  {
    title: 'LedgerEntry',
    description: 'What one event has booked: its debits equal its credits, and it never changes.',
  },
)
export type LedgerEntry = Static<typeof LedgerEntry>

export const ledgerEntryList = list({
  filters: {
    accountId: { kind: 'ids' },
    key: { kind: 'words', values: KEYS },
    rule: { kind: 'words', values: RULE_IDS },
    currency: { kind: 'text', max: CURRENCY_MAX },
    customerId: { kind: 'ids' },
    sourceObject: { kind: 'words', values: SOURCE_OBJECTS },
    sourceId: { kind: 'ids' },
    bookedFrom: { kind: 'timeFrom' },
    bookedTo: { kind: 'timeTo' },
    amountFrom: { kind: 'amountFrom', oneCurrency: true },
    amountTo: { kind: 'amountTo', oneCurrency: true },
  },
  sorts: ['-bookedAt', 'bookedAt'],
})

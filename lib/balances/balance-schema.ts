/** Balances: the ledger accounts of a customer. */
import Type, { type Static } from 'typebox'
import { list } from '../contract/list.ts'
import {
  CurrencyCode,
  Metadata,
  MetadataPatch,
  Money,
  Nullable,
  Rail,
  Text,
  Timestamp,
  Uuid,
  Words,
} from '../contract/primitives.ts'
import { ACCOUNT_DETAILS_STATUSES } from './details-status.ts'

export const AccountDetailsStatus = Words(
  'AccountDetailsStatus',
  ACCOUNT_DETAILS_STATUSES,
  'Details that are `replaced` still credit the balance until `validUntil`.',
)

const BALANCE_TYPES = ['main', 'sub'] as const
const BALANCE_STATUSES = ['active', 'frozen', 'closing', 'closed'] as const

export const Balance = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    currency: CurrencyCode,
    name: Text(1, 60),
    type: Words('BalanceType', BALANCE_TYPES),
    parentBalanceId: Nullable(Uuid),
    status: Words('BalanceStatus', BALANCE_STATUSES, 'A `frozen` balance accepts credits only.'),
    isDefault: Type.Boolean(),
    bookBalance: Money,
    heldBalance: Money,
    availableBalance: Money,
    pendingIncoming: Money,
    detailsStatus: Nullable(AccountDetailsStatus),
    lowBalanceThreshold: Nullable(Money),
    connectionId: Type.Optional(Nullable(Uuid, { description: 'Shown to operator staff only.' })),
    metadata: Metadata,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    closedAt: Nullable(Timestamp),
  },
  { title: 'Balance', description: 'Available is book minus active holds and may be negative.' },
)
export type Balance = Static<typeof Balance>

export const BalanceOpen = Type.Object(
  {
    currency: CurrencyCode,
    name: Type.Optional(Text(1, 60, { description: 'The name of the balance; by default that of its currency.' })),
    parentBalanceId: Type.Optional(
      Nullable(Uuid, {
        description: 'The main balance of the same currency, which makes the new balance its sub-balance.',
      }),
    ),
    metadata: Type.Optional(Metadata),
  },
  { title: 'BalanceOpen', additionalProperties: false, examples: [{ currency: 'EUR', name: 'Payroll' }] },
)
export type BalanceOpen = Static<typeof BalanceOpen>

export const BalanceUpdate = Type.Object(
  {
    name: Type.Optional(Text(1, 60)),
    isDefault: Type.Optional(
      Type.Boolean({
        description: 'Each currency has one default balance; to change it, make another balance the default.',
      }),
    ),
    lowBalanceThreshold: Type.Optional(
      Nullable(Money, {
        description:
          'Zero or more. `balance.low` is sent when the available amount falls below the threshold, and ' +
          'again only after the amount was above it.',
      }),
    ),
    metadata: Type.Optional(MetadataPatch),
  },
  {
    title: 'BalanceUpdate',
    additionalProperties: false,
    examples: [{ name: 'Payroll', lowBalanceThreshold: { amountMinor: '100000', currency: 'EUR' } }],
  },
)
export type BalanceUpdate = Static<typeof BalanceUpdate>

export const BalanceClose = Type.Object(
  {
    sweepToBalanceId: Type.Optional(
      Nullable(Uuid, { description: 'An active balance of the same currency, which receives the remaining amount.' }),
    ),
  },
  { title: 'BalanceClose', additionalProperties: false, examples: [{}] },
)
export type BalanceClose = Static<typeof BalanceClose>

export const AccountDetailsRequest = Type.Object(
  {
    rails: Type.Array(Rail, {
      minItems: 1,
      maxItems: 20,
      uniqueItems: true,
      description: "The rails that shall credit the balance: those of the currency's own country, or `swift`.",
    }),
  },
  { title: 'AccountDetailsRequest', additionalProperties: false, examples: [{ rails: ['sepa'] }] },
)
export type AccountDetailsRequest = Static<typeof AccountDetailsRequest>

export const balanceList = list({
  filters: {
    status: { kind: 'words', values: BALANCE_STATUSES },
    currency: { kind: 'text', max: 3 },
    type: { kind: 'words', values: BALANCE_TYPES },
    parentBalanceId: { kind: 'ids' },
    customerId: { kind: 'ids', operatorOnly: true },
    id: { kind: 'ids' },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  metadata: true,
  sorts: ['currency', '-createdAt', 'name'],
  q: true,
})

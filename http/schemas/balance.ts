/** Balances: the ledger accounts of a customer. */
import Type, { type Static } from 'typebox'
import { ACCOUNT_DETAILS_STATUSES } from '../../lib/accounts/details.ts'
import { list } from '../list.ts'
import { CurrencyCode, Metadata, Money, Nullable, Text, Timestamp, Uuid, Words } from './primitives.ts'

const BALANCE_TYPES = ['main', 'sub'] as const
const BALANCE_STATUSES = ['active', 'frozen', 'closing', 'closed'] as const

export const AccountDetailsStatus = Words('AccountDetailsStatus', ACCOUNT_DETAILS_STATUSES, '`replaced` ones are still credited until `validUntil`.')

export const Balance = Type.Object({
  id: Uuid,
  customerId: Uuid,
  currency: CurrencyCode,
  name: Text(1, 60),
  type: Words('BalanceType', BALANCE_TYPES),
  parentBalanceId: Nullable(Uuid),
  status: Words('BalanceStatus', BALANCE_STATUSES, '`frozen` takes credits only.'),
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
}, { title: 'Balance', description: 'Available is book minus active holds and may be negative.' })
export type Balance = Static<typeof Balance>

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

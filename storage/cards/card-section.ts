/** The sections of the commit statement for cards: their transactions, the messages about them, and their use. */
import type { CardTransactionChange, CardTransactionRow, CardUseChange } from '../../lib/cards/effects.ts'
import { NO_COLUMN } from '../commit/columns.ts'
import {
  commandConflict,
  fence,
  gathered,
  insertInto,
  NO_DETAIL,
  rowsOf,
  section,
  waitsFor,
  type Section,
  type VersionRow,
} from '../commit/section.ts'
import { columns, pick, without } from '../db/columns.ts'
import { Card } from './card-entity.ts'
import { CardEvent, CardTransaction } from './card-transaction-entity.ts'

const COLUMNS = columns(CardTransaction)

export const CARD_TRANSACTIONS: Section<CardTransactionRow> = rowsOf(
  'cardTransactions',
  insertInto(CardTransaction, without(COLUMNS, ['version', 'updatedAt']), {
    version: '1',
    updated_at: 'u.created_at',
  }),
)

const CHANGED = [
  'status',
  'authorised',
  'reversed',
  'cleared',
  'refunded',
  'disputed',
  'recovered',
  'held',
  'markup',
  'holdId',
  'expiresAt',
] as const

export const CARD_TRANSACTION_CHANGES: Section<CardTransactionChange> = gathered(
  'cardTransactionChanges',
  section<CardTransactionChange>(
    'card_transaction_changed',
    { version: NO_COLUMN, ...pick(COLUMNS, ['id', ...CHANGED, 'updatedAt']) },
    (source, bound) => `card_transaction_changed_written as (
  update card_transaction t set version = t.version + 1, updated_at = u.updated_at,
    ${CHANGED.map((field) => `${COLUMNS[field].name} = u.${COLUMNS[field].name}`).join(', ')}
  from ${source} where t.id = u.id and t.id = any(${bound('id')}) and (select ok from verdict))`,
  ),
  (change, batch) => {
    batch.add(CARD_TRANSACTION_CHANGES, change)
    batch.change(CARD_TRANSACTION_FENCES, change.id, change.version)
  },
)

export const CARD_EVENTS = rowsOf('cardEvents', insertInto(CardEvent, columns(CardEvent)))

/** Counts the use of cards; the last payment of a card that is to end closes it. */
export const CARD_USES: Section<CardUseChange> = gathered(
  'cardUses',
  section<CardUseChange>(
    'card_used',
    { version: NO_COLUMN, ...pick(columns(Card), ['id', 'status', 'payments', 'used', 'updatedAt']) },
    (source, bound) => `card_used_written as (
  update card c set version = c.version + 1, status = u.status, payments = u.payments, used = u.used,
    updated_at = u.updated_at
  from ${source} where c.id = u.id and c.id = any(${bound('id')}) and (select ok from verdict))`,
  ),
  (use, batch) => {
    batch.add(CARD_USES, use)
    batch.change(CARD_FENCES, use.id, use.version)
  },
)

const CARD_STALE = commandConflict('card_stale')
const CARD_TRANSACTION_STALE = commandConflict('card_transaction_stale')

/** Locks the cards that are used and compares their versions. */
export const CARD_FENCES = {
  ...fence<VersionRow, ReturnType<typeof CARD_STALE.of>>(
    CARD_STALE,
    'card_fence',
    { turn: 'integer', id: 'uuid', version: 'integer' },
    (source) => `${NO_DETAIL} from ${source} left join locked_card l on l.id = u.id
  where l.version is distinct from u.version`,
  ),
  lock: {
    name: 'locked_card',
    sql: (ids: string, after: readonly string[]) => `
  select c.id, c.version from card c where c.id = any(${ids}) ${waitsFor(after)} order by c.id for update`,
  },
}

/** Locks the card transactions that change, after their cards, and compares their versions. */
export const CARD_TRANSACTION_FENCES = {
  ...fence<VersionRow, ReturnType<typeof CARD_TRANSACTION_STALE.of>>(
    CARD_TRANSACTION_STALE,
    'card_transaction_fence',
    { turn: 'integer', id: 'uuid', version: 'integer' },
    (source) => `${NO_DETAIL} from ${source} left join locked_card_transaction l on l.id = u.id
  where l.version is distinct from u.version`,
  ),
  lock: {
    name: 'locked_card_transaction',
    sql: (ids: string, after: readonly string[]) => `
  select t.id, t.version from card_transaction t where t.id = any(${ids}) ${waitsFor(after)} order by t.id for update`,
  },
}

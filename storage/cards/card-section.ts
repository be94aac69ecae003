/** The sections of the commit statement for cards: their transactions, the messages about them, and their use. */
import type { CardTransactionChange, CardTransactionRow, CardUseChange } from '../../lib/cards/effects.ts'
import { NO_COLUMN } from '../commit/columns.ts'
import {
  commandConflict,
  gathered,
  insertInto,
  rowsOf,
  section,
  type Section,
  versionFence,
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
export const CARD_FENCES = versionFence(CARD_STALE, 'card', 'c')

/** Locks the card transactions that change, after their cards, and compares their versions. */
export const CARD_TRANSACTION_FENCES = versionFence(CARD_TRANSACTION_STALE, 'card_transaction', 't')

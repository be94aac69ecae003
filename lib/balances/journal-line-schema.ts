/** The journal of a balance: one line per movement, with the balance after it. */
import Type, { type Static } from 'typebox'
import { list } from '../contract/list.ts'
import { CalendarDate, Money, Nullable, Timestamp, Uuid, Words } from '../contract/primitives.ts'

const DIRECTIONS = ['debit', 'credit'] as const
export const TRANSACTION_TYPES = [
  'incoming_payment',
  'outgoing_payment',
  'payment_return',
  'incoming_payment_return',
  'transfer_in',
  'transfer_out',
  'exchange_out',
  'exchange_in',
  'collection',
  'collection_return',
  'direct_debit',
  'direct_debit_refund',
  'card_payment',
  'card_refund',
  'card_withdrawal',
  'forward_deposit',
  'forward_deposit_release',
  'fee',
  'fee_refund',
  'interest',
  'adjustment',
] as const

export const TransactionType = Words('TransactionType', TRANSACTION_TYPES)

export const JournalLine = Type.Object(
  {
    id: Uuid,
    balanceId: Uuid,
    sequence: Type.Integer({ minimum: 1, description: 'The number of the line, without gaps per balance.' }),
    entryId: Uuid,
    direction: Words('JournalDirection', DIRECTIONS, '`debit` lowers the balance, `credit` raises it.'),
    amount: Money,
    runningBalance: Money,
    type: TransactionType,
    description: Type.String(),
    reference: Nullable(Type.String()),
    counterpartyName: Nullable(Type.String()),
    transactionId: Nullable(Uuid),
    source: Type.Object({ object: Type.String(), id: Uuid }),
    bookedAt: Timestamp,
    valueDate: CalendarDate,
    reversalOfEntryId: Nullable(Uuid),
  },
  { title: 'JournalLine' },
)
export type JournalLine = Static<typeof JournalLine>

export const journalList = list({
  filters: {
    direction: { kind: 'words', values: DIRECTIONS },
    type: { kind: 'words', values: TRANSACTION_TYPES },
    bookedFrom: { kind: 'timeFrom' },
    bookedTo: { kind: 'timeTo' },
    valueFrom: { kind: 'dateFrom' },
    valueTo: { kind: 'dateTo' },
    amountFrom: { kind: 'amountFrom' },
    amountTo: { kind: 'amountTo' },
    transactionId: { kind: 'ids' },
  },
  sorts: ['-sequence', 'sequence'],
})

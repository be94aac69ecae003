/** A statement as a table: a row for the opening balance, one per line, one for the closing balance. */
import type { Cell } from './table.ts'
import { signed, type StatementHead, type StatementLine } from './statement.ts'

export const STATEMENT_COLUMNS = [
  'sequence',
  'bookedAt',
  'valueDate',
  'type',
  'description',
  'counterpartyName',
  'reference',
  'endToEndId',
  'amount',
  'runningBalance',
  'currency',
  'entryId',
  'id',
] as const

type Head = Pick<StatementHead, 'currency' | 'opening' | 'closing' | 'from' | 'to'>

const amount = (value: bigint, { currency }: Pick<Head, 'currency'>): Cell => ({ kind: 'amount', value, currency })
const edge = (type: string, date: string, value: bigint, head: Head): readonly Cell[] => [
  null,
  null,
  { kind: 'date', value: date },
  type,
  null,
  null,
  null,
  null,
  null,
  amount(value, head),
  head.currency,
  null,
  null,
]

/** Makes the row of the opening balance. */
export const openingRow = (head: Head): readonly Cell[] => edge('opening_balance', head.from, head.opening, head)
/** Makes the row of the closing balance. */
export const closingRow = (head: Head): readonly Cell[] => edge('closing_balance', head.to, head.closing, head)

/** Makes the row of a line; its amount has a sign. */
export function lineRow(line: StatementLine, head: Pick<Head, 'currency'>): readonly Cell[] {
  return [
    { kind: 'integer', value: line.sequence },
    { kind: 'time', value: line.bookedAt },
    { kind: 'date', value: line.valueDate },
    line.type,
    line.description,
    line.counterparty,
    line.reference,
    line.endToEndId,
    amount(signed(line), head),
    amount(line.running, head),
    head.currency,
    line.entryId,
    line.id,
  ]
}

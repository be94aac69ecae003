/**
 * Lines of a balance's journal, derived from the postings: read by pages, exports and statements. Each side of a
 * posting that touches a balance is a line of it; both sides are ranges of an index, by account and sequence.
 */
import type { RuleId } from '../../lib/ledger/postings.ts'
import type { SourceObject } from '../../lib/ledger/posting.ts'
import { journalDescription, journalLineId, journalType, type JournalSide } from '../../lib/ledger/journal-line.ts'
import type { StatementLine } from '../../lib/statements/statement.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { Database } from '../db/database.ts'

/** The two sides of a posting. */
export const SIDES: readonly JournalSide[] = ['debit', 'credit']

/** The columns of a line. */
export interface LineRow {
  readonly side: JournalSide
  readonly entry_id: string
  readonly ordinal: number
  readonly sequence: string
  readonly running: string
  readonly amount: string
  readonly rule: RuleId
  readonly counterpart: string
  readonly source_object: SourceObject
  readonly source_id: string
  readonly description: string | null
  readonly reference: string | null
  readonly counterparty: string | null
  readonly reversal_of: string | null
  readonly booked_ms: number
  readonly value_day: string
  readonly is_cash: boolean
}

/** SQL condition on a posting: its cause is a withdrawal of cash with a card. */
const isCash = (posting: string): string =>
  `(${posting}.rule = 'L71' and exists (select from card_transaction k where k.id = ${posting}.source_id and k.channel = 'atm'))`

/** SQL of the cause within a line's mark (`journalMark`), of a posting with its rule, source object and source. */
export const markedCause = (posting: string): string =>
  `case when ${posting}.rule = 'L20' and ${posting}.source_object = 'payment' then '/payment' when ${isCash(posting)} then '/cash' else '' end`

/** SQL condition on a posting `p`: it credits the payee of a payment on the rail `internal`. */
const TO_PAYEE = `p.rule = 'L20' and p.source_object = 'payment'`

/**
 * SQL of a column of the lines of one side, as the customer sees it. The payee of an internal payment sees its own
 * incoming payment, whose id follows from the payment's; the posting's own text belongs to the payer.
 */
const shown = (side: JournalSide, column: string, payees: string): string =>
  side === 'debit' ? `p.${column}` : `case when ${TO_PAYEE} then ${payees} else p.${column} end as ${column}`
const ARRIVAL = `from incoming_payment i where i.id = marked_id(p.source_id, 1)`

/** SQL of the columns of the lines of one side, of a posting `p` and the other account `a`. */
export const lineColumns = (
  side: JournalSide,
): string => `'${side}' as side, p.entry_id, p.ordinal, p.${side}_sequence as sequence, p.${side}_balance as running, p.amount, p.rule,
    coalesce(a.key, 'cust') as counterpart, p.source_object, p.source_id, ${shown(side, 'description', `(select 'Payment from ' || i.payer_name ${ARRIVAL})`)}, p.reference,
    ${shown(side, 'counterparty', `(select i.payer_name ${ARRIVAL})`)}, p.reversal_of,
    (extract(epoch from p.booked_at) * 1000)::float8 as booked_ms, p.value_date::text as value_day, ${isCash('p')} as is_cash`

/** SQL of the tables behind the lines of one side. */
export const linesFrom = (side: JournalSide): string =>
  `posting p left join account a on a.id = p.${side === 'debit' ? 'credit' : 'debit'}_account`

/**
 * Whether a line credits the payee of a payment on the rail `internal`. The payee's incoming payment is its cause and
 * its transaction.
 */
export const isArrival = ({
  side,
  rule,
  source_object: source,
}: Pick<LineRow, 'side' | 'rule' | 'source_object'>): boolean =>
  side === 'credit' && rule === 'L20' && source === 'payment'

/** A line as it was booked. Amounts are minor units, times epoch milliseconds. */
export interface BookedJournalLine extends Omit<StatementLine, 'endToEndId' | 'isReversal'> {
  readonly reversalOf: string | null
}

export function bookedLine(row: LineRow): BookedJournalLine {
  const type = journalType({
    rule: row.rule,
    side: row.side,
    counterpart: row.counterpart,
    sourceObject: row.source_object,
    isCash: row.is_cash,
  })
  return {
    id: journalLineId(row.entry_id, row.ordinal, row.side),
    entryId: row.entry_id,
    // Far below 2^53: at a thousand lines a second it takes 285 000 years to reach that.
    sequence: Number(row.sequence),
    direction: row.side,
    amount: BigInt(row.amount),
    running: BigInt(row.running),
    type,
    description: row.description ?? journalDescription(type),
    reference: row.reference,
    counterparty: row.counterparty,
    bookedAt: row.booked_ms,
    valueDate: row.value_day,
    reversalOf: row.reversal_of,
  }
}

/**
 * Finds the first line since a time by bisection, because lines are booked in the order of their sequence: 20 probes of
 * an index for a million lines, instead of reading up to them. A line whose clock was a little behind its neighbour's
 * is on one side or the other, always the same.
 */
const FIRST_SINCE = `with recursive search(low, high) as (
    select 1::bigint, (select sequence + 1 from balance where id = $1)
    union all
    select case when line.booked_at < $2::timestamptz then middle + 1 else low end, case when line.booked_at < $2::timestamptz then high else middle end
    from search cross join lateral (select (low + high) / 2 as middle) m
    cross join lateral (
      (select booked_at from posting where debit_account = $1 and debit_sequence = middle)
      union all
      (select booked_at from posting where credit_account = $1 and credit_sequence = middle)
      limit 1) line
    where low < high)
  select low::text as sequence from search where low = high`

/**
 * Finds the first line of a balance booked at a moment (epoch milliseconds) or later, or the next one to come; null
 * when the journal has a gap. @throws DatabaseUnavailable
 */
export async function firstLineSince(
  database: { readonly query: Database['pool']['query'] },
  balanceId: string,
  at: number,
): Promise<bigint | null> {
  const {
    rows: [row],
  } = await database.query<{ sequence: string }>({
    name: 'first_line_since',
    text: FIRST_SINCE,
    values: [balanceId, timestamp(at)],
  })
  return row === undefined ? null : BigInt(row.sequence)
}

/** The statements of banks that came as files, by day, with their bookings. */
import type { DayBooking } from '../../lib/providers/files/day-statement.ts'
import type { Queries } from '../db/transaction.ts'

/** Bookings that are read at once. */
const BOOKINGS_MAX = 1_000

/**
 * A statement, or a page of one. Amounts are minor units, signed from the side of the account; null on a page that does
 * not begin, or end, its statement.
 */
export interface KeptStatement {
  readonly id: string
  readonly number: string
  readonly page: number
  readonly isLast: boolean
  readonly opening: bigint | null
  readonly closing: bigint | null
}

/** Reads the statements of a day, in the order in which they were received. */
export async function statementsOfDay(
  database: Queries,
  connectionId: string,
  { currency, day }: { readonly currency: string; readonly day: string },
): Promise<readonly KeptStatement[]> {
  const rows = await database.query<[string, string, number, boolean, string | null, string | null]>({
    name: 'provider_file_statements',
    text: `select s.id, s.number, s.page, s.is_last, s.opening, s.closing from provider_file_statement s join provider_file f on f.id = s.file_id
      where s.connection_id = $1 and s.currency = $2 and s.day = $3 order by f.created_at, s.id`,
    values: [connectionId, currency, day],
  })
  return rows.map(([id, number, page, isLast, opening, closing]) => ({
    id,
    number,
    page,
    isLast,
    opening: opening === null ? null : BigInt(opening),
    closing: closing === null ? null : BigInt(closing),
  }))
}

/** Reads the first day after one that has a statement; null when there is none. */
export async function nextStatementDay(
  database: Queries,
  connectionId: string,
  { currency, day }: { readonly currency: string; readonly day: string },
): Promise<string | null> {
  const [row] = await database.query<[string | null]>({
    name: 'provider_file_next_statement',
    text: 'select min(day)::text from provider_file_statement where connection_id = $1 and currency = $2 and day > $3',
    values: [connectionId, currency, day],
  })
  return row?.[0] ?? null
}

/** Reads the bookings of a statement in their order, a thousand at a time. */
export async function* bookingsOf(
  database: Queries,
  { id }: Pick<KeptStatement, 'id'>,
): AsyncGenerator<readonly DayBooking[]> {
  for (let after = 0; ; after += BOOKINGS_MAX) {
    const rows = await database.query<
      [string | null, DayBooking['direction'], string, string, string, string | null, string | null, string | null]
    >({
      name: 'provider_file_bookings',
      text: `select reference, direction, amount, booked_on::text, value_date::text, bank_ref, code, text from provider_file_booking
        where statement_id = $1 and place > $2 order by place limit ${BOOKINGS_MAX}`,
      values: [id, after],
    })
    if (rows.length > 0)
      yield rows.map(([reference, direction, amount, bookedOn, valueDate, bankRef, code, text]) => ({
        reference,
        direction,
        amount: BigInt(amount),
        bookedOn,
        valueDate,
        bankRef,
        code,
        text,
      }))
    if (rows.length < BOOKINGS_MAX) return
  }
}

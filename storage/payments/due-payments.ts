/**
 * Payments that wait for their day: the due ones, and those to a recipient.
 *
 * Written by hand: one statement finds the due payments of many customers.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { CalendarTerms } from '../../lib/rails/business-days.ts'
import { plainArrayOrNull } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { CALENDAR_OF_CONNECTION, LEAVES_BY } from '../providers/connection-calendars.ts'

export interface DuePayment {
  readonly paymentId: string
  readonly shard: number
  /** End of the wait for missing money, epoch milliseconds. */
  readonly until: number
}

/** Reads due payments of these shards (null: all), the longest due first. */
export async function duePayments(
  database: Database,
  { now, owned, max }: { readonly now: number; readonly owned: readonly number[] | null; readonly max: number },
): Promise<readonly DuePayment[]> {
  const rows = await database.query<[string, number, number]>({
    name: 'due_payments',
    text: `select payment_id, shard, (extract(epoch from until) * 1000)::float8 from payment_due
      where due_at <= $1::timestamptz and ($2::smallint[] is null or shard = any($2)) order by due_at limit $3`,
    values: [timestamp(now), plainArrayOrNull(owned), max],
  })
  return rows.map(([paymentId, shard, until]) => ({ paymentId, shard, until }))
}

/** Sets when a payment is due next. Does nothing when the payment no longer waits. */
export async function postponeDuePayment(database: Database, paymentId: string, dueAt: number): Promise<void> {
  await database.query({
    name: 'postpone_due_payment',
    text: 'update payment_due set due_at = $2::timestamptz where payment_id = $1',
    values: [paymentId, timestamp(dueAt)],
  })
}

/** Finds the scheduled payments to a recipient. */
export async function scheduledPaymentsTo(
  client: Pick<TransactionClient, 'query'>,
  customerId: string,
  recipientId: string,
): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>({
    name: 'scheduled_payments_to',
    text: `select p.id from payment_due d join payment p on p.id = d.payment_id where p.customer_id = $1 and p.recipient_id = $2 order by p.id`,
    values: [customerId, recipientId],
  })
  return rows.map(({ id }) => id)
}

/** Reads the requested date of a payment, and the calendar that counts its days. */
export async function datesOf(
  client: Pick<TransactionClient, 'query'>,
  paymentId: string,
): Promise<{ readonly executionDate: string; readonly calendar: CalendarTerms | null }> {
  const {
    rows: [row],
  } = await client.query<{ day: string; calendar: CalendarTerms | null }>({
    name: 'dates_of_payment',
    text: `select p.execution_date::text as day, ${CALENDAR_OF_CONNECTION} as calendar from payment p ${LEAVES_BY} where p.id = $1`,
    values: [paymentId],
  })
  if (row === undefined) throw new Error(`The payment ${paymentId} does not exist.`)
  return { executionDate: row.day, calendar: row.calendar }
}

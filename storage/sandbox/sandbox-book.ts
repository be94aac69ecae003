/**
 * Bookings of the sandbox bank, read from its own tables alone. Orders for payments are debited when they settle; every
 * other movement of money there is a booking.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { CreditFacts } from '../../lib/incoming-payments/credit.ts'
import type { Rail } from '../../lib/rails/rails.ts'
import type { Direction } from '../../lib/reconciliation/statement.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'
import type { Queries, TransactionClient } from '../db/transaction.ts'
import { bigintExpression, expression, select } from '../db/select.ts'

/** A booking. `id` is the bank's own id, so that each booking is inserted once; `at` is epoch milliseconds. */
export interface SandboxBooking {
  readonly id: string
  readonly connectionId: string
  readonly currency: string
  readonly reference: string
  readonly direction: Direction
  readonly amount: bigint
  readonly at: number
  readonly code: string
  readonly text: string | null
}

/**
 * Inserts bookings; an id that is booked already is left as it is. Times may be in the future.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function insertSandboxBookings(queries: Queries, bookings: readonly SandboxBooking[]): Promise<void> {
  await queries.query({
    name: 'sandbox_book',
    text: `insert into sandbox_booking (id, connection_id, currency, reference, direction, amount, booked_at, code, text)
      select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::bigint[], $7::timestamptz[], $8::text[], $9::text[]) on conflict (id) do nothing`,
    values: [
      plainArray(bookings.map(({ id }) => id)),
      plainArray(bookings.map(({ connectionId }) => connectionId)),
      textArray(bookings.map(({ currency }) => currency)),
      plainArray(bookings.map(({ reference }) => reference)),
      textArray(bookings.map(({ direction }) => direction)),
      plainArray(bookings.map(({ amount }) => amount)),
      plainArray(bookings.map(({ at }) => timestamp(at))),
      textArray(bookings.map(({ code }) => code)),
      textArray(bookings.map(({ text }) => text)),
    ],
  })
}

/** An order to an account at this bank, as the credit of that account; `reference` is the payment's id. */
export interface SandboxDelivery {
  readonly paymentId: string
  readonly shard: number
  readonly connectionId: string
  readonly account: string
  readonly credit: CreditFacts
}

const DELIVERY = select({
  reference: expression<string>('o.reference'),
  shard: expression<number>('b.shard'),
  connectionId: expression<string>('b.connection_id'),
  account: expression<string>('b.id'),
  amount: bigintExpression('o.amount'),
  currency: expression<string>('o.currency'),
  payerName: expression<string>('c.legal_name'),
  remittance: expression<string>(`p.details::json->>'reference'`),
  rail: expression<Rail>('p.rail'),
  endToEndId: expression<string | null>(`p.details::json->>'endToEndId'`),
})

/**
 * Reads the credits that result from orders to accounts at this bank. The text for the payee is the payment's
 * reference.
 *
 * @throws DatabaseUnavailable and the driver's errors
 */
export async function sandboxDeliveries(
  database: Pick<Database, 'query'>,
  references: readonly string[],
  valueDate: string,
): Promise<readonly SandboxDelivery[]> {
  const rows = await database.query({
    name: 'sandbox_deliveries',
    values: [plainArray(references)],
    text: `select ${DELIVERY.sql}
      from sandbox_order o join payment p on p.id = o.reference join customer c on c.id = p.customer_id
      join balance b on b.id = o.credited_balance_id join provider_connection k on k.id = b.connection_id and k.provider = 'sandbox'
      where o.reference = any($1::uuid[])`,
  })
  return rows.map((row) => {
    const { reference, shard, connectionId, account, ...credit } = DELIVERY.read(row)
    return {
      paymentId: reference,
      shard,
      connectionId,
      account,
      credit: {
        ...credit,
        reference,
        payerIdentifier: null,
        payerBankName: null,
        payerCountry: null,
        uetr: null,
        valueDate,
      },
    }
  })
}

/**
 * SQL of all bookings of an account ($1, $2) from the instant $4 on and before the instant $3: settled orders, orders
 * whose settlement message is due, and all other bookings.
 */
const BOOKED = `
  select settled_at as at, reference, 'DBIT' as direction, amount, 'PMNT' as code, null as text, reference as id from sandbox_order
  where connection_id = $1 and currency = $2 and settled_at >= $4 and settled_at < $3
  union all
  select due_at, reference, 'DBIT', amount, 'PMNT', null, reference from sandbox_order
  where connection_id = $1 and currency = $2 and settled_at is null and next_event in ('settled', 'returned') and due_at >= $4 and due_at < $3
  union all
  select f.at, f.reference, leg.direction, leg.amount, 'FORX', null, f.reference from (
    select settled_at as at, * from sandbox_fx_order where connection_id = $1 and settled_at >= $4 and settled_at < $3
    union all
    select due_at, * from sandbox_fx_order where connection_id = $1 and settled_at is null and next_event = 'settled' and due_at >= $4 and due_at < $3) f
  cross join lateral (values (f.sell_currency, 'DBIT', f.sold), (f.buy_currency, 'CRDT', f.bought)) leg(currency, direction, amount) where leg.currency = $2
  union all
  select booked_at, reference, direction, amount, code, text, id from sandbox_booking
  where connection_id = $1 and currency = $2 and booked_at >= $4 and booked_at < $3`

export interface SandboxBookedLine {
  readonly at: number
  readonly reference: string
  readonly direction: Direction
  readonly amount: bigint
  readonly code: string
  readonly text: string | null
  readonly id: string
}

/** Reads the account's balance at an instant, epoch milliseconds, in minor units. */
export async function sandboxBalance(
  client: TransactionClient,
  connectionId: string,
  currency: string,
  before: number,
): Promise<bigint> {
  const {
    rows: [row],
  } = await client.query<{ balance: string }>({
    name: 'sandbox_balance',
    values: [connectionId, currency, timestamp(before), '-infinity'],
    text: `select coalesce(sum(case direction when 'CRDT' then amount else -amount end), 0) as balance from (${BOOKED}) b`,
  })
  return BigInt(row!.balance)
}

/** Number of bookings of one fetch. */
const FETCHED = 1_000

/** Reads the bookings from one instant up to another, in order, with at most a thousand in memory at a time. */
export async function* sandboxLines(
  client: TransactionClient,
  connectionId: string,
  currency: string,
  from: number,
  before: number,
): AsyncGenerator<readonly SandboxBookedLine[]> {
  await client.query(
    `declare booked no scroll cursor for select (extract(epoch from at) * 1000)::float8 as at, reference, direction, amount, code, text, id from (${BOOKED}) b order by b.at, b.id, b.direction`,
    [connectionId, currency, timestamp(before), timestamp(from)],
  )
  for (;;) {
    const { rows } = await client.query<Omit<SandboxBookedLine, 'amount'> & { amount: string }>(
      `fetch ${FETCHED} from booked`,
    )
    if (rows.length === 0) break
    yield rows.map((row) => ({ ...row, amount: BigInt(row.amount) }))
  }
  await client.query('close booked')
}

/**
 * Payments on their way to the bank: rows of partner_instruction, written with the payment and deleted with its
 * outcome. These reads find the rows that the payment queue of a node works on.
 */
import { timestamp } from '../../lib/base/clock.ts'
import { plainArray, plainArrayOrNull, textArray } from '../db/array-literal.ts'
import { pick } from '../db/columns.ts'
import { expression, from, select } from '../db/select.ts'
import type { Queries, TransactionClient } from '../db/transaction.ts'
import { paysNothing } from '../balances/stopped-balances.ts'
import { Payment } from './payment-entity.ts'
import type { Rail } from '../../lib/rails/rails.ts'

/** A payment in the queue, with the shard where it is decided. */
export interface QueuedPayment {
  readonly id: string
  readonly shard: number
}

/** SQL condition: the balance that pays the payment `p` is not stopped. */
export const PAYER_NOT_STOPPED = `p.paying_balance_id <> all(array(select b.id from balance b where ${paysNothing('b')}))`

/**
 * Counts the payments of these shards (null: all) that may be handed to the bank and have not been. Payments of stopped
 * balances may not. @throws DatabaseUnavailable, and what the driver throws
 */
export async function countUnsentPayments(database: Queries, owned: readonly number[] | null): Promise<number> {
  const [row] = await database.query<[string]>({
    name: 'queue_backlog',
    values: [plainArrayOrNull(owned)],
    text: `select count(*) from partner_instruction i join payment p on p.id = i.payment_id
        where p.sent_at is null and ${PAYER_NOT_STOPPED} and ($1::smallint[] is null or i.shard = any($1))`,
  })
  return Number((row as [string])[0])
}

/**
 * Reads the payments of these shards (null: all) that may be handed to the bank at `now` (epoch milliseconds), the
 * oldest first, `max` at most. Payments of stopped balances wait until they pay again. `except`: connections, each with
 * a currency and a rail (`id EUR sepa`), whose payments are left out.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function unsentPayments(
  database: Queries,
  {
    now,
    owned,
    max,
    except = [],
  }: {
    readonly now: number
    readonly owned: readonly number[] | null
    readonly max: number
    readonly except?: readonly string[]
  },
): Promise<readonly QueuedPayment[]> {
  const rows = await database.query<[string, number]>({
    name: 'queue_refill',
    text: `select i.payment_id, i.shard from partner_instruction i join payment p on p.id = i.payment_id
        where p.sent_at is null and i.attention_at is null and (i.not_before is null or i.not_before <= $3::timestamptz)
          and ${PAYER_NOT_STOPPED} and ($2::smallint[] is null or i.shard = any($2))
          and (p.connection_id || ' ' || p.currency || ' ' || p.rail) <> all($4::text[]) order by i.payment_id limit $1`,
    values: [max, plainArrayOrNull(owned), timestamp(now), textArray(except)],
  })
  return rows.map(([id, shard]) => ({ id, shard }))
}

/**
 * Reads payments of these shards (null: all) that were handed over at `sentBefore` (epoch milliseconds) or earlier, are
 * still processing, and may be asked about at `now`: those with an id greater than `after`, by id, `max` at most.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function silentPayments(
  database: Queries,
  {
    now,
    sentBefore,
    after,
    max,
    owned,
  }: {
    readonly now: number
    readonly sentBefore: number
    readonly after: string
    readonly max: number
    readonly owned: readonly number[] | null
  },
): Promise<readonly QueuedPayment[]> {
  const rows = await database.query<[string, number]>({
    name: 'queue_silent',
    text: `select i.payment_id, i.shard from partner_instruction i join payment p on p.id = i.payment_id
          where p.sent_at <= $1::timestamptz and p.status = 'processing' and i.payment_id > $2
            and (i.ask_at is null or i.ask_at <= $5::timestamptz)
            and ($4::smallint[] is null or i.shard = any($4)) order by i.payment_id limit $3`,
    values: [timestamp(sentBefore), after, max, plainArrayOrNull(owned), timestamp(now)],
  })
  return rows.map(([id, shard]) => ({ id, shard }))
}

/**
 * Puts off the next question about payments that their partner still works on: for as long as they have been under way,
 * half a minute at least and an hour at most.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function postponeQuestions(database: Queries, ids: readonly string[], now: number): Promise<void> {
  await database.query({
    name: 'queue_postponed',
    text: `update partner_instruction i
      set ask_at = $2::timestamptz + least(greatest($2::timestamptz - p.sent_at, interval '30 seconds'), interval '1 hour')
      from payment p where p.id = i.payment_id and i.payment_id = any($1::uuid[])`,
    values: [plainArray(ids), timestamp(now)],
  })
}

/** A payment with an unknown outcome, and how often the bank has been asked about it. */
export interface UnknownPayment extends QueuedPayment {
  readonly attempts: number
}

/**
 * Reads the payments of these shards (null: all) about which the bank is to be asked at `now` (epoch milliseconds), the
 * longest due first, `max` at most.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function unknownPayments(
  database: Queries,
  { now, max, owned }: { readonly now: number; readonly max: number; readonly owned: readonly number[] | null },
): Promise<readonly UnknownPayment[]> {
  const rows = await database.query<[string, number, number]>({
    name: 'queue_attention',
    text: `select payment_id, shard, attempts from partner_instruction where attention_at <= $1::timestamptz
        and ($3::smallint[] is null or shard = any($3)) order by attention_at limit $2`,
    values: [timestamp(now), max, plainArrayOrNull(owned)],
  })
  return rows.map(([id, shard, attempts]) => ({ id, shard, attempts }))
}

/**
 * Reads which of these payments staff have not forbidden to submit again, by id. @throws DatabaseUnavailable, and what
 * the driver throws
 */
export async function resubmittablePayments(database: Queries, ids: readonly string[]): Promise<readonly string[]> {
  const rows = await database.query<[string]>({
    name: 'queue_sendable',
    text: 'select payment_id from partner_instruction where payment_id = any($1::uuid[]) and not resubmit_forbidden',
    values: [plainArray(ids)],
  })
  return rows.map(([id]) => id)
}

/** The facts of a payment that select the internal accounts and the value date of its moves. */
export interface PaymentPlace {
  readonly id: string
  readonly operatorId: string
  readonly connectionId: string
  readonly currency: string
  readonly rail: Rail
  /** Whether the balance that pays was stopped when this was read. */
  readonly isStopped: boolean
  /** The connection of the paying balance, where that was asked for and is another one; otherwise null. */
  readonly homeConnectionId: string | null
}

const PLACE = select({
  ...pick(from(Payment, 'p'), ['id', 'operatorId', 'connectionId', 'currency']),
  // A draft has no rail, and is in no queue.
  rail: expression<Rail>('p.rail'),
  isStopped: expression<boolean>(`not (${PAYER_NOT_STOPPED})`),
})

const HOME = select({ homeConnectionId: expression<string | null>('h.connection_id') })

/**
 * Reads the place of each of these payments; payments that do not exist are absent. A payment of which something is under
 * way at its bank keeps its balance where it is, so what is read here holds until the payment has ended.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function placesOfPayments(database: Queries, ids: readonly string[]): Promise<readonly PaymentPlace[]> {
  const rows = await database.query({
    name: 'queue_contexts',
    text: `select ${PLACE.sql} from payment p where p.id = any($1::uuid[])`,
    values: [plainArray(ids)],
  })
  return rows.map((row) => ({ ...PLACE.read(row), homeConnectionId: null }))
}

/** Reads the connection of the paying balance of a payment within a transaction; null where it is the payment's own. */
export async function homeOfPayment(
  client: TransactionClient,
  { payingBalanceId, connectionId }: { readonly payingBalanceId: string; readonly connectionId: string },
): Promise<string | null> {
  const {
    rows: [row],
  } = await client.query<{ connection_id: string }>({
    name: 'home_of_payment',
    values: [payingBalanceId, connectionId],
    text: 'select connection_id from balance where id = $1 and connection_id <> $2',
  })
  return row?.connection_id ?? null
}

/** Reads the same with the connections of the paying balances: each balance is read once, however many payments it has. */
export async function homesOfPayments(database: Queries, ids: readonly string[]): Promise<readonly PaymentPlace[]> {
  const rows = await database.query({
    name: 'queue_homes',
    text: `with h as materialized (
        select b.id, b.connection_id from balance b where b.id = any(array(select distinct o.paying_balance_id from payment o where o.id = any($1::uuid[]))))
      select ${PLACE.sql}, ${HOME.sql} from payment p left join h on h.id = p.paying_balance_id and h.connection_id <> p.connection_id
      where p.id = any($1::uuid[])`,
    values: [plainArray(ids)],
  })
  return rows.map((row) => ({ ...PLACE.read(row), ...HOME.read(row, PLACE.width) }))
}

/**
 * Returns when the bank is next asked about a payment of unknown outcome, or a payment may next be handed over that
 * waits for its time; epoch milliseconds, for these shards (null: for all). Null: no payment waits.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function nextInstruction(
  database: Queries,
  { now, owned }: { readonly now: number; readonly owned: readonly number[] | null },
): Promise<number | null> {
  const [row] = await database.query<[number | null]>({
    name: 'next_instruction',
    values: [timestamp(now), plainArrayOrNull(owned)],
    text: `select ceil(extract(epoch from least(min(attention_at), min(not_before) filter (where not_before > $1::timestamptz))) * 1000)::float8
      from partner_instruction where $2::smallint[] is null or shard = any($2)`,
  })
  return row?.[0] ?? null
}

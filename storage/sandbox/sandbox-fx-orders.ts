/**
 * Exchange orders of the sandbox's dealer: rows of sandbox_fx_order. `next_event` is the next message about an order
 * and `due_at` its time. Amounts are minor units. Statements only.
 *
 * Written by hand: orders and messages come in batches.
 */
import type { FxMessageType } from '../../lib/providers/messages.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { plainArray, plainArrayOrNull, textArray } from '../db/array-literal.ts'
import type { Queries } from '../db/transaction.ts'
import { bigintExpression, expression, select } from '../db/select.ts'

export type SandboxFxEvent = FxMessageType

/** An order as the dealer accepts it. */
export interface NewSandboxFxOrder {
  readonly reference: string
  readonly shard: number
  readonly sellCurrency: string
  readonly buyCurrency: string
  readonly sold: bigint
  readonly bought: bigint
  readonly state: 'accepted' | 'unanswered'
  /** The next message; null where no message is to come. */
  readonly nextEvent: SandboxFxEvent | null
  readonly reason: string | null
  /** Epoch milliseconds. */
  readonly dueAt: number | null
  readonly connectionId: string
}

/**
 * Inserts orders; an existing reference is left as it is. `receivedAt` is epoch milliseconds.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function insertSandboxFxOrders(
  database: Queries,
  orders: readonly NewSandboxFxOrder[],
  receivedAt: number,
): Promise<void> {
  await database.query({
    name: 'sandbox_fx_submit',
    text: `insert into sandbox_fx_order (reference, shard, sell_currency, buy_currency, sold, bought, state, next_event, reason, due_at, connection_id, received_at)
        select u.*, $12::timestamptz from unnest($1::uuid[], $2::smallint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::timestamptz[], $11::uuid[]) u
        on conflict (reference) do nothing`,
    values: [
      plainArray(orders.map(({ reference }) => reference)),
      plainArray(orders.map(({ shard }) => shard)),
      textArray(orders.map(({ sellCurrency }) => sellCurrency)),
      textArray(orders.map(({ buyCurrency }) => buyCurrency)),
      plainArray(orders.map(({ sold }) => sold)),
      plainArray(orders.map(({ bought }) => bought)),
      textArray(orders.map(({ state }) => state)),
      textArray(orders.map(({ nextEvent }) => nextEvent)),
      textArray(orders.map(({ reason }) => reason)),
      plainArray(orders.map(({ dueAt }) => (dueAt === null ? null : timestamp(dueAt)))),
      plainArray(orders.map(({ connectionId }) => connectionId)),
      timestamp(receivedAt),
    ],
  })
}

/** The state of an order, for the dealer's answer to a status request. */
export interface SandboxFxOrderState {
  readonly reference: string
  readonly state: string
  readonly nextEvent: string | null
  readonly reason: string | null
  readonly sold: bigint
  readonly bought: bigint
  /** Whether the next event is due. */
  readonly isDue: boolean
}

const STATE = select({
  reference: expression<string>('reference'),
  state: expression<string>('state'),
  nextEvent: expression<string | null>('next_event'),
  reason: expression<string | null>('reason'),
  sold: bigintExpression('sold'),
  bought: bigintExpression('bought'),
  isDue: expression<boolean>('coalesce(due_at <= $2::timestamptz, false)'),
})

/**
 * Reads the states of orders at `now` (epoch milliseconds); references that the dealer does not have are absent.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function sandboxFxOrderStates(
  database: Queries,
  references: readonly string[],
  now: number,
): Promise<readonly SandboxFxOrderState[]> {
  const rows = await database.query({
    name: 'sandbox_fx_status',
    values: [plainArray(references), timestamp(now)],
    text: `select ${STATE.sql} from sandbox_fx_order where reference = any($1::uuid[])`,
  })
  return rows.map((row) => STATE.read(row))
}

/**
 * Replaces the plan of an order: its next message, and when it is due (epoch milliseconds).
 *
 * @returns the number of that message; null when the dealer does not have the order
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function replanSandboxFxOrder(
  queries: Queries,
  reference: string,
  { event, reason, dueAt }: { readonly event: SandboxFxEvent; readonly reason: string | null; readonly dueAt: number },
): Promise<number | null> {
  const [row] = await queries.query<[number]>({
    name: 'sandbox_fx_replanned',
    values: [reference, event, reason, timestamp(dueAt)],
    text: `update sandbox_fx_order set state = case when state = 'unanswered' then 'accepted' else state end, next_event = $2, reason = $3, due_at = $4,
          event_number = event_number + 1 where reference = $1 returning event_number`,
  })
  return row === undefined ? null : row[0]
}

/** An order with a message that is due. */
export interface DueSandboxFxOrder {
  readonly reference: string
  readonly shard: number
  readonly event: SandboxFxEvent
  readonly reason: string | null
  readonly sold: bigint
  readonly bought: bigint
  readonly eventNumber: number
}

const DUE = select({
  reference: expression<string>('reference'),
  shard: expression<number>('shard'),
  event: expression<SandboxFxEvent>('next_event'),
  reason: expression<string | null>('reason'),
  sold: bigintExpression('sold'),
  bought: bigintExpression('bought'),
  eventNumber: expression<number>('event_number'),
})

/**
 * Reads the orders of these shards (null: all) with a message that is due at `now` (epoch milliseconds), the longest
 * due first, `max` at most.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function dueSandboxFxOrders(
  database: Queries,
  { now, max, owned }: { readonly now: number; readonly max: number; readonly owned: readonly number[] | null },
): Promise<readonly DueSandboxFxOrder[]> {
  const rows = await database.query({
    name: 'sandbox_fx_due',
    text: `select ${DUE.sql} from sandbox_fx_order
          where due_at <= $1::timestamptz and state <> 'unanswered' and ($3::smallint[] is null or shard = any($3)) order by due_at limit $2`,
    values: [timestamp(now), max, plainArrayOrNull(owned)],
  })
  return rows.map((row) => DUE.read(row))
}

/**
 * Sets orders to the state of their message of this event number, which was acknowledged; orders planned anew since
 * stay as they are.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function acknowledgeSandboxFxOrders(
  database: Queries,
  heard: readonly { readonly reference: string; readonly eventNumber: number }[],
): Promise<void> {
  await database.query({
    name: 'sandbox_fx_acknowledged',
    text: `update sandbox_fx_order o set state = case when o.next_event = 'unclear' then 'unanswered' else o.next_event end,
            settled_at = case when o.next_event = 'settled' then coalesce(o.settled_at, o.due_at) else o.settled_at end, due_at = null,
            next_event = case when o.next_event = 'unclear' then null else o.next_event end
          from unnest($1::uuid[], $2::smallint[]) u(reference, event_number) where o.reference = u.reference and o.event_number = u.event_number`,
    values: [
      plainArray(heard.map(({ reference }) => reference)),
      plainArray(heard.map(({ eventNumber }) => eventNumber)),
    ],
  })
}

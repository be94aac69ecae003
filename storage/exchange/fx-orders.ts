/**
 * Rows of orders and inquiries that the partner must receive about exchanges. Statements only; rules are in
 * lib/exchange.
 *
 * Written by hand: the commit of exchanges writes these rows, and a node leases many at once.
 */
import type { FxMessageType } from '../../lib/providers/messages.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'
import { expression, select } from '../db/select.ts'

/** An order or inquiry that is due. */
export interface DueFxOrder {
  readonly exchangeId: string
  readonly attempts: number
  /** Whether the partner may have received the order. */
  readonly sent: boolean
  /** Whether the connection has a partner that exchanges; otherwise the operator itself buys and sells. */
  readonly byPartner: boolean
}

const DUE = select({
  exchangeId: expression<string>('o.exchange_id'),
  attempts: expression<number>('o.attempts'),
  sent: expression<boolean>('due.sent_at is not null'),
  byPartner: expression<boolean>(`coalesce((k.config->'capabilities'->>'fx')::boolean, true)`),
})

/**
 * Leases due orders of these shards (null: all), the longest due first. The lease ends at `until`; then another node
 * may take orders that are still due. From the lease on, the partner may have received the order.
 */
export async function takeDueFxOrders(
  database: Database,
  {
    now,
    until,
    shards,
    max,
  }: { readonly now: number; readonly until: number; readonly shards: string | null; readonly max: number },
): Promise<readonly DueFxOrder[]> {
  const rows = await database.query({
    name: 'take_due_fx_orders',
    values: [timestamp(now), timestamp(until), shards, max],
    text: `with due as materialized (
        select exchange_id, sent_at from fx_order where due_at <= $1::timestamptz and ($3::smallint[] is null or shard = any($3))
        order by due_at limit $4 for update skip locked)
      update fx_order o set due_at = $2, sent_at = coalesce(o.sent_at, $1), attempts = least(o.attempts + 1, 1000)
      from due join exchange e on e.id = due.exchange_id join provider_connection k on k.id = e.connection_id where o.exchange_id = due.exchange_id
      returning ${DUE.sql}`,
  })
  return rows.map((row) => DUE.read(row))
}

/** Sets when open orders are due next, epoch milliseconds by the exchange's id. Finished orders are left out. */
export async function askFxOrdersAt(database: Database, at: ReadonlyMap<string, number>): Promise<void> {
  if (at.size === 0) return
  await database.query({
    name: 'ask_fx_orders_at',
    values: [plainArray([...at.keys()]), plainArray([...at.values()].map((ms) => timestamp(ms)))],
    text: 'update fx_order o set due_at = u.due_at from unnest($1::uuid[], $2::timestamptz[]) u(id, due_at) where o.exchange_id = u.id',
  })
}

/** A message of the partner that caused no change. */
export interface KeptFxMessage {
  readonly id: string
  readonly type: FxMessageType
  /** The id of its exchange. */
  readonly reference: string
  readonly reason: string | null
}

/** Records messages that are not recorded yet. `now` is epoch milliseconds. @throws the driver's errors */
export async function keepFxMessages(
  database: Database,
  messages: readonly KeptFxMessage[],
  now: number,
): Promise<void> {
  await database.query({
    name: 'keep_fx_messages',
    text: `insert into provider_event (id, connection_id, type, object_id, code, received_at)
      select u.id, e.connection_id, u.type, e.id, u.code, $5::timestamptz
      from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[]) as u(id, type, reference, code) join exchange e on e.id = u.reference
      on conflict (id) do nothing`,
    values: [
      plainArray(messages.map(({ id }) => id)),
      textArray(messages.map(({ type }) => type)),
      plainArray(messages.map(({ reference }) => reference)),
      textArray(messages.map(({ reason }) => reason)),
      timestamp(now),
    ],
  })
}

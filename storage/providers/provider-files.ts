/**
 * Files that go to banks: rows of provider_file, and the orders that they hold. A file moves on in one direction:
 *
 *   gathering ──▶ closed ──▶ written ──▶ handing_over ──▶ sent
 *
 * Each attempt to send a file has a lease; only the last attempt can move the file on, so one that stalled and wakes up
 * does no harm.
 *
 * Written by hand: orders come in batches.
 */
import { timestamp } from '../../lib/base/clock.ts'
import { OperatingError } from '../../lib/base/errors.ts'
import type { FileOrderStatus } from '../../lib/providers/files/order-state.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'
import { inTransaction, through, type Queries, type TransactionClient } from '../db/transaction.ts'

/** Another attempt has taken the file. */
export class LeaseLost extends OperatingError {
  override readonly name = 'LeaseLost'
}

export interface FileOwner {
  readonly connectionId: string
  readonly operatorId: string
}

/** An order that waits for its file; `dueAt` is epoch milliseconds, the amount is in minor units. */
export interface GatheredOrder {
  readonly reference: string
  readonly rail: string
  readonly currency: string
  readonly amount: bigint
  readonly endToEndId: string
  readonly uetr: string | null
  readonly body: string
  readonly dueAt: number
}

/**
 * Puts orders into the files that gather those of their rail and currency; references that are known stay as they are.
 *
 * @param newId returns the id of a new file
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function gatherOrders(
  database: Database,
  owner: FileOwner,
  {
    orders,
    ordersMax,
    now,
    newId,
  }: {
    readonly orders: readonly GatheredOrder[]
    readonly ordersMax: number
    readonly now: number
    readonly newId: () => string
  },
): Promise<void> {
  await inTransaction(database, async (client) => {
    // One batch of a connection after the other, so that each order has its place.
    await client.query({
      name: 'lock_provider_files',
      text: `select pg_advisory_xact_lock(hashtextextended('files for ' || $1::text, 0))`,
      values: [owner.connectionId],
    })
    const known = await knownReferences(client, orders)
    const fresh = orders.filter(({ reference }) => !known.has(reference))
    for (const [gathers, group] of Map.groupBy(fresh, ({ rail, currency }) => `${rail} ${currency}`)) {
      const waiting = [...group]
      while (waiting.length > 0) {
        const file = await gatheringFile(client, owner, { gathers, dueAt: waiting[0]!.dueAt, id: newId(), now })
        const part = waiting.splice(0, Math.max(1, ordersMax - file.orders))
        await insertOrders(client, owner, { file, orders: part, now })
        const count = file.orders + part.length
        const isFull = count >= ordersMax
        const dueAt = isFull ? now : Math.min(file.dueAt, ...part.map((order) => order.dueAt))
        await client.query({
          name: 'provider_file_gathered',
          text: `update provider_file set orders = $2, due_at = $3, status = case when $4 then 'closed' else status end where id = $1`,
          values: [file.id, count, timestamp(dueAt), isFull],
        })
      }
    }
  })
}

async function knownReferences(
  client: TransactionClient,
  orders: readonly GatheredOrder[],
): Promise<ReadonlySet<string>> {
  const rows = await through(client).query<[string]>({
    name: 'provider_file_known',
    text: 'select reference from provider_file_order where reference = any($1::uuid[])',
    values: [plainArray(orders.map(({ reference }) => reference))],
  })
  return new Set(rows.map(([reference]) => reference))
}

interface GatheringFile {
  readonly id: string
  readonly orders: number
  readonly dueAt: number
}

/** Locks the file that gathers, and begins one where there is none, or the one there was is closed at this moment. */
async function gatheringFile(
  client: TransactionClient,
  { connectionId, operatorId }: FileOwner,
  {
    gathers,
    dueAt,
    id,
    now,
  }: { readonly gathers: string; readonly dueAt: number; readonly id: string; readonly now: number },
): Promise<GatheringFile> {
  for (;;) {
    const [found] = await through(client).query<[string, number, number]>({
      name: 'provider_file_gathering',
      text: `select id, orders, (extract(epoch from due_at) * 1000)::float8 from provider_file
        where connection_id = $1 and gathers = $2 and status = 'gathering' for update`,
      values: [connectionId, gathers],
    })
    if (found !== undefined) return { id: found[0], orders: found[1], dueAt: found[2] }
    await client.query({
      name: 'provider_file_begin',
      text: `insert into provider_file (id, connection_id, operator_id, direction, gathers, status, name, shard, due_at, created_at)
        values ($1, $2, $3, 'out', $4, 'gathering', '', $5, $6, $7)`,
      values: [id, connectionId, operatorId, gathers, shardOf(connectionId), timestamp(dueAt), timestamp(now)],
    })
  }
}

async function insertOrders(
  client: TransactionClient,
  { connectionId }: FileOwner,
  {
    file,
    orders,
    now,
  }: { readonly file: GatheringFile; readonly orders: readonly GatheredOrder[]; readonly now: number },
): Promise<void> {
  await client.query({
    name: 'provider_file_orders_insert',
    text: `insert into provider_file_order (reference, connection_id, file_id, place, rail, currency, amount, end_to_end_id, uetr, body, status, updated_at)
      select u.reference, $1, $2, $3 + u.nth - 1, u.rail, u.currency, u.amount, u.end_to_end_id, u.uetr, u.body, 'gathered', $4::timestamptz
      from unnest($5::uuid[], $6::text[], $7::char(3)[], $8::bigint[], $9::text[], $10::text[], $11::text[])
        with ordinality u(reference, rail, currency, amount, end_to_end_id, uetr, body, nth)`,
    values: [
      connectionId,
      file.id,
      file.orders,
      timestamp(now),
      plainArray(orders.map(({ reference }) => reference)),
      plainArray(orders.map(({ rail }) => rail)),
      plainArray(orders.map(({ currency }) => currency)),
      plainArray(orders.map(({ amount }) => amount)),
      textArray(orders.map(({ endToEndId }) => endToEndId)),
      textArray(orders.map(({ uetr }) => uetr)),
      textArray(orders.map(({ body }) => body)),
    ],
  })
}

/** The outcome of an order, as the files of the bank told it. */
export interface OrderOutcome {
  readonly status: FileOrderStatus
  readonly schemeCode: string | null
  /** Minor units. */
  readonly returnedAmount: bigint | null
  readonly bankRef: string | null
}

/** Reads the outcomes of orders of a connection; references of no order are absent. */
export async function orderOutcomes(
  database: Queries,
  connectionId: string,
  references: readonly string[],
): Promise<ReadonlyMap<string, OrderOutcome>> {
  const rows = await database.query<[string, FileOrderStatus, string | null, string | null, string | null]>({
    name: 'provider_file_outcomes',
    text: `select reference, status, scheme_code, returned_amount, bank_ref from provider_file_order
      where connection_id = $1 and reference = any($2::uuid[])`,
    values: [connectionId, plainArray(references)],
  })
  return new Map(
    rows.map(([reference, status, schemeCode, returned, bankRef]) => [
      reference,
      { status, schemeCode, returnedAmount: returned === null ? null : BigInt(returned), bankRef },
    ]),
  )
}

/** Reads which connection a file belongs to; null when there is no such file. */
export async function connectionOfFile(database: Queries, id: string): Promise<string | null> {
  const [row] = await database.query<[string]>({
    name: 'provider_file_connection',
    text: 'select connection_id from provider_file where id = $1',
    values: [id],
  })
  return row?.[0] ?? null
}

/** A file that an attempt has taken. */
export interface LeasedFile {
  readonly id: string
  readonly lease: string
  readonly createdAt: number
  readonly written: { readonly name: string } | null
  readonly temporary: { readonly name: string; readonly place: string } | null
}

/** Takes a file of a connection that is due, and closes it; null when it is not due, or was sent. */
export async function takeFile(
  database: Queries,
  connectionId: string,
  { id, lease, now }: { readonly id: string; readonly lease: string; readonly now: number },
): Promise<LeasedFile | null> {
  const [row] = await database.query<[number, string, string | null, string | null]>({
    name: 'provider_file_take',
    text: `update provider_file set lease = $3, status = case status when 'gathering' then 'closed' else status end
      where id = $1 and connection_id = $2 and due_at <= $4
      returning (extract(epoch from created_at) * 1000)::float8, name, temporary_name, place`,
    values: [id, connectionId, lease, timestamp(now)],
  })
  if (row === undefined) return null
  const [createdAt, name, temporaryName, place] = row
  const temporary = temporaryName === null ? null : { name: temporaryName, place: place ?? '' }
  return { id, lease, createdAt, written: name === '' ? null : { name }, temporary }
}

/** Reads the bodies of the orders of a file, in the order in which they came. */
export async function orderBodies(database: Queries, id: string): Promise<readonly string[]> {
  const rows = await database.query<[string]>({
    name: 'provider_file_bodies',
    text: 'select body from provider_file_order where file_id = $1 order by place',
    values: [id],
  })
  return rows.map(([body]) => body)
}

export interface FileAsWritten {
  readonly name: string
  readonly format: string
  readonly messageId: string
  readonly orders: number
  readonly controlSum: bigint
  readonly blocks: ReadonlyMap<string, string>
}

/** Notes what a file holds, and where its bytes are stored. @throws LeaseLost */
export async function noteWritten(
  client: TransactionClient,
  file: LeasedFile,
  {
    written,
    stored,
  }: {
    readonly written: FileAsWritten
    readonly stored: { readonly id: string; readonly sizeBytes: number; readonly sha256: Uint8Array }
  },
): Promise<void> {
  const { name, format, messageId, orders, controlSum, blocks } = written
  const { rowCount } = await client.query({
    name: 'provider_file_written',
    text: `update provider_file set status = 'written', name = $3, format = $4, message_id = $5, orders = $6, control_sum = $7, bytes = $8, sha256 = $9, stored_file_id = $10
      where id = $1 and lease = $2 and status = 'closed'`,
    values: [
      file.id,
      file.lease,
      name,
      format,
      messageId,
      orders,
      controlSum,
      stored.sizeBytes,
      stored.sha256,
      stored.id,
    ],
  })
  if (rowCount !== 1) throw new LeaseLost(`Another attempt sends the file ${file.id}.`)
  await client.query({
    name: 'provider_file_blocks',
    text: `update provider_file_order o set block_id = u.block_id from unnest($2::uuid[], $3::text[]) u(reference, block_id)
      where o.file_id = $1 and o.reference = u.reference`,
    values: [file.id, plainArray([...blocks.keys()]), textArray([...blocks.values()])],
  })
}

/** Reads where the bytes of a file are stored; null where it has none. */
export async function storedFileOf(database: Queries, id: string): Promise<string | null> {
  const [row] = await database.query<[string | null]>({
    name: 'provider_file_stored',
    text: 'select stored_file_id from provider_file where id = $1',
    values: [id],
  })
  return row?.[0] ?? null
}

/** Notes that a file stands at its place under a temporary name. @returns false when another attempt has the file */
export async function noteHandOver(
  database: Queries,
  file: LeasedFile,
  { name, place }: NonNullable<LeasedFile['temporary']>,
): Promise<boolean> {
  const rows = await database.query<[string]>({
    name: 'provider_file_hand_over',
    text: `update provider_file set status = 'handing_over', temporary_name = $3, place = $4 where id = $1 and lease = $2 and status = 'written' returning id`,
    values: [file.id, file.lease, name, place],
  })
  return rows.length === 1
}

/** Notes that the bank has a file: true whichever attempt found it out. */
export async function noteSent(database: Database, { id }: Pick<LeasedFile, 'id'>, now: number): Promise<void> {
  await inTransaction(database, async (client) => {
    await client.query({
      name: 'provider_file_sent',
      text: `update provider_file set status = 'sent', due_at = null, lease = null, error = null, done_at = $2 where id = $1 and status = 'handing_over'`,
      values: [id, timestamp(now)],
    })
    await client.query({
      name: 'provider_file_orders_sent',
      text: `update provider_file_order set status = 'sent', updated_at = $2 where file_id = $1 and status = 'gathered'`,
      values: [id, timestamp(now)],
    })
    // A file of collections has the id of what staff would have downloaded.
    await client.query({
      name: 'collection_file_delivered',
      text: `update collection_file set status = 'downloaded', downloaded_at = $2 where id = $1 and status = 'generated'`,
      values: [id, timestamp(now)],
    })
  })
}

/** Notes why the last attempt failed, and when the next one is due. */
export async function noteFailure(
  database: Queries,
  { id, lease }: LeasedFile,
  { reason, dueAt }: { readonly reason: string; readonly dueAt: number },
): Promise<void> {
  await database.query({
    name: 'provider_file_failed',
    text: 'update provider_file set error = $3, due_at = $4 where id = $1 and lease = $2 and due_at is not null',
    values: [id, lease, reason, timestamp(dueAt)],
  })
}

/**
 * Files that banks send: rows of provider_file, and what they came to. Bytes that were read are not read again.
 *
 *   received ──▶ read            doubtful: it could not be read once, and the bank may still be writing it
 *      └──▶ doubtful ──▶ unreadable, or superseded by other bytes under its name
 *
 * Written by hand: files hold many orders.
 */
import type { NewBookEvent, OrderChange, StatementPage } from '../../lib/providers/files/file-contents.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { FileOrderState, FileOrderStatus } from '../../lib/providers/files/order-state.ts'
import { MANDATE_SCHEMES } from '../../lib/rails/debit-schemes.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'
import { inTransaction, through, type Queries, type TransactionClient } from '../db/transaction.ts'
import type { FileOwner } from './provider-files.ts'

/** A file as its place lists it. */
export interface ListedFile {
  readonly name: string
  readonly bytes: number
  readonly modifiedAt: number
}

/** Returns the files of a list that have not been read. */
export async function unreadFiles(
  database: Queries,
  connectionId: string,
  found: readonly ListedFile[],
): Promise<readonly ListedFile[]> {
  const rows = await database.query<[string]>({
    name: 'provider_files_known',
    text: `select u.nth from unnest($2::text[], $3::bigint[], $4::timestamptz[]) with ordinality u(name, bytes, modified_at, nth)
      where not exists (select from provider_file f where f.connection_id = $1 and f.direction = 'in' and f.name = u.name
        and f.bytes = u.bytes and f.modified_at = u.modified_at and f.status not in ('received', 'doubtful')) order by 1`,
    values: [
      connectionId,
      textArray(found.map(({ name }) => name)),
      plainArray(found.map(({ bytes }) => bytes)),
      textArray(found.map(({ modifiedAt }) => timestamp(modifiedAt))),
    ],
  })
  return rows.map(([nth]) => found[Number(nth) - 1]!)
}

/** A file whose bytes are stored, with their SHA-256. */
export interface StoredListedFile extends ListedFile {
  readonly storedId: string
  readonly sha256: Uint8Array
}

/**
 * Notes a file. `isKept`: its bytes are needed, because they were not known before.
 *
 * @param newId returns the id of a new row
 */
export async function receiveFile(
  client: TransactionClient,
  { connectionId, operatorId }: FileOwner,
  { file, now, newId }: { readonly file: StoredListedFile; readonly now: number; readonly newId: () => string },
): Promise<{ readonly id: string; readonly isNew: boolean; readonly isKept: boolean }> {
  const { name, bytes, modifiedAt, storedId, sha256 } = file
  const [known] = await through(client).query<[string, string]>({
    name: 'provider_file_by_hash',
    text: `select id, status from provider_file where connection_id = $1 and direction = 'in' and sha256 = $2 for update`,
    values: [connectionId, sha256],
  })
  const isRead = known !== undefined && !['received', 'doubtful'].includes(known[1])
  if (known !== undefined && !isRead) return { id: known[0], isNew: true, isKept: false }
  const id = newId()
  const at = timestamp(now)
  await client.query({
    name: 'provider_file_receive',
    text: `insert into provider_file (id, connection_id, operator_id, direction, status, name, bytes, sha256, modified_at, stored_file_id, shard, created_at, done_at)
      values ($1, $2, $3, 'in', $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    values: [
      id,
      connectionId,
      operatorId,
      isRead ? 'duplicate' : 'received',
      name,
      // As its place lists it: the file is known again by that.
      bytes,
      isRead ? null : sha256,
      timestamp(modifiedAt),
      isRead ? null : storedId,
      shardOf(connectionId),
      at,
      isRead ? at : null,
    ],
  })
  if (isRead) return { id: known[0], isNew: false, isKept: false }
  await client.query({
    name: 'provider_file_supersede',
    text: `update provider_file set status = 'superseded', done_at = $4
      where connection_id = $1 and direction = 'in' and name = $2 and id <> $3 and status = 'doubtful'`,
    values: [connectionId, name, id, at],
  })
  return { id, isNew: true, isKept: true }
}

/** The names by which a file may mean orders. */
export interface NamesOfOrders {
  readonly references: readonly string[]
  readonly endToEndIds: readonly string[]
  readonly uetrs: readonly string[]
  readonly messageIds: readonly string[]
  readonly blockIds: readonly string[]
}

export interface NamedOrder extends FileOrderState {
  readonly reference: string
  readonly currency: string
  readonly endToEndId: string
  readonly uetr: string | null
  readonly messageId: string | null
  readonly blockId: string | null
  readonly fileId: string
  /** Whether it collects money. */
  readonly isCollection: boolean
}

/** The contents of a file, as they are written. */
export interface ReadContents {
  readonly format: string
  readonly messageId: string | null
  readonly changes: readonly OrderChange[]
  readonly events: readonly NewBookEvent[]
  readonly statements: readonly StatementPage[]
}

/** Writes the contents of a file, with the orders that it names locked; a file that was read stays as it is. */
export async function settleFile(
  database: Database,
  { connectionId }: FileOwner,
  {
    id,
    names,
    interpret,
    now,
    newId,
  }: {
    readonly id: string
    readonly names: NamesOfOrders
    readonly interpret: (orders: readonly NamedOrder[]) => ReadContents
    readonly now: number
    readonly newId: () => string
  },
): Promise<void> {
  await inTransaction(database, async (client) => {
    if (!(await lockUnread(client, connectionId, id))) return
    const contents = interpret(await lockOrders(client, connectionId, names))
    await changeOrders(client, contents.changes, now)
    await insertEvents(client, connectionId, { fileId: id, events: contents.events, now })
    for (const statement of contents.statements)
      await insertStatement(client, connectionId, { id: newId(), fileId: id, statement })
    await client.query({
      name: 'provider_file_read',
      text: `update provider_file set status = 'read', format = $2, message_id = $3, orders = $4, done_at = $5, error = null where id = $1`,
      values: [id, contents.format, contents.messageId, contents.events.length, timestamp(now)],
    })
  })
}

/**
 * Locks a file of a connection, after the other files of that connection, so that the numbers of events are those of
 * their commits. @returns whether it is still to be read
 */
async function lockUnread(client: TransactionClient, connectionId: string, id: string): Promise<boolean> {
  await client.query({
    name: 'lock_provider_file_events',
    text: `select pg_advisory_xact_lock(hashtextextended('events of files of ' || $1::text, 0))`,
    values: [connectionId],
  })
  const { rowCount } = await client.query({
    name: 'provider_file_lock',
    text: `select from provider_file where id = $1 and connection_id = $2 and status in ('received', 'doubtful') for update`,
    values: [id, connectionId],
  })
  return rowCount === 1
}

async function lockOrders(
  client: TransactionClient,
  connectionId: string,
  { references, endToEndIds, uetrs, messageIds, blockIds }: NamesOfOrders,
): Promise<readonly NamedOrder[]> {
  const rows = await through(client).query<
    [
      string,
      string,
      string,
      string,
      string | null,
      string | null,
      string | null,
      FileOrderStatus,
      boolean,
      string,
      string,
    ]
  >({
    name: 'provider_file_named',
    text: `with named as (
        select reference from provider_file_order where connection_id = $1 and reference = any($2::uuid[])
        union select reference from provider_file_order where connection_id = $1 and end_to_end_id = any($3::text[])
        union select reference from provider_file_order where connection_id = $1 and uetr = any($4::text[])
        union select o.reference from provider_file f join provider_file_order o on o.file_id = f.id where f.connection_id = $1 and f.direction = 'out' and f.message_id = any($5::text[])
        union select reference from provider_file_order where connection_id = $1 and block_id = any($6::text[]))
      select o.reference, o.currency, o.amount, o.end_to_end_id, o.uetr, f.message_id, o.block_id, o.status, o.is_booked, o.file_id, o.rail
      from provider_file_order o join provider_file f on f.id = o.file_id where o.reference in (select reference from named) order by o.reference for update of o`,
    values: [
      connectionId,
      plainArray(references),
      textArray(endToEndIds),
      textArray(uetrs),
      textArray(messageIds),
      textArray(blockIds),
    ],
  })
  return rows.map(
    ([reference, currency, amount, endToEndId, uetr, messageId, blockId, status, isBooked, fileId, rail]) => ({
      reference,
      currency,
      amount: BigInt(amount),
      endToEndId,
      uetr,
      messageId,
      blockId,
      status,
      isBooked,
      fileId,
      isCollection: MANDATE_SCHEMES.some((scheme) => scheme === rail),
    }),
  )
}

/** Facts that a file does not tell stay as they are. */
async function changeOrders(client: TransactionClient, changes: readonly OrderChange[], now: number): Promise<void> {
  if (changes.length === 0) return
  await client.query({
    name: 'provider_file_orders_change',
    text: `update provider_file_order o set status = u.status, is_booked = u.is_booked, scheme_code = coalesce(u.scheme_code, o.scheme_code),
        returned_amount = coalesce(u.returned_amount, o.returned_amount), bank_ref = coalesce(u.bank_ref, o.bank_ref),
        contradiction = coalesce(u.contradiction, o.contradiction), updated_at = $1
      from unnest($2::uuid[], $3::text[], $4::boolean[], $5::text[], $6::bigint[], $7::text[], $8::text[])
        u(reference, status, is_booked, scheme_code, returned_amount, bank_ref, contradiction) where o.reference = u.reference`,
    values: [
      timestamp(now),
      plainArray(changes.map(({ reference }) => reference)),
      plainArray(changes.map(({ status }) => status)),
      plainArray(changes.map(({ isBooked }) => isBooked)),
      textArray(changes.map(({ schemeCode }) => schemeCode)),
      plainArray(changes.map(({ returnedAmount }) => returnedAmount)),
      textArray(changes.map(({ bankRef }) => bankRef)),
      textArray(changes.map(({ contradiction }) => contradiction)),
    ],
  })
}

async function insertEvents(
  client: TransactionClient,
  connectionId: string,
  { fileId, events, now }: { readonly fileId: string; readonly events: readonly NewBookEvent[]; readonly now: number },
): Promise<void> {
  await client.query({
    name: 'provider_file_events_insert',
    text: `insert into provider_file_event (connection_id, file_id, place, source, type, body, recorded_at)
      select $1, $2, u.nth, u.source, u.type, u.body, $3 from unnest($4::text[], $5::text[], $6::text[]) with ordinality u(source, type, body, nth) order by u.nth`,
    values: [
      connectionId,
      fileId,
      timestamp(now),
      textArray(events.map(({ source }) => source)),
      textArray(events.map(({ type }) => type)),
      textArray(events.map(({ body }) => Buffer.from(body).toString('utf8'))),
    ],
  })
}

async function insertStatement(
  client: TransactionClient,
  connectionId: string,
  { id, fileId, statement }: { readonly id: string; readonly fileId: string; readonly statement: StatementPage },
): Promise<void> {
  const { currency, day, number, page, isLast, opening, closing, bookings } = statement
  await client.query({
    name: 'provider_file_statement_insert',
    text: `insert into provider_file_statement (id, connection_id, file_id, currency, day, number, page, is_last, opening, closing)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [id, connectionId, fileId, currency, day, number, page, isLast, opening, closing],
  })
  if (bookings.length === 0) return
  await client.query({
    name: 'provider_file_bookings_insert',
    text: `insert into provider_file_booking (statement_id, place, reference, direction, amount, booked_on, value_date, bank_ref, code, text)
      select $1, u.nth, u.reference, u.direction, u.amount, u.booked_on, u.value_date, u.bank_ref, u.code, u.text
      from unnest($2::uuid[], $3::char(4)[], $4::bigint[], $5::date[], $6::date[], $7::text[], $8::text[], $9::text[])
        with ordinality u(reference, direction, amount, booked_on, value_date, bank_ref, code, text, nth)`,
    values: [
      id,
      plainArray(bookings.map(({ reference }) => reference)),
      plainArray(bookings.map(({ direction }) => direction)),
      plainArray(bookings.map(({ amount }) => amount)),
      plainArray(bookings.map(({ bookedOn }) => bookedOn)),
      plainArray(bookings.map(({ valueDate }) => valueDate)),
      textArray(bookings.map(({ bankRef }) => bankRef)),
      textArray(bookings.map(({ code }) => code)),
      textArray(bookings.map(({ text }) => text)),
    ],
  })
}

/** Notes that a file cannot be read; the event is written when that was so before. */
export async function refuseFile(
  database: Database,
  { connectionId }: FileOwner,
  {
    id,
    fault,
    event,
    now,
  }: { readonly id: string; readonly fault: string; readonly event: NewBookEvent; readonly now: number },
): Promise<void> {
  await inTransaction(database, async (client) => {
    if (!(await lockUnread(client, connectionId, id))) return
    const [row] = await through(client).query<[string]>({
      name: 'provider_file_doubt',
      text: `update provider_file set error = $2, status = case status when 'received' then 'doubtful' else 'unreadable' end,
        done_at = case status when 'received' then null else $3::timestamptz end where id = $1 returning status`,
      values: [id, fault, timestamp(now)],
    })
    if (row?.[0] === 'unreadable') await insertEvents(client, connectionId, { fileId: id, events: [event], now })
  })
}

/** An event of a file; `id` is its number, `eventId` the name under which it counts once. */
export interface ListedFileEvent {
  readonly id: string
  readonly eventId: string
  readonly source: 'file' | 'statement'
  readonly type: string
  readonly body: string
  readonly recordedAt: number
}

/** Lists the events of a connection by their numbers: those after one, or those recorded at `since` or later. */
export async function fileEvents(
  database: Queries,
  connectionId: string,
  { since, after, max }: { readonly since: number; readonly after: string | null; readonly max: number },
): Promise<readonly ListedFileEvent[]> {
  const rows = await database.query<[string, string, ListedFileEvent['source'], string, string, number]>({
    name: 'provider_file_events',
    text: `select id, file_id || ':' || place, source, type, body, (extract(epoch from recorded_at) * 1000)::float8 from provider_file_event
      where connection_id = $1 and case when $2::bigint is null then recorded_at >= $3::timestamptz else id > $2::bigint end order by id limit $4`,
    values: [connectionId, after, timestamp(since), max],
  })
  return rows.map(([id, eventId, source, type, body, recordedAt]) => ({ id, eventId, source, type, body, recordedAt }))
}

/**
 * Files of direct debits while they are gathered: opened for a group, filled with lines, written once. Statements only.
 *
 * A collection joins a file by the commit of its mandate's actor, which is refused once the file is written
 * (collection-section.ts); the lines of a file are made from the collections that have joined it, under its lock.
 */
import { timestamp } from '../../../lib/base/clock.ts'
import type { CollectionFileRecord, CollectionGroup } from '../../../lib/direct-debits/files/collection-file.ts'
import type { FileLine } from '../../../lib/direct-debits/files/file-rows.ts'
import type { MandateCounterparty, MandateOriginals } from '../../../lib/direct-debits/mandate.ts'
import { shardOf } from '../../../lib/shards/shard.ts'
import type { Database } from '../../db/database.ts'
import {
  bigintExpression,
  expression,
  instantExpression,
  instantOrNull,
  select,
  type SelectExpression,
} from '../../db/select.ts'
import { through, type TransactionClient } from '../../db/transaction.ts'

type Queries = Pick<Database, 'query'>

/** The columns of a group. */
const GROUP = 'connection_id, kind, scheme, sequence_type, currency, creditor_id, creditor_name, settlement_date'

/** A group whose creditor may be told by the connection alone. */
export type DueGroup = Omit<CollectionGroup, 'creditorId'> & { readonly creditorId: string | null }

/**
 * Lists the groups that have pending collections whose cut-off is at a time or before it, of mandates that travel in
 * files.
 *
 * @param carriers the provider and scheme of those that travel by orders (`sandbox bacs_dd`)
 */
export async function dueGroups(
  database: Queries,
  { until, carriers, max }: { readonly until: number; readonly carriers: readonly string[]; readonly max: number },
): Promise<readonly DueGroup[]> {
  const rows = await database.query<(string | null)[]>({
    name: 'due_collection_groups',
    values: [timestamp(until), carriers, max],
    text: `select distinct c.operator_id, c.connection_id, c.scheme, c.sequence_type, c.currency, m.creditor_id, m.creditor_name, c.due_date::text
      from collection c join mandate m on m.id = c.mandate_id join provider_connection k on k.id = c.connection_id
      where c.status = 'pending' and c.submission_deadline <= $1 and m.status = 'active' and m.management = 'client'
        and m.creditor_name is not null and not (k.provider || ' ' || c.scheme) = any($2::text[])
      order by 2, 3, 4, 8 limit $3`,
  })
  return rows.map(
    ([operatorId, connectionId, scheme, sequenceType, currency, creditorId, creditorName, settlementDate]) =>
      ({
        operatorId,
        connectionId,
        kind: 'collections',
        scheme,
        sequenceType,
        currency,
        creditorId,
        creditorName,
        settlementDate,
      }) as DueGroup,
  )
}

/** Opens the file of a group, due now; nothing happens while the group has a file that is being gathered. */
export async function openFile(
  database: Queries,
  group: CollectionGroup,
  file: Pick<CollectionFileRecord, 'id' | 'format' | 'messageId'>,
  now: number,
): Promise<void> {
  const { operatorId, connectionId, kind, scheme, sequenceType, currency, creditorId, creditorName, settlementDate } =
    group
  await database.query({
    name: 'open_collection_file',
    values: [
      file.id,
      operatorId,
      connectionId,
      kind,
      scheme,
      sequenceType,
      currency,
      creditorId,
      creditorName,
      settlementDate,
      file.format,
      file.messageId,
      timestamp(now),
    ],
    text: `insert into collection_file (id, operator_id, ${GROUP}, format, message_id, status, due_at, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::date, $11, $12, 'gathering', $13, $13) on conflict do nothing`,
  })
}

// ── Collections
// ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** The members of a line that a collection `c` and its mandate `m` have. */
const lineColumns = <Amendment>(amendment: SelectExpression<Amendment>, represented: string) =>
  select({
    id: expression<string>('c.id'),
    amount: bigintExpression('c.amount'),
    endToEndId: expression<string>('c.end_to_end_id'),
    reference: expression<string>('c.reference'),
    mandateReference: expression<string>('m.reference'),
    signedAt: instantOrNull('m.signed_at'),
    mandateCreatedAt: instantExpression('m.created_at'),
    counterparty: expression<string>('m.counterparty'),
    amendment,
    isRepresented: expression<boolean>(represented),
    submittedAt: instantOrNull('c.submitted_at'),
    pendingAmendment: expression<string | null>('m.pending_amendment'),
  })

const amendmentText = (column: string) => expression<string | null>(column)
const PENDING = lineColumns(amendmentText('m.pending_amendment'), 'json_array_length(c.attempts::json) > 0')
const LINE = lineColumns(amendmentText('l.amendment'), 'l.represented')

function lineOf(row: ReturnType<typeof LINE.read>): FileLine {
  const { counterparty, amendment, submittedAt, pendingAmendment, ...line } = row
  const payer = JSON.parse(counterparty) as MandateCounterparty
  const since = pendingAmendment === null ? null : (JSON.parse(pendingAmendment) as MandateOriginals)
  // An account that changed after the submission is told by the next file, as an amendment.
  const isLater = since !== null && submittedAt !== null && Date.parse(since.since) > submittedAt
  return {
    ...line,
    counterparty: isLater ? { ...payer, ...since.account } : payer,
    amendment: amendment === null ? null : (JSON.parse(amendment) as MandateOriginals),
    instruction: null,
  }
}

/** Lists pending collections of a group as the lines that they would be, from an id on, oldest first. */
export async function gatherable(
  database: Queries,
  { connectionId, scheme, sequenceType, currency, creditorId, creditorName, settlementDate }: CollectionGroup,
  { after, max }: { readonly after: string | null; readonly max: number },
): Promise<readonly FileLine[]> {
  const rows = await database.query({
    name: 'gatherable_collections',
    values: [connectionId, scheme, sequenceType, currency, creditorId, creditorName, settlementDate, after, max],
    text: `select ${PENDING.sql} from collection c join mandate m on m.id = c.mandate_id
      where c.connection_id = $1 and c.scheme = $2 and c.sequence_type = $3 and c.currency = $4 and coalesce(m.creditor_id, $5) = $5 and m.creditor_name = $6
        and c.due_date = $7::date and c.status = 'pending' and m.status = 'active' and m.management = 'client' and ($8::uuid is null or c.id > $8)
      order by c.id limit $9`,
  })
  return rows.map((row) => lineOf(PENDING.read(row)))
}

/** The number and the sum of the lines of a file. */
export interface FileSums {
  readonly count: number
  readonly controlSum: bigint
}

const isGathering = async (client: TransactionClient, id: string): Promise<boolean> => {
  const rows = await through(client).query<[string]>({
    name: 'lock_collection_file',
    values: [id],
    text: 'select status from collection_file where id = $1 for update',
  })
  return rows[0]?.[0] === 'gathering'
}

/** The collections `c` that have joined the file $1: what was refused before it was written is not in it. */
const JOINED = `c.file_id = $1 and c.status <> 'failed'`

/**
 * Makes the lines of a file from the collections that have joined it, and sums them up. A file of instructions has its
 * lines already.
 *
 * @returns null when the file was written, or dropped, by another attempt
 */
export async function settleLines(client: TransactionClient, id: string): Promise<FileSums | null> {
  if (!(await isGathering(client, id))) return null
  const queries = through(client)
  await queries.query({
    name: 'drop_collection_file_lines',
    values: [id],
    text: `delete from collection_file_line l where l.file_id = $1 and l.instruction is null
      and not exists (select from collection c where c.id = l.object_id and ${JOINED})`,
  })
  await queries.query({
    name: 'make_collection_file_lines',
    values: [id],
    text: `insert into collection_file_line (file_id, object_id, amount, amendment, represented)
      select $1, c.id, c.amount, c.amendment, json_array_length(c.attempts::json) > 1 from collection c where ${JOINED} on conflict do nothing`,
  })
  return await sumLines(client, id)
}

async function sumLines(client: TransactionClient, id: string): Promise<FileSums> {
  const [row] = await through(client).query<[string, string]>({
    name: 'sum_collection_file_lines',
    values: [id],
    text: 'select count(*)::text, coalesce(sum(amount), 0)::text from collection_file_line where file_id = $1',
  })
  const [count, sum] = row as [string, string]
  return { count: Number(count), controlSum: BigInt(sum) }
}

/** Sums up the collections that have joined a file so far. */
export async function sumJoined(database: Queries, id: string): Promise<FileSums> {
  const [row] = await database.query<[string, string]>({
    name: 'sum_collections_of_file',
    values: [id],
    text: `select count(*)::text, coalesce(sum(c.amount), 0)::text from collection c where ${JOINED}`,
  })
  const [count, sum] = row as [string, string]
  return { count: Number(count), controlSum: BigInt(sum) }
}

/** Reads the lines of a file of collections with their mandates, in batches in the order of their ids. */
export async function* fileLines(
  database: Queries,
  fileId: string,
  batch: number,
): AsyncGenerator<readonly FileLine[]> {
  for (let after: string | null = null; ; ) {
    const rows: readonly unknown[][] = await database.query({
      name: 'collection_file_lines',
      values: [fileId, after, batch],
      text: `select ${LINE.sql} from collection_file_line l join collection c on c.id = l.object_id join mandate m on m.id = c.mandate_id
        where l.file_id = $1 and ($2::uuid is null or l.object_id > $2) order by l.object_id limit $3`,
    })
    if (rows.length === 0) return
    const lines = rows.map((row) => lineOf(LINE.read(row)))
    yield lines
    after = lines.at(-1)?.id ?? null
  }
}

// ── The end
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Notes the bytes of a file, which are of these lines.
 *
 * @returns false when another attempt has written them, or the collections of the file have changed since
 */
export async function noteWritten(
  client: TransactionClient,
  id: string,
  {
    count,
    controlSum,
    sha256,
    storedFileId,
    now,
  }: FileSums & { readonly sha256: string; readonly storedFileId: string; readonly now: number },
): Promise<boolean> {
  if (!(await isGathering(client, id))) return false
  const sums = await sumLines(client, id)
  if (sums.count !== count || sums.controlSum !== controlSum) return false
  const written = await through(client).query({
    name: 'collection_file_written',
    values: [id, count, controlSum.toString(), sha256, storedFileId, timestamp(now)],
    text: `update collection_file set status = 'generated', line_count = $2, control_sum = $3, sha256 = $4, stored_file_id = $5, generated_at = $6, due_at = null
      where id = $1 and (kind = 'lodging' or not exists (
        select from (select object_id from collection_file_line where file_id = $1) l full join (select c.id from collection c where ${JOINED}) j on j.id = l.object_id
        where l.object_id is null or j.id is null)) returning id`,
  })
  return written.length === 1
}

/**
 * Gives a written file to the adapter of its connection, as one that waits to be sent, with its collections as orders
 * whose answers are read. An order of an earlier presentation moves to this one.
 */
export async function handToBank(
  client: TransactionClient,
  { id, connectionId }: Pick<CollectionFileRecord, 'id' | 'connectionId'>,
  {
    name,
    format,
    blockId,
    now,
  }: { readonly name: string; readonly format: string; readonly blockId: string | null; readonly now: number },
): Promise<void> {
  await client.query({
    name: 'collection_file_to_bank',
    values: [id, name, format, shardOf(connectionId), timestamp(now)],
    text: `insert into provider_file (id, connection_id, operator_id, direction, status, name, format, message_id, orders, control_sum, bytes, sha256, stored_file_id, shard, due_at, created_at)
      select f.id, f.connection_id, f.operator_id, 'out', 'written', $2, $3, f.message_id, f.line_count, f.control_sum, s.size_bytes, s.sha256, s.id, $4, $5, $5
      from collection_file f join stored_file s on s.id = f.stored_file_id where f.id = $1`,
  })
  await client.query({
    name: 'collection_file_orders',
    values: [id, blockId, timestamp(now)],
    text: `insert into provider_file_order (reference, connection_id, file_id, place, rail, currency, amount, end_to_end_id, body, block_id, status, updated_at)
      select l.object_id, f.connection_id, f.id, row_number() over (order by l.object_id) - 1, f.scheme, f.currency, l.amount, c.end_to_end_id, '', $2, 'gathered', $3
      from collection_file f join collection_file_line l on l.file_id = f.id join collection c on c.id = l.object_id where f.id = $1
      on conflict (reference) do update set file_id = excluded.file_id, place = excluded.place, block_id = excluded.block_id, status = 'gathered',
        is_booked = false, scheme_code = null, returned_amount = null, bank_ref = null, contradiction = null, updated_at = excluded.updated_at`,
  })
}

/** Removes a file that no collection has joined. */
export async function dropFileOfNone(database: Queries, id: string): Promise<void> {
  await database.query({
    name: 'drop_collection_file',
    values: [id],
    text: `delete from collection_file f where f.id = $1 and f.status = 'gathering' and not exists (select from collection c where ${JOINED})`,
  })
}

/** The settings of a connection that files need. */
export async function connectionOfFile(
  database: Queries,
  id: string,
): Promise<{ readonly provider: string; readonly settings: Readonly<Record<string, unknown>> } | null> {
  const [row] = await database.query({
    name: 'connection_of_collection_file',
    values: [id],
    text: 'select provider, settings from provider_connection where id = $1',
  })
  return row === undefined ? null : { provider: row[0] as string, settings: row[1] as Record<string, unknown> }
}

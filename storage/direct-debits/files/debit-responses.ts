/** Answers of banks about direct debits as rows: read and kept by one person, applied by another. Statements only. */
import { sql } from 'kysely'
import { timestamp } from '../../../lib/base/clock.ts'
import type { ListResult, RowQuery } from '../../../lib/contract/list.ts'
import {
  messagesOfText,
  messagesText,
  type DebitResponseRecord,
  type PreviewLine,
} from '../../../lib/direct-debits/files/debit-response.ts'
import type { AskedMessage } from '../../../lib/direct-debits/files/responses.ts'
import { plainArray, textArray } from '../../db/array-literal.ts'
import type { Database } from '../../db/database.ts'
import { Conditions, EMPTY, readPage, type ReadDatabase, type TimeTo } from '../../db/page.ts'
import { from, select } from '../../db/select.ts'
import type { TransactionClient } from '../../db/transaction.ts'
import { DebitResponse, DebitResponseLine } from './debit-response-entity.ts'

type Queries = Pick<Database, 'query'>
type Client = Pick<TransactionClient, 'query'>

const RESPONSE = select(from(DebitResponse, 'r'))
const LINE = select(from(DebitResponseLine, 'l'))

/** Adds a response. @throws the driver's errors, a unique violation for a file that was taken before */
export async function insertResponse(
  client: Client,
  response: Omit<DebitResponseRecord, 'status' | 'appliedBy' | 'appliedByName' | 'appliedAt' | 'applyJobId'>,
): Promise<void> {
  const { id, operatorId, fileName, storedFileId, sha256, format, lineCount, changeCount, troubleCount } = response
  const { uploadedBy, uploadedByName, createdAt } = response
  await client.query({
    name: 'insert_debit_response',
    values: [
      id,
      operatorId,
      fileName,
      storedFileId,
      sha256,
      format,
      lineCount,
      changeCount,
      troubleCount,
      uploadedBy,
      uploadedByName,
      timestamp(createdAt),
    ],
    text: `insert into debit_response (id, operator_id, file_name, stored_file_id, sha256, format, status, line_count, change_count, trouble_count, uploaded_by, uploaded_by_name, created_at)
      values ($1, $2, $3, $4, $5, $6, 'ready', $7, $8, $9, $10, $11, $12)`,
  })
}

/** Whether the operator has taken a file of these bytes. */
export async function isTaken(database: Queries, operatorId: string, sha256: string): Promise<boolean> {
  const rows = await database.query({
    name: 'debit_response_taken',
    values: [operatorId, sha256],
    text: 'select from debit_response where operator_id = $1 and sha256 = $2',
  })
  return rows.length > 0
}

/** Writes lines of a response that is being read; without its row they are not seen. */
export async function writeLines(database: Queries, responseId: string, lines: readonly PreviewLine[]): Promise<void> {
  if (lines.length === 0) return
  await database.query({
    name: 'write_debit_response_lines',
    values: [
      responseId,
      plainArray(lines.map(({ nth }) => nth)),
      textArray(lines.map(({ object }) => object)),
      plainArray(lines.map(({ objectId }) => objectId)),
      textArray(lines.map(({ named }) => named)),
      plainArray(lines.map(({ connectionId }) => connectionId)),
      textArray(lines.map((line) => line.from)),
      textArray(lines.map((line) => line.to)),
      textArray(lines.map(({ reasonCode }) => reasonCode)),
      textArray(lines.map(({ text }) => text)),
      textArray(lines.map(({ fault }) => fault)),
      textArray(lines.map(({ messages }) => messagesText(messages))),
    ],
    text: `insert into debit_response_line (response_id, nth, object, object_id, named, connection_id, from_status, to_status, reason_code, text, fault, messages)
      select $1, * from unnest($2::integer[], $3::text[], $4::uuid[], $5::text[], $6::uuid[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[])`,
  })
}

/** Removes the lines of a response that was not taken. */
export async function dropResponseLines(database: Queries, responseId: string): Promise<void> {
  await database.query({
    name: 'drop_debit_response_lines',
    values: [responseId],
    text: 'delete from debit_response_line where response_id = $1',
  })
}

/** Finds a response of an operator; null when it has none with this id. */
export async function findResponse(
  database: Queries,
  operatorId: string,
  id: string,
): Promise<DebitResponseRecord | null> {
  const [row] = await database.query({
    name: 'find_debit_response',
    values: [id, operatorId],
    text: `select ${RESPONSE.sql} from debit_response r where r.id = $1 and r.operator_id = $2`,
  })
  return row === undefined ? null : RESPONSE.read(row)
}

/** Locks a response of an operator until the transaction ends; null when it has none with this id. */
export async function lockResponse(
  client: Client,
  operatorId: string,
  id: string,
): Promise<DebitResponseRecord | null> {
  const { rows } = await client.query<readonly unknown[]>({
    name: 'lock_debit_response',
    rowMode: 'array',
    values: [id, operatorId],
    text: `select ${RESPONSE.sql} from debit_response r where r.id = $1 and r.operator_id = $2 for update`,
  } as never)
  const [row] = rows
  return row === undefined ? null : RESPONSE.read(row)
}

/** Notes that a person has the response applied, by a job. */
export async function noteApplying(
  client: Client,
  id: string,
  by: { readonly id: string; readonly name: string },
  { jobId, now }: { readonly jobId: string; readonly now: number },
): Promise<void> {
  await client.query({
    name: 'debit_response_applying',
    values: [id, by.id, by.name, jobId, timestamp(now)],
    text: `update debit_response set status = 'applying', applied_by = $2, applied_by_name = $3, apply_job_id = $4, applied_at = $5 where id = $1`,
  })
}

/** Notes that every line was applied. */
export async function noteApplied(client: Client, id: string): Promise<void> {
  await client.query({
    name: 'debit_response_applied',
    values: [id],
    text: `update debit_response set status = 'applied' where id = $1`,
  })
}

/** A line that asks for messages and was not applied yet. */
export interface LineToApply {
  readonly nth: number
  readonly object: PreviewLine['object']
  readonly objectId: string
  readonly connectionId: string
  readonly messages: readonly AskedMessage[]
}

/** Reads the next lines to apply, in the order of the file. */
export async function linesToApply(database: Queries, id: string, max: number): Promise<readonly LineToApply[]> {
  const rows = await database.query({
    name: 'debit_response_lines_to_apply',
    values: [id, max],
    text: `select nth, object, object_id, connection_id, messages from debit_response_line
      where response_id = $1 and result is null and object_id is not null and messages <> '[]' order by nth limit $2`,
  })
  return (rows as readonly (readonly unknown[])[]).map(([nth, object, objectId, connectionId, messages]) => ({
    nth: nth as number,
    object: object as PreviewLine['object'],
    objectId: objectId as string,
    connectionId: connectionId as string,
    messages: messagesOfText(JSON.parse(messages as string) as object[]),
  }))
}

/** Notes what became of lines. */
export async function noteResults(database: Queries, id: string, nths: readonly number[]): Promise<void> {
  await database.query({
    name: 'debit_response_results',
    values: [id, plainArray(nths)],
    text: `update debit_response_line set result = 'applied' where response_id = $1 and nth = any($2::integer[])`,
  })
}

export interface DebitResponseFilters {
  readonly status?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

/** Lists the responses of an operator, by pages. @throws DatabaseUnavailable */
export async function listResponses(
  db: ReadDatabase,
  { tenant, filters, sort, ...query }: RowQuery<DebitResponseFilters, '-createdAt' | 'createdAt'>,
): Promise<ListResult<DebitResponseRecord>> {
  if (tenant.kind !== 'operator') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const where = new Conditions()
    .add(sql`r.operator_id = ${tenant.id}::uuid`)
    .anyOf(sql`r.status`, filters.status, 'text')
    .created('r', filters.createdFrom, filters.createdTo)
  const branch = {
    columns: sql.raw(RESPONSE.named),
    from: sql`debit_response r`,
    where: where.list,
    order: { keys: [{ expression: sql`r.id`, type: 'uuid' as const }], descending: sort === '-createdAt' },
  }
  const { rows, ...page } = await readPage<object>(db, [branch], query)
  return { ...page, rows: rows.map((row) => RESPONSE.readNamed(row)) }
}

export interface PreviewFilters {
  readonly fault?: readonly string[]
}

/** Lists the lines of a response, in the order of its file, by pages. @throws DatabaseUnavailable */
export async function listLines(
  db: ReadDatabase,
  { tenant, filters, sort: _, ...query }: RowQuery<PreviewFilters, 'line'>,
  responseId: string,
): Promise<ListResult<PreviewLine & { readonly result: string | null }>> {
  const where = new Conditions()
    .add(sql`l.response_id = ${responseId}::uuid`)
    .add(sql`exists (select from debit_response r where r.id = l.response_id and r.operator_id = ${tenant.id}::uuid)`)
    .anyOf(sql`l.fault`, filters.fault, 'text')
  const branch = {
    columns: sql.raw(LINE.named),
    from: sql`debit_response_line l`,
    where: where.list,
    order: { keys: [{ expression: sql`l.nth`, type: 'integer' as const }], descending: false },
  }
  const { rows, ...page } = await readPage<object>(db, [branch], query)
  return {
    ...page,
    rows: rows.map((row) => {
      const { responseId: _id, fromStatus, toStatus, messages, ...line } = LINE.readNamed(row)
      return { ...line, from: fromStatus, to: toStatus, messages: messagesOfText(messages) } as PreviewLine & {
        readonly result: string | null
      }
    }),
  }
}

/** Reads what a response says of our files: each with its new status. */
export async function fileLinesOfResponse(
  client: Client,
  id: string,
): Promise<readonly { readonly fileId: string; readonly move: string }[]> {
  const { rows } = await client.query<{ object_id: string; to_status: string }>({
    name: 'file_lines_of_debit_response',
    values: [id],
    text: `select object_id, to_status from debit_response_line
      where response_id = $1 and object = 'file' and object_id is not null and to_status is not null order by nth`,
  })
  return rows.map(({ object_id, to_status }) => ({ fileId: object_id, move: to_status }))
}

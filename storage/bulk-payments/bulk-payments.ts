/**
 * Bulk payments. The file's row has counts of its payment rows, changed in the same transaction as those rows,
 * so a client that polls reads one row; a check constraint refuses counts that do not add up.
 */
import type { Editor } from '../../lib/approvals/requesters.ts'
import { laterThan, timestamp } from '../../lib/base/clock.ts'
import { NO_ROWS, type BulkStatus, type CurrencyTotal, type RowCounts } from '../../lib/bulk-payments/bulk-payment.ts'
import type { BulkFormat } from '../../lib/bulk-payments/formats.ts'
import type { FileError } from '../../lib/bulk-payments/file-error.ts'
import type { DecimalSeparator } from '../../lib/bulk-payments/instruction.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Database } from '../db/database.ts'
import { writeEvent } from '../outbox/outbox.ts'
import type { TransactionClient } from '../db/transaction.ts'

/** Options that the client chose for a file. */
export interface BulkOptions {
  readonly requireAllValid: boolean
  readonly createMissingRecipients: boolean
  readonly skipPayeeVerification: boolean
  readonly delimiter: ',' | ';' | '\t' | null
  readonly decimalSeparator: DecimalSeparator
}

/** A bulk payment as the domain sees it. Times are epoch milliseconds, amounts minor units. */
export interface BulkRecord {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly number: string
  readonly name: string
  readonly status: BulkStatus
  readonly version: number
  readonly format: BulkFormat
  readonly fileId: string
  readonly fileName: string | null
  /** SHA-256 in hex. */
  readonly fileHash: string
  readonly messageId: string | null
  readonly options: BulkOptions
  readonly sourceBalanceId: string | null
  readonly executionDate: string | null
  readonly counts: RowCounts
  /** Totals of the valid rows. */
  readonly totals: readonly CurrencyTotal[]
  readonly fileErrors: readonly FileError[]
  readonly warnings: readonly FileWarning[]
  readonly duplicateOf: string | null
  readonly jobId: string | null
  readonly approvalId: string | null
  readonly lastProgressAt: number | null
  readonly submittedBy: string | null
  readonly submittedByName: string | null
  readonly submittedVia: 'api_key' | 'web' | 'mobile' | null
  readonly submittedAt: number | null
  readonly closedAt: number | null
  readonly createdBy: string
  /** The users and keys that had the file's rows checked again, each with the last time. */
  readonly editors: readonly Editor[]
  readonly createdAt: number
  readonly updatedAt: number
}

/** A warning about the file as a whole. */
export interface FileWarning {
  readonly code: 'duplicate_file' | 'duplicate_message'
  readonly message: string
}

export interface BulkColumns extends RowCounts {
  readonly id: string
  readonly customer_id: string
  readonly operator_id: string
  readonly shard: number
  readonly number: string
  readonly name: string
  readonly status: BulkStatus
  readonly version: number
  readonly format: BulkFormat
  readonly file_id: string
  readonly file_name: string | null
  readonly file_hash: string
  readonly message_id: string | null
  readonly options: string
  readonly source_balance_id: string | null
  readonly execution_date: string | null
  readonly totals: string
  readonly file_errors: string
  readonly warnings: string
  readonly duplicate_of: string | null
  readonly job_id: string | null
  readonly approval_id: string | null
  readonly last_progress_at: Date | null
  readonly submitted_by: string | null
  readonly submitted_by_name: string | null
  readonly submitted_via: 'api_key' | 'web' | 'mobile' | null
  readonly submitted_at: Date | null
  readonly closed_at: Date | null
  readonly created_by: string
  readonly editors: readonly Editor[]
  readonly created_at: Date
  readonly updated_at: Date
}

export const BULK_COLUMNS = `b.id, b.customer_id, b.operator_id, b.shard, b.number, b.name, b.status, b.version, b.format, b.file_id, b.file_name, encode(b.file_hash, 'hex') as file_hash,
  b.message_id, b.options, b.source_balance_id, b.execution_date::text as execution_date, b.total, b.pending, b.valid, b.invalid, b.submitting, b.submitted, b.failed, b.totals, b.file_errors, b.warnings, b.duplicate_of,
  b.job_id, b.approval_id, b.last_progress_at, b.submitted_by, b.submitted_by_name, b.submitted_via, b.submitted_at, b.closed_at, b.created_by, b.editors, b.created_at, b.updated_at`

export function bulkRecord(row: BulkColumns): BulkRecord {
  const at = (date: Date | null): number | null => date?.getTime() ?? null
  return {
    id: row.id,
    customerId: row.customer_id,
    operatorId: row.operator_id,
    shard: row.shard,
    number: row.number,
    name: row.name,
    status: row.status,
    version: row.version,
    format: row.format,
    fileId: row.file_id,
    fileName: row.file_name,
    fileHash: row.file_hash,
    messageId: row.message_id,
    options: JSON.parse(row.options) as BulkOptions,
    sourceBalanceId: row.source_balance_id,
    executionDate: row.execution_date,
    counts: {
      total: row.total,
      pending: row.pending,
      valid: row.valid,
      invalid: row.invalid,
      submitting: row.submitting,
      submitted: row.submitted,
      failed: row.failed,
    },
    totals: (JSON.parse(row.totals) as { currency: string; amount: string; fee: string; rows: number }[]).map(
      ({ currency, amount, fee, rows }) => ({ currency, amount: BigInt(amount), fee: BigInt(fee), rows }),
    ),
    fileErrors: JSON.parse(row.file_errors) as FileError[],
    warnings: JSON.parse(row.warnings) as FileWarning[],
    duplicateOf: row.duplicate_of,
    jobId: row.job_id,
    approvalId: row.approval_id,
    lastProgressAt: at(row.last_progress_at),
    submittedBy: row.submitted_by,
    submittedByName: row.submitted_by_name,
    submittedVia: row.submitted_via,
    submittedAt: at(row.submitted_at),
    closedAt: at(row.closed_at),
    createdBy: row.created_by,
    editors: row.editors,
    createdAt: row.created_at.getTime(),
    updatedAt: row.updated_at.getTime(),
  }
}

const totalsText = (totals: readonly CurrencyTotal[]): string =>
  JSON.stringify(
    totals.map(({ currency, amount, fee, rows }) => ({ currency, amount: String(amount), fee: String(fee), rows })),
  )

/** A newly uploaded file. */
export type NewBulk = Pick<
  BulkRecord,
  | 'id'
  | 'customerId'
  | 'operatorId'
  | 'shard'
  | 'number'
  | 'name'
  | 'format'
  | 'fileId'
  | 'fileName'
  | 'fileHash'
  | 'options'
  | 'sourceBalanceId'
  | 'executionDate'
  | 'messageId'
  | 'duplicateOf'
  | 'jobId'
  | 'createdBy'
  | 'warnings'
>

/** Writes a bulk payment that waits for validation, with its event. */
export async function insertBulk(
  { client, ids, now }: { readonly client: TransactionClient; readonly ids: IdSource; readonly now: number },
  bulk: NewBulk,
): Promise<BulkRecord> {
  const {
    rows: [row],
  } = await client.query<BulkColumns>({
    name: 'bulk_insert',
    text: `insert into bulk_payment as b (id, customer_id, operator_id, shard, number, name, status, format, file_id, file_name, file_hash, options, source_balance_id, execution_date, message_id, duplicate_of, job_id,
        warnings, created_by, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, 'validating', $7, $8, $9, decode($10, 'hex'), $11, $12, $13, $14, $15, $16, $17, $18, $19, $19) returning ${BULK_COLUMNS}`,
    values: [
      bulk.id,
      bulk.customerId,
      bulk.operatorId,
      bulk.shard,
      bulk.number,
      bulk.name,
      bulk.format,
      bulk.fileId,
      bulk.fileName,
      bulk.fileHash,
      JSON.stringify(bulk.options),
      bulk.sourceBalanceId,
      bulk.executionDate,
      bulk.messageId,
      bulk.duplicateOf,
      bulk.jobId,
      JSON.stringify(bulk.warnings),
      bulk.createdBy,
      timestamp(now),
    ],
  })
  const inserted = bulkRecord(row as BulkColumns)
  await tellStatus({ client, ids, now }, inserted, null)
  return inserted
}

/** Finds an upload of the same file since a time; null when none counts. */
export async function uploadOfFile(
  client: TransactionClient,
  { customerId, fileHash, since }: { readonly customerId: string; readonly fileHash: string; readonly since: number },
): Promise<string | null> {
  const {
    rows: [row],
  } = await client.query<{ id: string }>({
    name: 'bulk_same_file',
    values: [customerId, fileHash, timestamp(since)],
    text: `select id from bulk_payment where customer_id = $1 and file_hash = decode($2, 'hex') and created_at >= $3 and status <> 'cancelled' order by created_at desc limit 1`,
  })
  return row?.id ?? null
}

/** Finds an upload of the same message since a time; null when none counts. */
export async function uploadOfMessage(
  client: TransactionClient,
  { customerId, messageId, since }: { readonly customerId: string; readonly messageId: string; readonly since: number },
): Promise<string | null> {
  const {
    rows: [row],
  } = await client.query<{ id: string }>({
    name: 'bulk_same_message',
    values: [customerId, messageId, timestamp(since)],
    text: `select id from bulk_payment where customer_id = $1 and message_id = $2 and created_at >= $3 and status <> 'cancelled' order by created_at desc limit 1`,
  })
  return row?.id ?? null
}

/**
 * Serialises the uploads of one customer until the transaction ends, so that the second of two equal files is found as
 * a duplicate.
 */
export async function lockUploadsOf(client: TransactionClient, customerId: string): Promise<void> {
  await client.query({
    name: 'bulk_lock_uploads',
    text: `select pg_advisory_xact_lock(hashtextextended('bulk payments of ' || $1::text, 0))`,
    values: [customerId],
  })
}

/** Locks a bulk payment until the transaction ends; null when it does not exist. */
export async function lockBulk(client: TransactionClient, id: string): Promise<BulkRecord | null> {
  const {
    rows: [row],
  } = await client.query<BulkColumns>({
    name: 'bulk_lock',
    text: `select ${BULK_COLUMNS} from bulk_payment b where b.id = $1 for update`,
    values: [id],
  })
  return row === undefined ? null : bulkRecord(row)
}

export async function findBulk(database: Database, id: string): Promise<BulkRecord | null> {
  const {
    rows: [row],
  } = await database.pool.query<BulkColumns>({
    name: 'bulk_find',
    text: `select ${BULK_COLUMNS} from bulk_payment b where b.id = $1`,
    values: [id],
  })
  return row === undefined ? null : bulkRecord(row)
}

async function tellStatus(
  { client, ids, now }: { readonly client: TransactionClient; readonly ids: IdSource; readonly now: number },
  { id, customerId, operatorId, shard, status }: BulkRecord,
  previousStatus: BulkStatus | null,
): Promise<void> {
  await writeEvent(client, {
    id: ids.next(),
    createdAt: now,
    customerId,
    operatorId,
    shard,
    type: 'bulk_payment.status_changed',
    object: 'bulk_payment',
    objectId: id,
    status,
    previousStatus,
    amount: null,
    currency: null,
  })
}

/** The fields that a change of status writes; an absent field leaves its column, null clears it. */
export interface BulkChange {
  readonly status?: BulkStatus
  readonly counts?: RowCounts
  readonly totals?: readonly CurrencyTotal[]
  readonly fileErrors?: readonly FileError[]
  readonly warnings?: readonly FileWarning[]
  readonly jobId?: string | null
  readonly approvalId?: string | null
  readonly dueAt?: number | null
  readonly lastProgressAt?: number | null
  readonly submittedBy?: string | null
  readonly submittedByName?: string | null
  readonly submittedVia?: BulkRecord['submittedVia']
  readonly submittedAt?: number | null
  readonly closedAt?: number | null
  readonly editors?: readonly Editor[]
}

/** The counts, totals and errors of a file that has not been read yet. */
export const NO_FINDINGS = { counts: NO_ROWS, totals: [], fileErrors: [] } as const satisfies BulkChange

export const at = (ms: number | null): string | null => (ms === null ? null : timestamp(ms))

/** Changes a locked bulk payment; a new status writes an event. */
export async function changeBulk(
  { client, ids, now: asked }: { readonly client: TransactionClient; readonly ids: IdSource; readonly now: number },
  bulk: BulkRecord,
  change: BulkChange,
): Promise<BulkRecord> {
  const now = laterThan(bulk.updatedAt, asked)
  const sets: string[] = []
  const values: unknown[] = [bulk.id, timestamp(now)]
  const set = (column: string, value: unknown): void => {
    values.push(value)
    sets.push(`${column} = $${values.length}`)
  }
  if (change.status !== undefined) set('status', change.status)
  for (const [name, value] of Object.entries(change.counts ?? {})) set(name, value)
  if (change.totals !== undefined) set('totals', totalsText(change.totals))
  if (change.fileErrors !== undefined) set('file_errors', JSON.stringify(change.fileErrors))
  if (change.warnings !== undefined) set('warnings', JSON.stringify(change.warnings))
  if (change.jobId !== undefined) set('job_id', change.jobId)
  if (change.approvalId !== undefined) set('approval_id', change.approvalId)
  if (change.dueAt !== undefined) set('due_at', at(change.dueAt))
  if (change.lastProgressAt !== undefined) set('last_progress_at', at(change.lastProgressAt))
  if (change.submittedBy !== undefined) set('submitted_by', change.submittedBy)
  if (change.submittedByName !== undefined) set('submitted_by_name', change.submittedByName)
  if (change.submittedVia !== undefined) set('submitted_via', change.submittedVia)
  if (change.submittedAt !== undefined) set('submitted_at', at(change.submittedAt))
  if (change.closedAt !== undefined) set('closed_at', at(change.closedAt))
  if (change.editors !== undefined) set('editors', JSON.stringify(change.editors))
  const {
    rows: [row],
  } = await client.query<BulkColumns>({
    text: `update bulk_payment b set ${['version = b.version + 1', 'updated_at = $2', ...sets].join(', ')} where b.id = $1 returning ${BULK_COLUMNS}`,
    values,
  })
  const changed = bulkRecord(row as BulkColumns)
  if (changed.status !== bulk.status) await tellStatus({ client, ids, now }, changed, bulk.status)
  return changed
}

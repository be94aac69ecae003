/**
 * Jobs as rows: requested, begun, ended. The work of each kind is defined elsewhere. A trigger adds the task that runs
 * a
 * job at its due time; the tasks of one tenant run one after the other.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { FORGOTTEN_MS, moveJob, RESULT_MS, type JobKind, type JobResult, type JobStatus } from '../../lib/jobs/job.ts'
import type { Problem } from '../../lib/base/problems.ts'
import type { Database } from '../db/database.ts'
import { dropFile, keepFile } from '../documents/files.ts'
import { writeEvent } from '../outbox/outbox.ts'
import type { TransactionClient } from '../db/transaction.ts'

/** A job as the domain sees it. Times are epoch milliseconds. */
export interface JobRecord {
  readonly id: string
  readonly tenantId: string
  readonly operatorId: string
  readonly customerId: string | null
  readonly shard: number
  readonly kind: JobKind
  readonly status: JobStatus
  readonly version: number
  /** The request; its shape depends on the kind. */
  readonly request: unknown
  /** Equal for equal requests; null where every request is a job of its own. */
  readonly fingerprint: string | null
  readonly subject: { readonly object: string; readonly id: string } | null
  readonly progress: { readonly processed: number; readonly total: number | null }
  readonly result: JobResult | null
  readonly fileId: string | null
  readonly error: Problem | null
  readonly requestedBy: string
  readonly requestId: string | null
  /** The attempts that have failed since the job last made progress. */
  readonly failures: number
  readonly createdAt: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly expiresAt: number | null
}

/** A job that this node works on, until another attempt has begun: its lease then differs. */
export interface TakenJob extends JobRecord {
  readonly lease: string
}

export interface JobColumns {
  readonly id: string
  readonly tenant_id: string
  readonly operator_id: string
  readonly customer_id: string | null
  readonly shard: number
  readonly kind: JobKind
  readonly status: JobStatus
  readonly version: number
  readonly request: string
  readonly fingerprint: string | null
  readonly subject_object: string | null
  readonly subject_id: string | null
  readonly processed: string
  readonly total: string | null
  readonly result: string | null
  readonly file_id: string | null
  readonly error: string | null
  readonly requested_by: string
  readonly request_id: string | null
  readonly failures: number
  readonly created_at: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly expires_at: Date | null
}

export const JOB_COLUMNS = `j.id, j.tenant_id, j.operator_id, j.customer_id, j.shard, j.kind, j.status, j.version, j.request, j.fingerprint, j.subject_object, j.subject_id,
  j.processed, j.total, j.result, j.file_id, j.error, j.requested_by, j.request_id, j.failures, j.created_at, j.started_at, j.finished_at, j.expires_at`

export function jobRecord(row: JobColumns): JobRecord {
  const parsed = <Value>(text: string | null): Value | null => (text === null ? null : (JSON.parse(text) as Value))
  return {
    id: row.id,
    tenantId: row.tenant_id,
    operatorId: row.operator_id,
    customerId: row.customer_id,
    shard: row.shard,
    kind: row.kind,
    status: row.status,
    version: row.version,
    request: JSON.parse(row.request) as unknown,
    fingerprint: row.fingerprint,
    subject:
      row.subject_object === null || row.subject_id === null
        ? null
        : { object: row.subject_object, id: row.subject_id },
    progress: { processed: Number(row.processed), total: row.total === null ? null : Number(row.total) },
    result: parsed<JobResult>(row.result),
    fileId: row.file_id,
    error: parsed<Problem>(row.error),
    requestedBy: row.requested_by,
    requestId: row.request_id,
    failures: row.failures,
    createdAt: row.created_at.getTime(),
    startedAt: row.started_at?.getTime() ?? null,
    finishedAt: row.finished_at?.getTime() ?? null,
    expiresAt: row.expires_at?.getTime() ?? null,
  }
}

/** A job to be written. */
export interface NewJob {
  readonly id: string
  readonly tenantId: string
  readonly operatorId: string
  readonly customerId: string | null
  readonly shard: number
  readonly kind: JobKind
  readonly request: unknown
  readonly fingerprint: string | null
  readonly subject: { readonly object: string; readonly id: string } | null
  readonly requestedBy: string
  readonly requestId: string | null
  readonly now: number
}

/** An open transaction, with the ids and the time for new rows. */
export interface JobTx {
  readonly client: TransactionClient
  readonly ids: IdSource
  readonly now: number
}

/** Writes a queued job, or finds the job under way that was requested with the same fingerprint. */
export async function insertJob(client: TransactionClient, job: NewJob): Promise<JobRecord> {
  const {
    rows: [made],
  } = await client.query<JobColumns>({
    name: 'job_insert',
    text: `insert into job as j (id, tenant_id, operator_id, customer_id, shard, kind, status, request, fingerprint, subject_object, subject_id, requested_by, request_id, due_at, created_at)
      values ($1, $2, $3, $4, $5, $6, 'queued', $7, $8, $9, $10, $11, $12, $13, $13)
      on conflict (tenant_id, fingerprint) where due_at is not null and fingerprint is not null do nothing returning ${JOB_COLUMNS}`,
    values: [
      job.id,
      job.tenantId,
      job.operatorId,
      job.customerId,
      job.shard,
      job.kind,
      JSON.stringify(job.request),
      job.fingerprint,
      job.subject?.object ?? null,
      job.subject?.id ?? null,
      job.requestedBy,
      job.requestId,
      timestamp(job.now),
    ],
  })
  if (made !== undefined) return jobRecord(made)
  const {
    rows: [open],
  } = await client.query<JobColumns>({
    name: 'job_open',
    values: [job.tenantId, job.fingerprint],
    text: `select ${JOB_COLUMNS} from job j where j.tenant_id = $1 and j.fingerprint = $2 and j.due_at is not null`,
  })
  // The other job has just ended; then this request is a new job.
  return open === undefined ? await insertJob(client, job) : jobRecord(open)
}

/**
 * Begins an attempt at an open job. An attempt that is under way elsewhere, on a node that is held to be dead, can
 * write
 * nothing any more.
 *
 * @returns null when the job has ended, or is gone
 */
export async function startJob(
  database: Database,
  id: string,
  { lease, now }: { readonly lease: string; readonly now: number },
): Promise<TakenJob | null> {
  const {
    rows: [row],
  } = await database.pool.query<JobColumns>({
    name: 'job_start',
    values: [id, lease, timestamp(now)],
    text: `update job j set status = 'running', version = j.version + 1, lease = $2, started_at = coalesce(j.started_at, $3),
        processed = case when j.lease is null and j.failures = 0 then j.processed else 0 end
      where j.id = $1 and j.due_at is not null returning ${JOB_COLUMNS}`,
  })
  return row === undefined ? null : { ...jobRecord(row), lease }
}

/** Records the progress of a job. @returns false when the job has ended, or another attempt has begun */
export async function noteProgress(
  database: Database,
  { id, lease }: Pick<TakenJob, 'id' | 'lease'>,
  { processed, total }: { readonly processed: number; readonly total: number | null },
): Promise<boolean> {
  const { rowCount } = await database.pool.query({
    name: 'job_progress',
    values: [id, lease, processed, total],
    text: 'update job set processed = $3, total = $4 where id = $1 and lease = $2 and due_at is not null',
  })
  return rowCount === 1
}

/** Gives a job back: another attempt is due at `dueAt`, and begins from the start. */
export async function releaseJob(
  database: Database,
  { id, lease }: Pick<TakenJob, 'id' | 'lease'>,
  { dueAt, hasFailed }: { readonly dueAt: number; readonly hasFailed: boolean },
): Promise<void> {
  await database.pool.query({
    name: 'job_release',
    values: [id, lease, timestamp(dueAt), hasFailed ? 1 : 0],
    text: 'update job set due_at = $3, lease = null, failures = failures + $4 where id = $1 and lease = $2 and due_at is not null',
  })
}

/** Gives a job back with its progress: it continues from there at `dueAt`, and earlier failures are not counted. */
export async function pauseJob(
  database: Database,
  { id, lease }: Pick<TakenJob, 'id' | 'lease'>,
  { dueAt, processed, total }: { readonly dueAt: number; readonly processed: number; readonly total: number | null },
): Promise<void> {
  await database.pool.query({
    name: 'job_pause',
    values: [id, lease, timestamp(dueAt), processed, total],
    text: 'update job set due_at = $3, lease = null, failures = 0, processed = $4, total = $5 where id = $1 and lease = $2 and due_at is not null',
  })
}

/** Makes a waiting job due now; with `evenIfHeld` also a job whose node has stalled: its lease is removed. */
export async function resumeJob(
  client: TransactionClient,
  id: string,
  { now, evenIfHeld }: { readonly now: number; readonly evenIfHeld: boolean },
): Promise<void> {
  await client.query({
    name: 'job_resume',
    values: [id, timestamp(now), evenIfHeld],
    text: 'update job set due_at = $2, lease = null where id = $1 and ((lease is null and due_at > $2) or (lease is not null and due_at is not null and $3))',
  })
}

/** Locks a job until the transaction ends; null when the job does not exist, or when its lease is another one. */
export async function lockJob(
  client: TransactionClient,
  id: string,
  lease: string | null = null,
): Promise<JobRecord | null> {
  const {
    rows: [row],
  } = await client.query<JobColumns>({
    name: 'job_lock',
    values: [id, lease],
    text: `select ${JOB_COLUMNS} from job j where j.id = $1 and ($2::uuid is null or j.lease = $2) for update`,
  })
  return row === undefined ? null : jobRecord(row)
}

/** The end of a job. */
export type JobEnd =
  | { readonly move: 'succeed'; readonly result: JobResult; readonly fileId: string | null }
  | { readonly move: 'fail'; readonly error: Problem }
  | { readonly move: 'cancel' }

/** Ends a locked job, with its event. @returns the job after its end; null when it cannot end like that any more */
export async function endJob({ client, ids, now }: JobTx, job: JobRecord, end: JobEnd): Promise<JobRecord | null> {
  const status = moveJob(job.status, end.move)
  if (status === null) return null
  const expiresAt = now + (status === 'succeeded' ? RESULT_MS : FORGOTTEN_MS)
  if (end.move === 'succeed' && end.fileId !== null) await keepFile(client, end.fileId, expiresAt)
  const {
    rows: [row],
  } = await client.query<JobColumns>({
    name: 'job_end',
    text: `update job j set status = $2, version = j.version + 1, due_at = null, lease = null, result = $3, file_id = $4, error = $5, started_at = case when $2 = 'cancelled' then j.started_at else coalesce(j.started_at, $6) end, finished_at = $6, expires_at = $7,
        processed = coalesce($8, j.processed), total = coalesce($8, j.total)
      where j.id = $1 returning ${JOB_COLUMNS}`,
    values: [
      job.id,
      status,
      end.move === 'succeed' ? JSON.stringify(end.result) : null,
      end.move === 'succeed' ? end.fileId : null,
      end.move === 'fail' ? JSON.stringify(end.error) : null,
      timestamp(now),
      timestamp(expiresAt),
      end.move === 'succeed' ? end.result.rows : null,
    ],
  })
  await writeEvent(client, {
    id: ids.next(),
    createdAt: now,
    customerId: job.customerId,
    operatorId: job.operatorId,
    shard: job.shard,
    type: 'job.completed',
    object: 'job',
    objectId: job.id,
    status,
    previousStatus: job.status,
    amount: null,
    currency: null,
    related: job.subject,
  })
  return jobRecord(row as JobColumns)
}

/**
 * Expires results past their retention, then deletes the jobs themselves; a limited number at a time. @returns how many
 */
export async function expireJobs(client: TransactionClient, now: number, max: number): Promise<number> {
  const { rows } = await client.query<{ id: string; file_id: string | null }>({
    name: 'jobs_expire',
    values: [timestamp(now), timestamp(now + FORGOTTEN_MS - RESULT_MS), max],
    text: `with over as materialized (select id from job where expires_at <= $1 and status = 'succeeded' order by expires_at limit $3 for update skip locked)
      update job j set status = 'expired', version = j.version + 1, result = null, expires_at = $2 from over where j.id = over.id returning j.id, j.file_id`,
  })
  for (const { file_id } of rows) if (file_id !== null) await dropFile(client, file_id, now)
  const { rowCount } = await client.query({
    name: 'jobs_forget',
    values: [timestamp(now), max],
    text: `delete from job where id in (select id from job where expires_at <= $1 and status <> 'succeeded' order by expires_at limit $2 for update skip locked)`,
  })
  return rows.length + (rowCount ?? 0)
}

/** Reports of the operator's treasury: each is a job that makes a file. */
import { DAY_MS, dateIn, timestamp } from '../../lib/base/clock.ts'
import { refuse, refuseField, refuseNotFound } from '../../lib/base/problems.ts'
import { problemBody } from '../../lib/base/problem-document.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Command, CommandAnswer, Versioned } from '../../lib/commands/command.ts'
import type { DownloadLink } from '../../lib/contract/download-link.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { Report, ReportCreate, reportList } from '../../lib/reports/report-schema.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { findFile } from '../../storage/documents/files.ts'
import { findJob } from '../../storage/jobs/job-queries.ts'
import { insertJob, type JobRecord } from '../../storage/jobs/jobs.ts'
import { listReports } from '../../storage/reports/report-queries.ts'
import { recordChange } from '../commands/changes.ts'
import { decideOnce } from '../commands/run-once.ts'
import { auditCaller } from '../commands/trail.ts'
import type { DownloadReads } from '../documents/downloads.ts'
import type { JobService } from '../jobs/job-service.ts'
import type { Node } from '../runtime/node.ts'
import { reportJob, type ReportJobRequest } from './report-job.ts'

/** The maximum number of days of a report. */
const DAYS_MAX = 366

/** The reads. Null means: no such report of the operator. */
export interface ReportReads {
  list(query: ListQuery<typeof reportList>): Promise<ListResult<Report>>
  get(tenant: Tenant, id: string): Promise<Versioned<Report> | null>
  /** Creates a link to the file. @throws ProblemError `not-found`, `document-not-ready` */
  download(tenant: Tenant, id: string): Promise<DownloadLink>
}

/** The commands. Every refusal is thrown as a problem, except those that are recorded under an Idempotency-Key. */
export interface ReportCommands {
  create(by: Caller<'person'>, command: Command<ReportCreate>): Promise<CommandAnswer<Report, 202>>
}

/** The nouns that reports need. */
export interface ReportServiceParts {
  readonly jobs: Pick<JobService, 'addKinds'>
  readonly downloads: { readonly reads: DownloadReads }
}

export type ReportService = ReturnType<typeof createReportService>

/** Creates the service. */
export function createReportService(
  node: Node,
  { jobs, downloads }: ReportServiceParts,
): { readonly reads: ReportReads; readonly commands: ReportCommands } {
  jobs.addKinds({ report: reportJob({ ...node, documents: node.workers.documents }) })
  return {
    reads: createReportReads(node, downloads.reads),
    commands: { create: (by, command) => createReport(node, by, command) },
  }
}

function createReportReads(
  { database, clock, problemBase }: Pick<Node, 'database' | 'clock' | 'problemBase'>,
  downloads: DownloadReads,
): ReportReads {
  const db = readDatabase(database)
  const find = async (tenant: Tenant, id: string): Promise<JobRecord | null> => {
    const found = tenant.kind === 'operator' ? await findJob(database, tenant, id) : null
    return found?.kind === 'report' ? found : null
  }
  return {
    async list(query) {
      const { rows, ...page } = await listReports(db, query)
      return { ...page, rows: rows.map((row) => reportView(row, problemBase).view) }
    },
    async get(tenant, id) {
      const found = await find(tenant, id)
      return found === null ? null : reportView(found, problemBase)
    },
    async download(tenant, id) {
      const job = (await find(tenant, id)) ?? refuseNotFound()
      if (job.status === 'queued' || job.status === 'running')
        refuse('document-not-ready', 'The report is being made.', { retryAfterSeconds: 1 })
      const file = job.fileId === null ? null : await findFile(database, job.fileId, clock.now())
      if (file === null) refuse('not-found', `The report is ${job.status}, and has no file.`)
      return downloads.link(file)
    },
  }
}

/** Reads what a report covers. @throws ProblemError `validation-error` */
function questionOf(body: ReportCreate, now: number): ReportJobRequest {
  const { kind, format, from, to, timezone = 'UTC', currency = null, connectionId = null, customerId = null } = body
  checkZone(timezone)
  if (kind === 'safeguarding' && timezone !== 'UTC')
    refuseField('/timezone', 'not_applicable', "Safeguarding follows the days of the bank's statements, in UTC.")
  if (kind === 'safeguarding' && customerId !== null)
    refuseField('/customerId', 'not_applicable', 'Safeguarding is of all customers together.')
  if (kind === 'fees' && connectionId !== null)
    refuseField('/connectionId', 'not_applicable', 'Fees belong to no connection.')
  if (to < from) refuseField('/to', 'invalid_value', 'Must not be before the first day.')
  if ((Date.parse(to) - Date.parse(from)) / DAY_MS >= DAYS_MAX)
    refuseField('/to', 'too_large', `A report covers at most ${DAYS_MAX} days.`, { max: DAYS_MAX })
  const last = kind === 'safeguarding' ? dateIn(now - DAY_MS, 'UTC') : dateIn(now, timezone)
  if (to > last)
    refuseField('/to', 'too_far_ahead', kind === 'safeguarding' ? 'The day has not ended yet.' : 'Is in the future.')
  return { kind, format, from, to, timezone, currency, connectionId, customerId }
}

function checkZone(timezone: string): void {
  try {
    dateIn(0, timezone)
  } catch {
    // The calendar throws for an unknown zone, without further detail.
    refuseField('/timezone', 'invalid_value', 'No such time zone.')
  }
}

async function createReport(
  node: Pick<Node, 'database' | 'clock' | 'ids' | 'problemBase' | 'findIdempotencyRecord'>,
  by: Caller<'person'>,
  command: Command<ReportCreate>,
): Promise<CommandAnswer<Report, 202>> {
  const { clock, ids, problemBase } = node
  return await decideOnce(node, command, 202, async (client) => {
    const now = clock.now()
    const request = questionOf(command.body, now)
    const id = ids.next()
    const operatorId = by.tenant.id
    const job = await insertJob(client, {
      id,
      tenantId: operatorId,
      operatorId,
      customerId: null,
      shard: shardOf(operatorId),
      kind: 'report',
      request,
      fingerprint: null,
      subject: { object: 'operator', id: operatorId },
      requestedBy: by.principal.id,
      requestId: by.requestId,
      now,
    })
    await recordChange({ client, ids, now }, auditCaller(by), operatorId, {
      action: 'report.requested',
      object: { type: 'report', id },
      before: null,
      after: request,
    })
    return { shown: reportView(job, problemBase), made: { type: 'report', id } }
  })
}

function reportView(job: JobRecord, problemBase: string): Versioned<Report> {
  const { kind, format, from, to, timezone, currency, connectionId, customerId } = job.request as ReportJobRequest
  const at = (ms: number | null): string | null => (ms === null ? null : timestamp(ms))
  const request = { problemBase, instance: `/v1/reports/${job.id}`, requestId: job.requestId ?? job.id, reading: true }
  return {
    version: job.version,
    view: {
      id: job.id,
      kind,
      format,
      from,
      to,
      timezone,
      currency,
      connectionId,
      customerId,
      status: job.status,
      rows: job.result?.rows ?? null,
      sizeBytes: job.result?.sizeBytes ?? null,
      fileName: job.result?.fileName ?? null,
      error: job.error === null ? null : (JSON.parse(problemBody(job.error, request)) as Report['error']),
      requestedBy: job.requestedBy,
      createdAt: timestamp(job.createdAt),
      finishedAt: at(job.finishedAt),
      expiresAt: at(job.status === 'succeeded' ? job.expiresAt : null),
    },
  }
}

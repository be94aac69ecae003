/**
 * The operations on jobs for the HTTP layer: read and cancel. The commands that request jobs are in the files of their
 * nouns.
 */
import type { Jobs } from './jobs.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { mayRepeat, paceOf, showsDownload } from '../../lib/jobs/job.ts'
import { refuse, refuseNotFound } from '../../lib/base/problems.ts'
import type { Database } from '../../storage/db/database.ts'
import { writeAudit } from '../../storage/trail/trail.ts'
import type { JobRecord } from '../../storage/jobs/jobs.ts'
import { findJob, listJobs } from '../../storage/jobs/job-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import type { DownloadReads } from '../documents/downloads.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import { problemBody } from '../../lib/base/problem-document.ts'
import { runOnce, type RunOnceDeps } from '../commands/run-once.ts'
import type { Job, jobList } from '../../lib/jobs/job-schema.ts'
import type { CommandAnswer, Idempotency, Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

/** The reads. Null means: no such job in this tenant. */
export interface JobReads {
  get(tenant: Tenant, id: string): Promise<Versioned<Job> | null>
  list(query: ListQuery<typeof jobList>): Promise<ListResult<Job>>
}

export interface JobCommands {
  /** @throws ProblemError `not-found`, `insufficient-scope`, `not-cancellable` */
  cancel(by: Caller, id: string, idempotency: Idempotency | null): Promise<CommandAnswer<Job, 200>>
}

export interface JobDeps extends RunOnceDeps {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: { now(): number }
  readonly problemBase: string
  readonly downloads: DownloadReads
  readonly jobs: Pick<Jobs, 'cancel'>
}

/** Renders a job, with a link to its file for the current caller. */
export function createJobView({
  downloads,
  problemBase,
  clock,
}: Pick<JobDeps, 'downloads' | 'problemBase' | 'clock'>): (job: JobRecord) => Versioned<Job> {
  return (job) => {
    const { id, kind, status, progress, subject, result, error, fileId, requestedBy } = job
    const at = (ms: number | null): string | null => (ms === null ? null : timestamp(ms))
    const { fileName = null, contentType = null } = result ?? {}
    return {
      version: job.version,
      view: {
        id,
        kind,
        status,
        progress: { ...progress, ...paceOf(job, clock.now()) },
        subject,
        result:
          result === null
            ? null
            : {
                ...result,
                download:
                  fileId === null || fileName === null || contentType === null || !showsDownload(kind)
                    ? null
                    : downloads.steadyLink({ id: fileId, fileName, contentType }, job.finishedAt ?? job.createdAt),
              },
        error:
          error === null
            ? null
            : (JSON.parse(
                problemBody(error, {
                  problemBase,
                  instance: `/v1/jobs/${id}`,
                  requestId: job.requestId ?? id,
                  reading: mayRepeat(kind),
                }),
              ) as Job['error']),
        requestedBy,
        createdAt: timestamp(job.createdAt),
        startedAt: at(job.startedAt),
        finishedAt: at(job.finishedAt),
        expiresAt: at(job.status === 'succeeded' ? job.expiresAt : null),
      },
    }
  }
}

/** Creates the reads of jobs. */
export function createJobReads(deps: Pick<JobDeps, 'database' | 'downloads' | 'problemBase' | 'clock'>): JobReads {
  const db = readDatabase(deps.database)
  const view = createJobView(deps)
  return {
    async get(tenant, id) {
      const found = await findJob(deps.database, tenant, id)
      return found === null ? null : view(found)
    },
    async list(query) {
      const { rows, ...page } = await listJobs(db, query)
      return { ...page, rows: rows.map((row) => view(row).view) }
    },
  }
}

/** Creates the commands of jobs. */
export function createJobCommands(deps: JobDeps): JobCommands {
  const { clock, ids, jobs } = deps
  const view = createJobView(deps)
  return {
    cancel: (by, id, idempotency) =>
      runOnce(deps, idempotency, 200, async (client) => {
        const now = clock.now()
        const found = await jobs.cancel({ client, ids, now }, by.tenant.id, id)
        if (found === null) refuseNotFound()
        const { before, after } = found
        if (by.principal.kind === 'key' && by.principal.id !== before.requestedBy) {
          refuse('insufficient-scope', 'A key can only cancel what it has asked for.', {
            extra: { requiredCapability: 'self' },
          })
        }
        if (after === null)
          refuse('not-cancellable', `The job is ${before.status}.`, { extra: { currentStatus: before.status } })
        await writeAudit(client, {
          ...auditCaller(by),
          id: ids.next(),
          tenantId: by.tenant.id,
          at: now,
          action: 'job.cancelled',
          object: { type: 'job', id },
          before: { status: before.status },
          after: { status: after.status },
        })
        return view(after).view
      }),
  }
}

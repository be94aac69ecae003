/**
 * Runs jobs. A job is a task (actors/runtime/tasks.ts): it runs on the node that owns its shard, and again when that
 * node dies. The result of a job is written in one transaction with its end, and only by the attempt that began last;
 * so
 * a node that was stalled for long writes nothing.
 *
 * Bounded (I8): a few jobs at a time per node, one at a time per tenant, and a limited number of attempts per job.
 */
import type { Clock } from '../../lib/base/clock.ts'
import { OperatingError } from '../../lib/base/errors.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { BEGINNINGS_MAX, FAILURES_MAX, type JobKind, type JobResult } from '../../lib/jobs/job.ts'
import { ProblemError, type Problem } from '../../lib/base/problems.ts'
import type { Database } from '../../storage/db/database.ts'
import {
  endJob,
  expireJobs,
  lockJob,
  noteProgress,
  pauseJob,
  releaseJob,
  startJob,
  type JobEnd,
  type JobRecord,
  type JobTx,
  type TakenJob,
} from '../../storage/jobs/jobs.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import { Poller } from '../runtime/poller.ts'
import type { Task, TaskContext } from '../runtime/tasks.ts'

/** The interval at which a running job writes its progress, and learns that it was cancelled. */
const PROGRESS_MS = 3_000
/** The delay before the next attempt after an error, times the number of failures. */
const RETRY_MS = 1_000
/** Expired jobs that are removed per transaction. */
const EXPIRED_MAX = 100

const BROKEN: Problem = { slug: 'internal-error', detail: 'The job could not be done.' }

/** The tools given to the work of a job. */
export interface JobContext {
  /** Reports progress; `total` is null where it is unknown. */
  progress(processed: number, total: number | null): void
  /** Aborted when the job was cancelled, this node has lost it, or the node stops. */
  readonly signal: AbortSignal
}

/** The result of a job's work. */
export interface JobOutcome {
  readonly result: JobResult
  /** The file of the result, temporary until the job's end is written; then stored as long as results are. */
  readonly fileId: string | null
  /** Writes further rows in the transaction of the job's end. */
  readonly finish?: (tx: JobTx) => Promise<void>
}

/**
 * Thrown by work that has made progress and has to wait: the job runs again at `until`, or earlier when it is made due.
 */
export class JobPaused extends Error {
  override readonly name = 'JobPaused'
  /** Epoch milliseconds. */
  readonly until: number

  constructor(until: number) {
    super('The job waits.')
    this.until = until
  }
}

/** One kind of job. */
export interface JobWork {
  /** False for work that is cancelled only through its subject. */
  readonly cancellable?: boolean
  /** @throws ProblemError for a failure that no retry can help; any other error is retried */
  run(job: JobRecord, context: JobContext): Promise<JobOutcome>
  /** Writes further rows in the transaction that ends a job without a result. */
  abandoned?(tx: JobTx, job: JobRecord): Promise<void>
}

export interface JobsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly kinds: Readonly<Partial<Record<JobKind, JobWork>>>
  readonly onError: (error: unknown, what: string) => void
}

export class Jobs {
  readonly #options: JobsOptions

  constructor(options: JobsOptions) {
    this.#options = options
  }

  /** The tasks: to run a job that is due, and to remove what has expired. */
  tasks(): readonly Task[] {
    return [
      { name: 'jobs.run', workers: 'lengthy', run: (id, context) => this.#begin(id, context) },
      { name: 'jobs.expire', cron: '* * * * *', run: () => this.expire() },
    ]
  }

  /** Removes results whose time is over, and later the jobs themselves. */
  async expire(): Promise<void> {
    const { database, clock } = this.#options
    let gone: number
    do gone = await inTransaction(database, (client) => expireJobs(client, clock.now(), EXPIRED_MAX))
    while (gone > 0)
  }

  /**
   * Ends a job that waits or runs, in the caller's transaction. Null when the job has ended or belongs to another
   * tenant.
   */
  async cancel(
    tx: JobTx,
    tenantId: string,
    id: string,
  ): Promise<{ readonly before: JobRecord; readonly after: JobRecord | null } | null> {
    const before = await lockJob(tx.client, id)
    if (before === null || before.tenantId !== tenantId) return null
    if (this.#options.kinds[before.kind]?.cancellable === false) return { before, after: null }
    const after = await endJob(tx, before, { move: 'cancel' })
    if (after !== null) await this.#options.kinds[before.kind]?.abandoned?.(tx, after)
    return { before, after }
  }

  async #begin(id: string, { signal, attempt }: TaskContext): Promise<void> {
    const { database, clock, ids } = this.#options
    const job = await startJob(database, id, { lease: ids.next(), now: clock.now() })
    if (job === null) return
    const stop = new AbortController()
    const give = () => stop.abort()
    signal.addEventListener('abort', give)
    if (signal.aborted) give()
    try {
      if (attempt > BEGINNINGS_MAX) await this.#end(job, { move: 'fail', error: BROKEN })
      else await this.#run(job, stop)
    } finally {
      signal.removeEventListener('abort', give)
    }
  }

  async #run(job: TakenJob, stop: AbortController): Promise<void> {
    const { database, kinds, onError } = this.#options
    const work = kinds[job.kind]
    let progress: { processed: number; total: number | null } = { processed: 0, total: job.progress.total }
    const noting = new Poller({
      everyMs: PROGRESS_MS,
      poll: async () => {
        if (!(await noteProgress(database, job, progress))) stop.abort()
      },
      onError: (error) => onError(error, `the progress of job ${job.id}`),
    })
    noting.start()
    try {
      if (work === undefined) return await this.#end(job, { move: 'fail', error: BROKEN })
      const { result, fileId, finish } = await work.run(job, {
        signal: stop.signal,
        progress: (processed, total) => {
          progress = { processed, total }
        },
      })
      await this.#end(job, { move: 'succeed', result, fileId }, finish)
    } catch (error) {
      if (error instanceof JobPaused && !stop.signal.aborted)
        await pauseJob(database, job, { dueAt: error.until, ...progress })
      else await this.#broke(job, error, stop.signal.aborted)
    } finally {
      await noting.stop()
    }
  }

  async #broke(job: TakenJob, error: unknown, aborted: boolean): Promise<void> {
    const { database, clock, onError } = this.#options
    if (aborted) return await releaseJob(database, job, { dueAt: clock.now(), hasFailed: false })
    if (error instanceof ProblemError) return await this.#end(job, { move: 'fail', error: error.problem })
    const failures = job.failures + 1
    onError(error, `job ${job.id}, failure ${failures}`)
    const isLast =
      failures >= FAILURES_MAX && !(error instanceof OperatingError && error.name === 'DatabaseUnavailable')
    if (isLast) return await this.#end(job, { move: 'fail', error: BROKEN })
    await releaseJob(database, job, { dueAt: clock.now() + RETRY_MS * failures, hasFailed: true })
  }

  /** Writes the end of a job, if no other attempt has begun. */
  async #end(job: TakenJob, end: JobEnd, finish?: JobOutcome['finish']): Promise<void> {
    const { database, clock, ids, kinds } = this.#options
    await inTransaction(database, async (client) => {
      const held = await lockJob(client, job.id, job.lease)
      if (held === null) return
      const tx = { client, ids, now: clock.now() }
      const ended = await endJob(tx, held, end)
      if (ended === null) return
      if (end.move === 'succeed') await finish?.(tx)
      else await kinds[job.kind]?.abandoned?.(tx, ended)
    })
  }
}

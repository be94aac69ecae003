/**
 * Runs jobs on the node that owns their shard. A running job has a lease that is renewed, so that another node takes
 * over the job of a dead node. The result of a job is written in one transaction with its end, and only by the node
 * that still holds its lease; so a node that was stalled for long writes nothing.
 *
 * Bounded (I8): a few jobs at a time per node, one at a time per tenant, and a limited number of attempts per job.
 */
import type { Clock } from '../../lib/base/clock.ts'
import { OperatingError } from '../../lib/base/errors.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { ATTEMPTS_MAX, type JobKind, type JobResult } from '../../lib/jobs/job.ts'
import type { Mail, Mailer } from '../../lib/notices/mail.ts'
import { ProblemError, type Problem } from '../../lib/base/problems.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { plainArray, plainArrayOrNull } from '../../storage/db/array-literal.ts'
import type { Database } from '../../storage/db/database.ts'
import {
  claimJobs,
  endJob,
  expireJobs,
  lockJob,
  pauseJob,
  releaseJob,
  renewJob,
  type JobEnd,
  type JobRecord,
  type JobTx,
  type TakenJob,
} from '../../storage/jobs/jobs.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import { Poller } from '../runtime/poller.ts'
import { untilDue } from '../runtime/rest.ts'
import type { Wakes } from '../runtime/wakes.ts'

/** The interval between two polls. A job that is requested on this node starts a poll at once. */
const TICK_MS = 500
/** The number of jobs that run on a node at a time: as many as there are threads that write documents. */
const RUNNING_MAX = 2
/** The lease of a job: after it, another node takes over. The running node renews it four times in this period. */
const LEASE_MS = 12_000
const RENEW_MS = LEASE_MS / 4
/** The delay before the next attempt after an error, times the number of the attempt. */
const RETRY_MS = 1_000
/** Expired jobs that are removed per transaction, and the interval between two polls for them. */
const EXPIRED_MAX = 100
const EXPIRY_TICK_MS = 30_000

const BROKEN: Problem = { slug: 'internal-error', detail: 'The job could not be done.' }

/** The tools given to the work of a job. */
export interface JobContext {
  /** Reports progress; `total` is null where it is unknown. */
  progress(processed: number, total: number | null): void
  /** Aborted when this node has lost the job, or the node stops. */
  readonly signal: AbortSignal
}

/** The result of a job's work. */
export interface JobOutcome {
  readonly result: JobResult
  /** The file of the result, temporary until the job's end is written; then stored as long as results are. */
  readonly fileId: string | null
  /**
   * Writes further rows in the transaction of the job's end. Resolves with the mails that are sent after the commit.
   */
  readonly finish?: (tx: JobTx) => Promise<readonly Mail[]>
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
  readonly wakes: Wakes
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly shards: Shards
  readonly mailer: Mailer
  readonly kinds: Readonly<Partial<Record<JobKind, JobWork>>>
  readonly onError: (error: unknown, what: string) => void
}

interface Running {
  readonly stop: AbortController
  readonly done: Promise<void>
}

export class Jobs {
  readonly #options: JobsOptions
  readonly #poller: Poller
  readonly #expiry: Poller
  readonly #running = new Map<string, Running>()
  #stopped = false
  #polling: Promise<void> | undefined

  constructor(options: JobsOptions) {
    this.#options = options
    this.#poller = new Poller({
      everyMs: TICK_MS,
      poll: () => this.#pollOnce(),
      rest: untilDue(options, ['job']),
      onError: (error) => options.onError(error, 'jobs that are due'),
    })
    this.#expiry = new Poller({
      everyMs: EXPIRY_TICK_MS,
      poll: () => this.expire(),
      onError: (error) => options.onError(error, 'expired jobs'),
    })
  }

  /** Starts polling. */
  start(): void {
    this.#poller.start()
    this.#expiry.start()
  }

  /** Stops polling. Running jobs are given up at once, so that another node takes them. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all([this.#poller.stop(), this.#expiry.stop()])
    await this.#polling?.catch(() => undefined)
    const running = [...this.#running.values()]
    for (const { stop } of running) stop.abort()
    await Promise.all(running.map(({ done }) => done))
  }

  /** Polls now: a job was requested on this node, or there is room for another. */
  nudge(): void {
    if (!this.#stopped) this.#pollOnce().catch((error: unknown) => this.#options.onError(error, 'jobs that are due'))
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

  /** Runs one poll at a time; a call during a poll waits for that poll. */
  #pollOnce(): Promise<void> {
    this.#polling ??= this.#poll().finally(() => {
      this.#polling = undefined
    })
    return this.#polling
  }

  async #poll(): Promise<void> {
    const { database, clock, ids, shards } = this.#options
    const max = RUNNING_MAX - this.#running.size
    if (this.#stopped || max <= 0) return
    const [now, owned] = [clock.now(), shards.owned()]
    const jobs = await claimJobs(database, {
      now,
      until: now + LEASE_MS,
      shards: plainArrayOrNull(owned),
      running: plainArray([...this.#running.keys()]),
      lease: ids.next(),
      max,
    })
    for (const job of jobs) this.#begin(job)
  }

  #begin(job: TakenJob): void {
    const { onError } = this.#options
    const stop = new AbortController()
    const done = this.#run(job, stop)
      .catch((error: unknown) => onError(error, `job ${job.id}`))
      .finally(() => {
        this.#running.delete(job.id)
        // There is room for the next job now.
        this.nudge()
      })
    this.#running.set(job.id, { stop, done })
  }

  async #run(job: TakenJob, stop: AbortController): Promise<void> {
    const { database, clock, kinds, onError } = this.#options
    const work = kinds[job.kind]
    let progress: { processed: number; total: number | null } = { processed: 0, total: job.progress.total }
    const renewal = new Poller({
      everyMs: RENEW_MS,
      // A job whose lease is lost is given up; the node that holds the lease starts the job again.
      poll: async () => {
        if (!(await renewJob(database, job, { until: clock.now() + LEASE_MS, ...progress }))) stop.abort()
      },
      onError: (error) => onError(error, `the lease of job ${job.id}`),
    })
    renewal.start()
    try {
      if (work === undefined || job.attempts > ATTEMPTS_MAX)
        return await this.#end(job, { move: 'fail', error: BROKEN })
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
      await renewal.stop()
    }
  }

  async #broke(job: TakenJob, error: unknown, aborted: boolean): Promise<void> {
    const { database, clock, onError } = this.#options
    if (aborted) return await releaseJob(database, job, { dueAt: clock.now(), countsAsAttempt: false })
    if (error instanceof ProblemError) return await this.#end(job, { move: 'fail', error: error.problem })
    onError(error, `job ${job.id}, try ${job.attempts}`)
    const isLast =
      job.attempts >= ATTEMPTS_MAX && !(error instanceof OperatingError && error.name === 'DatabaseUnavailable')
    if (isLast) return await this.#end(job, { move: 'fail', error: BROKEN })
    await releaseJob(database, job, { dueAt: clock.now() + RETRY_MS * job.attempts, countsAsAttempt: true })
  }

  /** Writes the end of a job, if this node still holds its lease. */
  async #end(job: TakenJob, end: JobEnd, finish?: JobOutcome['finish']): Promise<void> {
    const { database, clock, ids, kinds, mailer, onError } = this.#options
    const mails = await inTransaction(database, async (client): Promise<readonly Mail[]> => {
      const held = await lockJob(client, job.id, job.lease)
      if (held === null) return []
      const tx = { client, ids, now: clock.now() }
      const ended = await endJob(tx, held, end)
      if (ended === null) return []
      if (end.move === 'succeed') return (await finish?.(tx)) ?? []
      await kinds[job.kind]?.abandoned?.(tx, ended)
      return []
    })
    for (const mail of mails) await mailer.send(mail).catch((error: unknown) => onError(error, 'mail'))
  }
}

/**
 * Jobs, done where their shard is at home: taken up under a lease that is renewed while they run, so that a job whose node
 * has died is taken up by another. What a job has come to is written in one transaction with its end, and only by whoever
 * still has its lease; so a node that was held up for long writes nothing.
 *
 * Bounded (I8): a few at a time on a node, one after the other for each tenant, so many tries each.
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
import { claimJobs, endJob, expireJobs, lockJob, pauseJob, releaseJob, renewJob, type JobEnd, type JobRecord, type JobTx, type TakenJob } from '../../storage/jobs/jobs.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import { Poller } from '../runtime/poller.ts'

/** How often a node looks, besides being told of a job that was asked for here. */
const TICK_MS = 500
/** Jobs of one node at a time: as many as there are threads that write documents. */
const RUNNING_MAX = 2
/** A job whose node has died is taken up by another after this; whoever runs one says so four times in between. */
const LEASE_MS = 12_000
const RENEW_MS = LEASE_MS / 4
/** A try that broke is followed by the next after this, times its number. */
const RETRY_MS = 1_000
/** Jobs whose time is over, in one go, and how often a node looks for them. */
const EXPIRED_MAX = 100
const EXPIRY_TICK_MS = 30_000

const BROKEN: Problem = { slug: 'internal-error', detail: 'The job could not be done.' }

/** What the work of a job is given. */
export interface JobContext {
  /** How far it has come; `total` where it is known. */
  progress(processed: number, total: number | null): void
  /** Aborted when the job is no longer this node's, or the node stops. */
  readonly signal: AbortSignal
}

/** What the work has made. */
export interface JobOutcome {
  readonly result: JobResult
  /** The file of the result, lent so far; kept with the job's end, for as long as results are. */
  readonly fileId: string | null
  /** What is written with the job's end, in its transaction. Resolves with the mails that are sent when it is written. */
  readonly finish?: (tx: JobTx) => Promise<readonly Mail[] | void>
}

/** Thrown by the work of a job that has come further and is to wait: it is taken up again then, or when somebody makes it due. */
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
  /** False for work that is cancelled through what it works on, and not by itself. */
  readonly cancellable?: boolean
  /** @throws ProblemError for what no further try can help; anything else is tried again */
  run(job: JobRecord, context: JobContext): Promise<JobOutcome>
  /** What is written with the end of a job that has come to nothing, in its transaction. */
  abandoned?(tx: JobTx, job: JobRecord): Promise<void>
}

export interface JobsOptions {
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
    this.#poller = new Poller({ everyMs: TICK_MS, poll: () => this.#pollOnce(), onError: (error) => options.onError(error, 'jobs that are due') })
    this.#expiry = new Poller({ everyMs: EXPIRY_TICK_MS, poll: () => this.expire(), onError: (error) => options.onError(error, 'jobs that are over') })
  }

  /** Begins to look. */
  start(): void {
    this.#poller.start()
    this.#expiry.start()
  }

  /** Stops looking; what is under way is given up at once, for another node to take. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all([this.#poller.stop(), this.#expiry.stop()])
    await this.#polling?.catch(() => undefined)
    const running = [...this.#running.values()]
    for (const { stop } of running) stop.abort()
    await Promise.all(running.map(({ done }) => done))
  }

  /** Looks now: a job was asked for here, or there is room for another. */
  nudge(): void {
    if (!this.#stopped) this.#pollOnce().catch((error: unknown) => this.#options.onError(error, 'jobs that are due'))
  }

  /** Lets go what is over, results first. */
  async expire(): Promise<void> {
    const { database, clock } = this.#options
    let gone: number
    do gone = await inTransaction(database, (client) => expireJobs(client, clock.now(), EXPIRED_MAX)); while (gone > 0)
  }

  /** Ends a job that waits or runs, in the caller's transaction. Null when it is over already, or another tenant's. */
  async cancel(tx: JobTx, tenantId: string, id: string): Promise<{ readonly before: JobRecord; readonly after: JobRecord | null } | null> {
    const before = await lockJob(tx.client, id)
    if (before === null || before.tenantId !== tenantId) return null
    if (this.#options.kinds[before.kind]?.cancellable === false) return { before, after: null }
    const after = await endJob(tx, before, { move: 'cancel' })
    if (after !== null) await this.#options.kinds[before.kind]?.abandoned?.(tx, after)
    return { before, after }
  }

  /** One look at a time; whoever comes meanwhile waits for that one. */
  #pollOnce(): Promise<void> {
    this.#polling ??= this.#poll().finally(() => { this.#polling = undefined })
    return this.#polling
  }

  async #poll(): Promise<void> {
    const { database, clock, ids, shards } = this.#options
    const max = RUNNING_MAX - this.#running.size
    if (this.#stopped || max <= 0) return
    const [now, owned] = [clock.now(), shards.owned()]
    const jobs = await claimJobs(database, {
      now, until: now + LEASE_MS, shards: plainArrayOrNull(owned), running: plainArray([...this.#running.keys()]), lease: ids.next(), max,
    })
    for (const job of jobs) this.#begin(job)
  }

  #begin(job: TakenJob): void {
    const { onError } = this.#options
    const stop = new AbortController()
    const done = this.#run(job, stop).catch((error: unknown) => onError(error, `job ${job.id}`)).finally(() => {
      this.#running.delete(job.id)
      // There is room for the next one now.
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
      // One that is no longer ours is given up; whoever has it now begins anew.
      poll: async () => { if (!(await renewJob(database, job, { until: clock.now() + LEASE_MS, ...progress }))) stop.abort() },
      onError: (error) => onError(error, `the lease of job ${job.id}`),
    })
    renewal.start()
    try {
      if (work === undefined || job.attempts > ATTEMPTS_MAX) return await this.#end(job, { move: 'fail', error: BROKEN })
      const { result, fileId, finish } = await work.run(job, { signal: stop.signal, progress: (processed, total) => { progress = { processed, total } } })
      await this.#end(job, { move: 'succeed', result, fileId }, finish)
    } catch (error) {
      if (error instanceof JobPaused && !stop.signal.aborted) await pauseJob(database, job, { dueAt: error.until, ...progress })
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
    const isLast = job.attempts >= ATTEMPTS_MAX && !(error instanceof OperatingError && error.name === 'DatabaseUnavailable')
    if (isLast) return await this.#end(job, { move: 'fail', error: BROKEN })
    await releaseJob(database, job, { dueAt: clock.now() + RETRY_MS * job.attempts, countsAsAttempt: true })
  }

  /** Writes the end, if the job is still this node's. */
  async #end(job: TakenJob, end: JobEnd, finish?: JobOutcome['finish']): Promise<void> {
    const { database, clock, ids, kinds, mailer, onError } = this.#options
    const mails = await inTransaction(database, async (client): Promise<readonly Mail[]> => {
      const held = await lockJob(client, job.id, job.lease)
      if (held === null) return []
      const tx = { client, ids, now: clock.now() }
      const ended = await endJob(tx, held, end)
      if (ended === null) return []
      if (end.move === 'succeed') return await finish?.(tx) ?? []
      await kinds[job.kind]?.abandoned?.(tx, ended)
      return []
    })
    for (const mail of mails) await mailer.send(mail).catch((error: unknown) => onError(error, 'mail'))
  }
}

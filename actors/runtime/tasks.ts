/**
 * Runs the tasks of the nouns: background work that is not a flood. A task is added in the transaction of the row that
 * it works on, or by the calendar; one node takes it, with graphile-worker: the one that owns the shard of the row. A
 * task whose node dies is begun again by another node within seconds (storage/tasks/task-locks.ts); a task that fails
 * is begun again after 3 s, 7 s, 20 s and so on, six hours at most.
 *
 * Time is the service's: a task is begun when it is due by the injected clock (storage/tasks/task-rows.ts), and a clock
 * that is moved over a time of the calendar runs the tasks of that time. Workers ask nothing at rest: this part wakes
 * them when a task is added, and when the next one is due.
 *
 * Floods (payments, webhooks, messages of partners, followers of events) have loops of their own (poller.ts).
 */
import { setTimeout as pause } from 'node:timers/promises'
import { DAY_MS, MINUTE_MS, type Clock } from '../../lib/base/clock.ts'
import { SHARD_COUNT } from '../../lib/shards/shard.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import type { PgListener } from '../../storage/db/pg-listener.ts'
import { CalendarTimes } from '../../storage/tasks/calendar-times.ts'
import { TaskLocks } from '../../storage/tasks/task-locks.ts'
import { TaskPool, type Work } from '../../storage/tasks/task-pool.ts'
import { addTask, findDueTasks, flagOfShard, TASKS_CHANNEL } from '../../storage/tasks/task-rows.ts'
import { Poller } from './poller.ts'
import type { Wakes } from './wakes.ts'

/** The shortest time between two looks for due tasks. */
const LOOK_MS = 100
/** A task that Postgres finds due before the node's clock does waits this long at most before it is looked at again. */
const EARLY_MAX_MS = 250
/** The time between two looks while tasks are due; workers that are busy look by themselves when they are free. */
const BACKLOG_MS = 1_000
/** The delay before workers that have ended are started again. */
const RESTART_MS = 1_000
/**
 * Tasks of a node at a time, by their workers: the lengthy ones as many as there are threads that write documents; those
 * that wait for a system outside, so that one that stalls holds up no other task.
 */
const AT_ONCE = { short: 4, lengthy: 2, outward: 4 } as const

const ALL_SHARDS = Array.from({ length: SHARD_COUNT }, (_, shard) => shard)

/** The circumstances of a run of a task. */
export interface TaskContext {
  /** Aborted when the node stops, or has lost the task to another one; short tasks are finished. */
  readonly signal: AbortSignal
  /** Which attempt this is, from 1 on; an attempt whose node has died counts. */
  readonly attempt: number
}

/** A task of a noun. Its effects are fenced by the rows that it writes, so an attempt that is repeated does no harm. */
export interface Task {
  /** `<noun>.<work>`: the name that triggers give to `add_task` (storage/migrations). */
  readonly name: string
  /** The times at which it runs by itself, as in a crontab, UTC; none where rows add it. */
  readonly cron?: string
  /**
   * The workers that run it: `short` ones, unless it names others. `lengthy` is for minutes of work, `outward` for work
   * that waits for a system outside of the service; both are aborted when the node stops.
   */
  readonly workers?: 'lengthy' | 'outward'
  /**
   * @param id the row that is due; empty for a task that works on all due rows
   * @throws when the task has to be begun again
   */
  run(id: string, context: TaskContext): Promise<void>
}

/** The payload of a task, as triggers and this file write it. */
interface Payload {
  readonly id?: string
  /** When it is due by the service's clock, epoch milliseconds. */
  readonly due?: number
}

/** Thrown so that a task that was lost to another node is not ended by this one. */
class TaskLost extends Error {
  override readonly name = 'TaskLost'

  constructor(name: string) {
    super(`The task ${name} was lost to another node.`)
  }
}

export interface TasksOptions {
  readonly database: Database
  readonly databaseUrl: string
  readonly listener: Pick<PgListener, 'subscribe'>
  readonly clock: Clock
  readonly shards: Pick<Shards, 'owned'>
  readonly wakes: Wakes
  readonly tasks: readonly Task[]
  readonly onError: (error: unknown, what: string) => void
}

/** The workers for one part of the tasks, which are replaced when they end. */
interface Workers {
  readonly tasks: readonly Task[]
  readonly concurrency: number
  pool: TaskPool
  /** Aborts the tasks of the pool. */
  stop: AbortController
  ended: Promise<void>
}

export class Tasks {
  readonly #options: TasksOptions
  readonly #locks: TaskLocks
  readonly #poller: Poller
  readonly #times: CalendarTimes
  #workers: readonly Workers[] = []
  #stopped = false
  /** The time up to which the calendar was followed. */
  #clockAt: number
  #nextAt: number | null = null

  constructor(options: TasksOptions) {
    const { databaseUrl, listener, clock, wakes, tasks, onError } = options
    this.#options = options
    this.#times = new CalendarTimes(tasks.flatMap(({ name, cron }) => (cron === undefined ? [] : [{ name, cron }])))
    this.#clockAt = clock.now()
    this.#locks = new TaskLocks({
      url: databaseUrl,
      onFreed: () => this.#poller.wake(),
      onLost: () => this.#lost(),
      onError,
    })
    this.#poller = new Poller({
      everyMs: LOOK_MS,
      poll: () => this.#look(),
      rest: { clock, wakes, on: [], next: async () => this.#nextAt },
      onError: (error) => onError(error, 'tasks that are due'),
    })
    listener.subscribe(TASKS_CHANNEL, {
      onMessage: () => this.#poller.wake(),
      onGap: () => this.#poller.wake(),
    })
    clock.onJump?.(() => this.#jumped())
  }

  async start(): Promise<void> {
    const { tasks } = this.#options
    await this.#locks.start()
    const parts = Map.groupBy(tasks, ({ workers }): keyof typeof AT_ONCE => workers ?? 'short')
    this.#workers = await Promise.all(
      [...parts].map(([workers, part]) => this.#open({ tasks: part, concurrency: AT_ONCE[workers] })),
    )
    this.#poller.start()
    this.#poller.wake()
  }

  /** Stops: short tasks are finished; the others are given up at once, so that another node begins them. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#poller.stop()
    await Promise.all(
      this.#workers.map(async (workers) => {
        workers.stop.abort()
        await workers.pool.stop()
        await workers.ended
      }),
    )
    await this.#locks.stop()
  }

  /** Looks for due tasks once; resolves when workers were told of them. */
  async runOnce(): Promise<void> {
    await this.#poller.runOnce()
  }

  // ── Workers
  // ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #open(part: Pick<Workers, 'tasks' | 'concurrency'>): Promise<Workers> {
    const workers: Workers = { ...part, ...this.#poolOf(part), ended: Promise.resolve() }
    await workers.pool.start()
    workers.ended = this.#keep(workers)
    return workers
  }

  /** Replaces workers that end before the node stops: a result could not be written, or their lock is lost. */
  async #keep(workers: Workers): Promise<void> {
    for (;;) {
      await workers.pool.ended
      workers.stop.abort()
      if (!this.#stopped) await pause(RESTART_MS, undefined, { ref: false })
      if (this.#stopped) return
      Object.assign(workers, this.#poolOf(workers))
      await workers.pool.start().catch((error: unknown) => this.#options.onError(error, 'tasks'))
      this.#poller.wake()
    }
  }

  #poolOf({ tasks, concurrency }: Pick<Workers, 'tasks' | 'concurrency'>): Pick<Workers, 'pool' | 'stop'> {
    const { database, onError } = this.#options
    const stop = new AbortController()
    const works = Object.fromEntries(tasks.map((task): [string, Work] => [task.name, this.#work(task, stop.signal)]))
    const crons = Object.fromEntries(tasks.flatMap(({ name, cron }) => (cron === undefined ? [] : [[name, cron]])))
    return {
      stop,
      pool: new TaskPool({
        database,
        locks: this.#locks,
        works,
        crons,
        concurrency,
        forbidden: () => this.#forbidden(),
        onResult: () => this.#poller.wake(),
        onError,
      }),
    }
  }

  /** The flags of the shards that this node does not own: their tasks are left to the node that does. */
  #forbidden(): readonly string[] {
    const owned = this.#options.shards.owned()
    return owned === null ? [] : ALL_SHARDS.filter((shard) => !owned.includes(shard)).map(flagOfShard)
  }

  #work(task: Task, stopped: AbortSignal): Work {
    const { clock } = this.#options
    const never = new AbortController().signal
    return async ({ payload, number, again }) => {
      const { id = '', due = 0 } = payload as Payload
      const earlyMs = due - clock.now()
      if (earlyMs > 0) return await again(Math.min(earlyMs, EARLY_MAX_MS))
      await task.run(id, { signal: task.workers === undefined ? never : stopped, attempt: number })
      if (stopped.aborted && !this.#stopped) throw new TaskLost(task.name)
    }
  }

  /** Another node may begin the tasks in progress here. */
  #lost(): void {
    for (const { pool, stop } of this.#workers) {
      stop.abort()
      pool.cut()
    }
  }

  // ── Time
  // ────────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #look(): Promise<void> {
    const { database, clock } = this.#options
    const { due, nextMs } = await findDueTasks(database, { now: clock.now(), forbidden: this.#forbidden() })
    let left = 0
    for (const { tasks, pool } of this.#workers) {
      const count = tasks.reduce((sum, { name }) => sum + (due.get(name) ?? 0), 0)
      left += count
      if (count > 0) pool.notify(count)
    }
    const waitMs = left > 0 ? Math.min(BACKLOG_MS, nextMs ?? BACKLOG_MS) : nextMs
    this.#nextAt = waitMs === null ? null : clock.now() + waitMs
  }

  /** Runs the tasks of the calendar whose time the clock was moved over. */
  #jumped(): void {
    const { database, clock, onError } = this.#options
    const [from, to] = [this.#clockAt, clock.now()]
    this.#clockAt = to
    if (this.#workers.length === 0) return
    for (const name of this.#times.between(Math.max(from, to - DAY_MS - MINUTE_MS), to))
      addTask(database, { name, key: name, payload: {}, queue: null, flags: [], delayMs: 0 }).catch((error: unknown) =>
        onError(error, name),
      )
  }
}

/**
 * A pool of workers of graphile-worker that shares the node's own parts: the connections of its database, its listener.
 *
 * graphile-worker opens connections of its own only when it is given an address. It is given a pool instead, which is
 * `Connections`: statements go through the node's pool, and the connection on which it would LISTEN is an object that
 * is told by `notify` what the node's listener hears. So a node listens on one connection, and the node decides when
 * workers look for tasks: at rest they ask nothing. `runOnce` would serve too, but its pool has another name in every
 * run, so each run would take and give back a lock (task-locks.ts), and a long task would hold up the next run.
 */
import { EventEmitter } from 'node:events'
import {
  Logger,
  parseCronItems,
  run,
  type CronItem,
  type LogLevel,
  type Runner,
  type TaskList,
  type WorkerEvents,
} from 'graphile-worker'
import { HOUR_MS } from '../../lib/base/clock.ts'
import type { Database } from '../db/database.ts'
import { asPool, Connections } from './connections.ts'
import { TASK_SCHEMA } from './install-tasks.ts'
import { addTask } from './task-rows.ts'
import type { TaskLocks } from './task-locks.ts'

/** Workers look for tasks when they are notified; this is for the case that a look has failed. */
const POLL_MS = HOUR_MS
/** The time that tasks have to end when the pool stops. */
const STOP_MS = 5_000

/** One attempt at a task. */
export interface Attempt {
  readonly payload: unknown
  /** From 1 on. */
  readonly number: number
  /** Adds the task again, to be begun after a delay by the clock of Postgres, milliseconds. */
  again(delayMs: number): Promise<void>
}

export type Work = (attempt: Attempt) => Promise<void>

export interface TaskPoolOptions {
  readonly database: Database
  readonly locks: Pick<TaskLocks, 'hold' | 'release'>
  /** The work of each task that this pool takes, by name. */
  readonly works: Readonly<Record<string, Work>>
  /** The tasks that run by the calendar, each with its times as in a crontab, UTC. */
  readonly crons: Readonly<Record<string, string>>
  /** The number of tasks at a time. */
  readonly concurrency: number
  /** Returns the flags of tasks that are left to other nodes. */
  readonly forbidden: () => readonly string[]
  /**
   * Called when the end or the failure of a task was written. graphile-worker looks for the next task before that: a task
   * that waited in the same queue, or that begins again later, is found by the next look only.
   */
  readonly onResult: () => void
  readonly onError: (error: unknown, what: string) => void
}

export class TaskPool {
  readonly #options: TaskPoolOptions
  readonly #connections: Connections
  #runner: Runner | undefined
  #name: string | undefined
  #ended: Promise<void> = Promise.resolve()

  constructor(options: TaskPoolOptions) {
    this.#options = options
    this.#connections = new Connections(options.database, options.onResult)
  }

  /** Resolves when the workers have ended: by `stop`, or because a result could not be written. */
  get ended(): Promise<void> {
    return this.#ended
  }

  /** Starts the workers. @throws the driver's errors */
  async start(): Promise<void> {
    const { database, locks, works, crons, concurrency, forbidden, onError } = this.#options
    const events: WorkerEvents = new EventEmitter()
    // The pool is made before its workers ask for a connection, and none is given before the lock is held.
    events.on('pool:create', ({ workerPool }) => {
      this.#name = workerPool.id
      const held = locks.hold(workerPool.id)
      held.catch(() => this.cut())
      this.#connections.giveAfter(held)
    })
    const taskList: TaskList = Object.fromEntries(
      Object.entries(works).map(([name, work]) => [
        name,
        async (payload, { job, getQueueName }) =>
          await work({
            payload,
            number: job.attempts,
            again: async (delayMs) =>
              await addTask(database, {
                name,
                key: job.key ?? name,
                payload: payload as object,
                queue: await getQueueName(),
                flags: Object.keys(job.flags ?? {}),
                delayMs,
              }),
          }),
      ]),
    )
    const runner = await run({
      pgPool: asPool(this.#connections),
      schema: TASK_SCHEMA,
      taskList,
      parsedCronItems: parseCronItems(
        Object.entries(crons).map(
          ([task, match]): CronItem => ({ task, match, options: { jobKey: task, backfillPeriod: 0 } }),
        ),
      ),
      concurrency,
      forbiddenFlags: () => [...forbidden()],
      pollInterval: POLL_MS,
      events,
      noHandleSignals: true,
      logger: loggerTo(onError),
      preset: {
        worker: {
          gracefulShutdownAbortTimeout: STOP_MS,
          // Written after the work of the event loop's turn: a node that stalled hears first that it has lost its lock.
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        },
      },
    })
    this.#runner = runner
    this.#ended = runner.promise
      .catch((error: unknown) => onError(error, 'tasks'))
      .then(async () => {
        this.#connections.end()
        if (this.#name !== undefined) await locks.release(this.#name)
      })
  }

  /** Tells idle workers that this many tasks are due. */
  notify(count: number): void {
    this.#connections.notify(count)
  }

  /** Stops the workers; tasks that have begun have `STOP_MS` to end. */
  async stop(): Promise<void> {
    this.#connections.stop()
    // The runner may have ended by itself.
    await this.#runner?.stop().catch(() => undefined)
  }

  /** Stops because the lock is lost: no result of a task is written any more. */
  cut(): void {
    this.#connections.end()
    void this.stop()
  }
}

/** graphile-worker repeats what it does not achieve, so its errors are warnings here; the rest is silence. */
function loggerTo(onError: TaskPoolOptions['onError']): Logger {
  return new Logger(() => (level: LogLevel, message, meta) => {
    if (level === 'error') onError(meta?.['error'] ?? null, message)
  })
}

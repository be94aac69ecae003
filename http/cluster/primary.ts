/**
 * The primary: one process that starts the workers of a machine, restarts those that die, and ends with them. It serves
 * no request itself.
 *
 * Promises
 *  * The first worker starts alone: it migrates and seeds, and a setting that is wrong is said once. A start that fails
 *    ends all workers, and the primary with 1.
 *  * A worker that dies is replaced: at once when it had worked for STABLE_MS, else after a delay that doubles with each
 *    failure. When FAILED_STARTS_MAX starts in a row have failed and no worker takes requests, the primary ends with 1,
 *    so that the supervisor of the machine learns of it.
 *  * `stop` passes SIGTERM on; each worker finishes what it has accepted. Workers that still run after STOP_MS are
 *    killed, and the primary then ends with 1.
 *  * No worker outlives the primary: one that loses its channel to the primary ends.
 *
 * The primary accepts connections and deals them out to the workers that are free (node:cluster's round robin). The
 * other way is SO_REUSEPORT (`reusePort` of `listen`), where the kernel picks a worker by a hash of the addresses. Both
 * were measured on two busy cores with two workers that answer at once. SO_REUSEPORT is cheaper: a connection with one
 * request costs 77 µs of CPU instead of 129 µs. Neither is more even: of 64 connections that stay, the worker with more
 * had 33 to 40 in 20 runs with SO_REUSEPORT, and 32 to 42 with round robin, up to 63 in moments when the other worker was
 * kept from running. Round robin was chosen, because integrators and load balancers keep their connections, and
 *  * with SO_REUSEPORT a second service that is started on the port by mistake takes its part of the connections, where
 *    otherwise its start is refused;
 *  * connections in the queue of a worker that dies or stops are reset;
 *  * macOS and Windows have no SO_REUSEPORT that shares connections.
 */
import cluster, { type Worker } from 'node:cluster'
import type { Log } from '../../lib/base/log.ts'
import { type Listening, WORKER_VARIABLE } from './worker.ts'

/** A worker that has taken requests for this long did not fail because of its start. */
const STABLE_MS = 30_000
/** The delay before a worker that failed is started again; it doubles up to the greatest. */
const DELAY_MIN_MS = 200
const DELAY_MAX_MS = 10_000
/** About a minute: longer than a restart of Postgres or Redis. */
const FAILED_STARTS_MAX = 10
/** A worker ends itself after 9.5 s. */
const STOP_MS = 9_800

/** Settings and dependencies of the primary. */
export interface PrimaryOptions {
  /** How many workers there are. */
  readonly count: number
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
}

/** The place of a worker, which one process after another may have. */
interface Slot {
  readonly nth: number
  worker: Worker | null
  /** Whether the present process takes requests. */
  listening: boolean
  /** Times that the worker has ended early, in a row. */
  failures: number
  restart: NodeJS.Timeout | undefined
}

/** Returns the delay before a worker is started after so many failures in a row. */
export function restartDelayMs(failures: number): number {
  return failures === 0 ? 0 : Math.min(DELAY_MIN_MS * 2 ** (failures - 1), DELAY_MAX_MS)
}

/** The workers of one machine. */
export class Primary {
  readonly #log: PrimaryOptions['log']
  readonly #slots: readonly Slot[]
  readonly #ended = Promise.withResolvers<number>()
  #failedStarts = 0
  #started = false
  #code: number | null = null

  constructor({ count, log }: PrimaryOptions) {
    this.#log = log
    this.#slots = Array.from({ length: count }, (_, index) => ({
      nth: index + 1,
      worker: null,
      listening: false,
      failures: 0,
      restart: undefined,
    }))
  }

  /** Resolves with the exit code when all workers have ended for good. */
  get ended(): Promise<number> {
    return this.#ended.promise
  }

  /** Starts the workers. Returns what the first one prints, or null when the start was ended or a worker failed. */
  async start(): Promise<string | null> {
    const [first, ...others] = this.#slots
    const greeting = await this.#run(first as Slot)
    if (greeting === null) return null
    const rest = await Promise.all(others.map((slot) => this.#run(slot)))
    this.#started = !rest.includes(null)
    return this.#started ? greeting : null
  }

  /** Ends the workers, and with them the primary. `code` is the exit code when each of them ends properly. */
  stop(code = 0): void {
    if (this.#code !== null) return
    this.#code = code
    for (const { worker, restart } of this.#slots) {
      clearTimeout(restart)
      worker?.process.kill('SIGTERM')
    }
    setTimeout(() => {
      this.#code = 1
      for (const { worker } of this.#slots) worker?.process.kill('SIGKILL')
    }, STOP_MS).unref()
    this.#endWhenEmpty()
  }

  /** Starts the process of a worker. Resolves with its greeting when it takes requests, or null when it ends before. */
  #run(slot: Slot): Promise<string | null> {
    if (this.#code !== null) return Promise.resolve(null)
    const { nth } = slot
    const worker = cluster.fork({ [WORKER_VARIABLE]: `${nth}` })
    const begun = performance.now()
    slot.worker = worker
    slot.listening = false
    return new Promise((resolve) => {
      worker.on('message', (message: Partial<Listening> | null) => {
        if (message?.kind !== 'listening') return
        slot.listening = true
        this.#failedStarts = 0
        resolve(message.greeting ?? '')
      })
      const exited = (code: number | null, signal: string | null): void => {
        slot.worker = null
        if (!slot.listening) this.#failedStarts += 1
        const stable = slot.listening && performance.now() - begun >= STABLE_MS
        slot.failures = stable ? 0 : slot.failures + 1
        slot.listening = false
        this.#onExit(slot, code, signal)
        resolve(null)
      }
      worker.once('exit', exited)
      worker.on('error', (error) => {
        this.#log.error({ err: error, worker: nth }, 'a worker cannot be reached')
        // The system has refused the process, so there will be no exit.
        if (worker.process.pid === undefined) exited(null, null)
      })
    })
  }

  #onExit(slot: Slot, code: number | null, signal: string | null): void {
    const { nth } = slot
    if (this.#code !== null) {
      // A worker that was still starting has no handler for the signal, and has accepted nothing.
      if (code !== 0 && signal !== 'SIGTERM') this.#code = 1
      this.#endWhenEmpty()
      return
    }
    if (!this.#started) {
      this.stop(1)
      return
    }
    if (this.#failedStarts >= FAILED_STARTS_MAX && !this.#slots.some(({ listening }) => listening)) {
      this.#log.error({ failedStarts: this.#failedStarts }, 'no worker starts any more; the service ends')
      this.stop(1)
      return
    }
    const delayMs = restartDelayMs(slot.failures)
    this.#log.error({ ended: nth, code, signal, delayMs }, 'a worker has ended; another takes its place')
    slot.restart = setTimeout(() => {
      void this.#run(slot).then((greeting) => {
        if (greeting !== null) this.#log.warn({ started: nth }, 'a worker was started in place of one that ended')
      })
    }, delayMs)
  }

  #endWhenEmpty(): void {
    if (this.#slots.every(({ worker }) => worker === null)) this.#ended.resolve(this.#code ?? 1)
  }
}

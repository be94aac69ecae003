/**
 * The request log: remembers every authenticated call when it is answered, and writes many calls at a time.
 *
 * Promises
 *  * A call is visible in the log API_REQUEST_LOG_FLUSH_MS after its answer, or sooner when there are many calls.
 *  * No request waits for the log: a call adds one object to an array. For the cost see http/access/rate-limits.ts.
 *  * The log is bounded (I8): while Postgres does not accept it, up to PENDING_MAX calls are kept; later calls are
 *    counted as dropped. A failed batch is sent again; a batch that was written although its answer was lost counts
 *    twice.
 *  * All remembered calls are written before the service stops.
 */
import type { Middleware } from 'koa'
import type { Clock } from '../../lib/base/clock.ts'
import type { LoggedRequest } from '../../storage/integration/write-requests.ts'
import type { Pass } from './rate-limits.ts'
import type { Route } from '../route/route.ts'

/**
 * Calls in one statement. Rendering this many takes the event loop about 2 ms, the longest that others may wait for it.
 */
const BATCH_MAX = 1_000
/** Calls kept while Postgres does not accept them: ten seconds of a busy node, some 10 MB. */
const PENDING_MAX = 50_000

/** Settings and dependencies of the request log. */
export interface RequestLogOptions {
  readonly write: (requests: readonly LoggedRequest[]) => Promise<void>
  readonly flushMs: number
  readonly onError: (error: unknown, what: string) => void
}

/** The request log of one node. */
export class RequestLog {
  readonly #options: RequestLogOptions
  readonly #timer: NodeJS.Timeout
  #pending: LoggedRequest[] = []
  #writing: Promise<void> | null = null
  #failed = false
  #written = 0
  #dropped = 0

  constructor(options: RequestLogOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.flush(), options.flushMs)
    this.#timer.unref()
  }

  /** Calls written and calls dropped so far, and calls that wait. */
  get counters(): { readonly written: number; readonly dropped: number; readonly pending: number } {
    return { written: this.#written, dropped: this.#dropped, pending: this.#pending.length }
  }

  /** Remembers a call. */
  add(request: LoggedRequest): void {
    if (this.#pending.length >= PENDING_MAX) {
      this.#dropped += 1
      return
    }
    this.#pending.push(request)
    // After a failed write the timer retries; the next call does not.
    if (this.#pending.length >= BATCH_MAX && this.#writing === null && !this.#failed) void this.flush()
  }

  /**
   * Writes all remembered calls. Resolves when they are written, or when a batch has failed and waits for the next
   * flush.
   */
  async flush(): Promise<void> {
    while (this.#writing !== null) await this.#writing
    if (this.#pending.length === 0) return
    this.#writing = this.#writeAll()
    await this.#writing
  }

  /** Writes the remaining calls and stops. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }

  async #writeAll(): Promise<void> {
    let left = this.#pending.length
    try {
      while (left > 0) {
        const batch = this.#pending.slice(0, Math.min(left, BATCH_MAX))
        await this.#options.write(batch)
        this.#pending = this.#pending.slice(batch.length)
        this.#written += batch.length
        left -= batch.length
      }
      this.#failed = false
    } catch (error) {
      this.#failed = true
      this.#options.onError(error, 'the request log could not be written; it will be tried again')
    } finally {
      this.#writing = null
    }
  }
}

/** The account of a call: the caller and the operation, and the pass whose limits must still be settled. */
export interface AuthenticatedCall {
  readonly route: Pick<Route, 'operationId' | 'method' | 'path'>
  readonly kind: 'key' | 'session'
  readonly principalId: string
  readonly tenantId: string
  pass: Pass | null
}

/** Closes the account of each authenticated call when it has been answered: settles its limits, and logs the call. */
export function accounting(log: RequestLog | null, clock: Clock): Middleware {
  return async (context, next) => {
    const started = performance.now()
    try {
      await next()
    } finally {
      const account = context.state['account'] as AuthenticatedCall | undefined
      if (account !== undefined) {
        const status = context.res.statusCode
        account.pass?.settle(status)
        if (log !== null) {
          const { route, kind, principalId, tenantId } = account
          log.add({
            at: clock.now(),
            byKey: kind === 'key',
            principalId,
            tenantId,
            operationId: route.operationId,
            method: route.method.toUpperCase(),
            route: route.path,
            status,
            durationMs: performance.now() - started,
            requestId: context.state['requestId'] as string,
          })
        }
      }
    }
  }
}

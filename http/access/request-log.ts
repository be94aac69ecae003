/**
 * The request log: every authenticated call is remembered on its way out and written later, many at a time.
 *
 * What it promises
 *  * A call is seen in the log API_REQUEST_LOG_FLUSH_MS after it was answered, or sooner when there are many.
 *  * Nothing waits for it: a call adds one object to an array. Measured with the limits, see http/access/rate-limits.ts.
 *  * Bounded (I8): while the database does not take the log, up to PENDING_MAX calls are kept and later ones are counted
 *    as dropped. A batch that failed is sent again; one that had been written although its answer was lost counts twice.
 *  * Everything remembered is written before the service stops.
 */
import type { Middleware } from 'koa'
import type { Clock } from '../../lib/base/clock.ts'
import type { LoggedRequest } from '../../storage/integration/request-log.ts'
import type { Pass } from './rate-limits.ts'
import type { Route } from '../route/route.ts'

/** Calls in one statement. Rendering this many takes the event loop about 2 ms, which is as long as anybody may wait. */
const BATCH_MAX = 1_000
/** Calls kept while the database does not take them: ten seconds of a busy node, some 10 MB. */
const PENDING_MAX = 50_000

export interface RequestLogOptions {
  readonly write: (requests: readonly LoggedRequest[]) => Promise<void>
  readonly flushMs: number
  readonly onError: (error: unknown, what: string) => void
}

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

  /** Calls written and calls dropped so far, and those that wait. */
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
    // After a failure the timer decides when to try again, not the next call.
    if (this.#pending.length >= BATCH_MAX && this.#writing === null && !this.#failed) void this.flush()
  }

  /** Writes what is remembered now. Resolves when it is written, or when a batch has failed and waits for the next time. */
  async flush(): Promise<void> {
    while (this.#writing !== null) await this.#writing
    if (this.#pending.length === 0) return
    this.#writing = this.#writeAll()
    await this.#writing
  }

  /** Writes the rest and stops. */
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

/** What an endpoint leaves for the way out: who called what, and what its limits still have to be told. */
export interface Account {
  readonly route: Pick<Route, 'operationId' | 'method' | 'path'>
  readonly kind: 'key' | 'session'
  readonly principalId: string
  readonly tenantId: string
  pass: Pass | null
}

/** Closes the account of each authenticated call when it has been answered: its limits are told, and it is logged. */
export function accounting(log: RequestLog | null, clock: Clock): Middleware {
  return async (context, next) => {
    const started = performance.now()
    try {
      await next()
    } finally {
      const account = context.state['account'] as Account | undefined
      if (account !== undefined) {
        const status = context.res.statusCode
        account.pass?.settle(status)
        if (log !== null) {
          const { route, kind, principalId, tenantId } = account
          log.add({
            at: clock.now(), byKey: kind === 'key', principalId, tenantId, operationId: route.operationId, method: route.method.toUpperCase(), route: route.path,
            status, durationMs: performance.now() - started, requestId: context.state['requestId'] as string,
          })
        }
      }
    }
  }
}

/**
 * Admission: what cannot be answered soon is refused at once, before anything is read, parsed or authenticated.
 *
 * Without it a flood is accepted, waits in queues, and is answered after its callers have given up. With it the accepted
 * keep the latency they have at the peak, and the rest hear 503 with Retry-After within milliseconds (I8).
 *
 * Two measures: commands under way (each holds memory and a place in a mailbox), and how late the event loop runs (what is
 * accepted while it is late makes everybody later). Reads and health checks are refused only for the second.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

/** Commands under way at a time. At 4 000 a second this is 60 ms of work: two commits' worth, enough to fill every commit. */
const COMMANDS_MAX = 256
/**
 * And from the first refusal until nobody was refused for a while: to turn a flood away takes half of the thread, so whatever is
 * let in makes the refused wait as well. In floods of three times the peak (two cores that Postgres and the flood share, 6 s each;
 * p99 of what was accepted as a multiple of the peak's, p99 of a refusal, and how many were accepted of those at the peak):
 * 64: 0.9 to 2.5, 55 to 168 ms, 0.3 to 0.6; 32: 0.5 and 0.7, 35 and 69 ms, 0.3 and 0.6; 16: 0.1 to 0.4, 19, 20, 52 and 61 ms,
 * 0.3 to 0.6; 8: 0.2, 21 ms, 0.3.
 */
const COMMANDS_MAX_IN_OVERLOAD = 16
const CALM_MS = 1_000
/** How late timers may run before new work is refused, milliseconds. A busy loop of ours runs 5 to 15 ms late. */
const LOOP_DELAY_MAX_MS = 150
/** Timers are looked at this often; one that is late may be a single long turn, three in a row are an overload. */
const LOOP_LOOK_MS = 100
const LATE_LOOKS = 3
const RETRY_AFTER_SECONDS = 1

export interface Admission {
  readonly listener: RequestListener
  /** Commands under way, and requests refused so far. */
  readonly counters: { underWay: number; refused: number }
  close(): void
}

export interface AdmissionOptions {
  /** The body of the 503 for a request path. */
  readonly refusal: (path: string) => { readonly body: string; readonly requestId: string }
  /** False takes requests however late the event loop runs. */
  readonly refuseWhenLate?: boolean
}

/** Puts admission in front of a listener. */
export function createAdmission(next: RequestListener, { refusal, refuseWhenLate = true }: AdmissionOptions): Admission {
  const counters = { underWay: 0, refused: 0 }
  // Not node's own histogram of delays: reset, it needs two turns for a sample, so it has none just when turns are longest.
  let due = performance.now() + LOOP_LOOK_MS
  let lateLooks = 0
  let overloadedUntil = 0
  const look = setInterval(() => {
    const now = performance.now()
    lateLooks = now - due > LOOP_DELAY_MAX_MS ? lateLooks + 1 : 0
    due = now + LOOP_LOOK_MS
  }, LOOP_LOOK_MS)
  look.unref()

  function isFull(): boolean {
    if (counters.underWay < COMMANDS_MAX_IN_OVERLOAD) return false
    const now = performance.now()
    if (counters.underWay < COMMANDS_MAX && now >= overloadedUntil) return false
    overloadedUntil = now + CALM_MS
    return true
  }

  function refuse(request: IncomingMessage, response: ServerResponse): void {
    counters.refused += 1
    const { body, requestId } = refusal(request.url ?? '/')
    response.writeHead(503, ['Content-Type', 'application/problem+json', 'Content-Length', `${Buffer.byteLength(body)}`, 'Content-Language', 'en',
      'Cache-Control', 'no-store', 'Retry-After', `${RETRY_AFTER_SECONDS}`, 'X-Request-Id', requestId])
    response.end(body)
    // The body was not read; a small one is skipped, a large one is not worth the connection.
    request.resume()
  }

  return {
    counters,
    listener(request, response) {
      const command = request.method !== 'GET' && request.method !== 'HEAD'
      if (command && isFull()) { refuse(request, response); return }
      if (refuseWhenLate && lateLooks >= LATE_LOOKS && !isHealthCheck(request.url)) { refuse(request, response); return }
      if (command) {
        counters.underWay += 1
        response.once('close', () => { counters.underWay -= 1 })
      }
      next(request, response)
    },
    close() {
      clearInterval(look)
    },
  }
}

const isHealthCheck = (url: string | undefined): boolean => url === '/health' || url === '/ready' || url === '/v1/health' || url === '/v1/ready'

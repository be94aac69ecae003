/**
 * Admission: commands that cannot be answered soon are refused at once, and no caller takes the places of the others.
 *
 * Without it a flood is accepted, waits in queues, and is answered after its callers have given up. With it the accepted
 * keep the latency they have at the peak, and the rest hear 503 with Retry-After within milliseconds (I8).
 *
 * What it promises
 *  * A command is under way from the moment when its caller is known, its limits were asked and its body has arrived whole,
 *    until its answer is handed to the socket. What still arrives is not under way (http/access/arrivals.ts).
 *  * When the node is full, tenants that hold more than their share are refused, and within a tenant keys and people that hold
 *    more than theirs; the others get in (lib/security/fair-share.ts).
 *  * An overload is a node that is full while its event loop is busy. It ends when the loop has been idle enough for CALM_MS,
 *    or when nobody was refused for as long; refusals alone neither begin nor prolong it.
 *  * While the node is full, commands of a key that this node knows are refused before anything of them is read. While the event
 *    loop is late so is every request, since whatever is accepted then makes everybody later: but for health checks, and commands
 *    of keys that this node knows and that hold less than their share of the places of an overload.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import { FairShare, type Party } from '../../lib/security/fair-share.ts'
import { refuse } from '../../lib/base/problems.ts'

/** Commands under way at a time. At 4 000 a second this is 60 ms of work: two commits' worth, enough to fill every commit. */
const COMMANDS_MAX = 256
/**
 * And in an overload: to turn a flood away takes half of the thread, so whatever is
 * let in makes the refused wait as well. In floods of three times the peak (two cores that Postgres and the flood share, 6 s each;
 * p99 of what was accepted as a multiple of the peak's, p99 of a refusal, and how many were accepted of those at the peak):
 * 64: 0.9 to 2.5, 55 to 168 ms, 0.3 to 0.6; 32: 0.5 and 0.7, 35 and 69 ms, 0.3 and 0.6; 16: 0.1 to 0.4, 19, 20, 52 and 61 ms,
 * 0.3 to 0.6; 8: 0.2, 21 ms, 0.3.
 */
const COMMANDS_MAX_IN_OVERLOAD = 16
/**
 * Not even a tenant without any command under way gets in beyond this. Tenants that come one after the other while all before
 * them still hold their share come to COMMANDS_MAX × (1 + 1/2 + 1/3 …): this is reached by some thirty of them.
 */
const COMMANDS_CEILING = 4 * COMMANDS_MAX
/** An overload ends after so long without one look at which the loop was busy and somebody was refused. */
const CALM_MS = 1_000
/** Part of the time between two looks that the event loop was not idle. A flood keeps it at 1.0, slow clients below 0.1. */
const BUSY_UTILIZATION = 0.75
/** How late timers may run before new work is refused, milliseconds. A busy loop of ours runs 5 to 15 ms late. */
const LOOP_DELAY_MAX_MS = 150
/** Timers and utilization are looked at this often; one that is late may be a single long turn, three in a row are an overload. */
const LOOP_LOOK_MS = 100
const LATE_LOOKS = 3
const RETRY_AFTER_SECONDS = 1

/** The places of commands. */
export interface CommandPlaces {
  /** Takes a place. @throws ProblemError `service-unavailable` when the node is full and the party holds its share */
  enter(party: Party): void
  /** Refuses a party as `enter` would, and takes nothing: before a file is read, which nobody wants to send twice. */
  check(party: Party): void
  /** Takes a place without asking: for a command whose file has been read. */
  enterAnyway(party: Party): void
  /** Gives a place back. */
  leave(party: Party): void
}

export interface Admission extends CommandPlaces {
  /** Puts the gate in front of a listener. `partyOf` is whose request it is as far as is known without asking Postgres, or null. */
  guard(next: RequestListener, partyOf: (request: IncomingMessage) => Party | null): RequestListener
  /** Commands under way, requests refused so far, and whether this node is in an overload. */
  readonly counters: { readonly underWay: number; readonly refused: number; readonly overloaded: boolean }
  close(): void
}

export interface AdmissionOptions {
  /** The body of the 503 for a request path. */
  readonly refusal: (path: string) => { readonly body: string; readonly requestId: string }
  /** What becomes of the rest of the body of a request that was refused before it was read. */
  readonly linger?: (request: IncomingMessage) => void
  /** False takes requests however late the event loop runs. */
  readonly refuseWhenLate?: boolean
  /** The part of the time since it was last called that the event loop was not idle, 0 to 1. */
  readonly utilization?: () => number
}

/** Says with each call how busy the event loop was since the one before. */
function utilizationOfLoop(): () => number {
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return utilization
  }
}

/** The admission of one node. */
export function createAdmission({ refusal, linger = (request) => request.resume(), refuseWhenLate = true, utilization = utilizationOfLoop() }: AdmissionOptions): Admission {
  const places = new FairShare(COMMANDS_CEILING)
  let refused = 0
  // Not node's own histogram of delays: reset, it needs two turns for a sample, so it has none just when turns are longest.
  let due = performance.now() + LOOP_LOOK_MS
  let lateLooks = 0
  let busy = false
  let overloaded = false
  let refusedSinceLook = false
  let calmLooks = 0
  const look = setInterval(() => {
    const now = performance.now()
    lateLooks = now - due > LOOP_DELAY_MAX_MS ? lateLooks + 1 : 0
    due = now + LOOP_LOOK_MS
    busy = utilization() >= BUSY_UTILIZATION
    calmLooks = busy && refusedSinceLook ? 0 : calmLooks + 1
    if (calmLooks * LOOP_LOOK_MS >= CALM_MS) overloaded = false
    refusedSinceLook = false
  }, LOOP_LOOK_MS)
  look.unref()

  const capacity = (): number => (overloaded ? COMMANDS_MAX_IN_OVERLOAD : COMMANDS_MAX)

  function isRefused(party: Party): boolean {
    if (!places.refuses(capacity(), party)) return false
    refused += 1
    refusedSinceLook = true
    if (busy && !overloaded) {
      overloaded = true
      calmLooks = 0
    }
    return true
  }

  function check(party: Party): void {
    if (isRefused(party)) refuse('service-unavailable', TOO_MANY, { retryAfterSeconds: RETRY_AFTER_SECONDS })
  }

  function turnAway(request: IncomingMessage, response: ServerResponse): void {
    const { body, requestId } = refusal(request.url ?? '/')
    response.writeHead(503, ['Content-Type', 'application/problem+json', 'Content-Length', `${Buffer.byteLength(body)}`, 'Content-Language', 'en',
      'Cache-Control', 'no-store', 'Retry-After', `${RETRY_AFTER_SECONDS}`, 'X-Request-Id', requestId])
    response.end(body)
    // The body was not read; a small one is skipped, a large one is not worth the connection.
    linger(request)
  }

  return {
    get counters() { return { underWay: places.held, refused, overloaded } },
    check,
    enter(party) {
      check(party)
      places.enter(party)
    },
    enterAnyway: (party) => places.enter(party),
    leave: (party) => places.leave(party),
    guard: (next, partyOf) => (request, response) => {
      const command = request.method !== 'GET' && request.method !== 'HEAD'
      if (refuseWhenLate && lateLooks >= LATE_LOOKS && !isHealthCheck(request.url)) {
        const party = command ? partyOf(request) : null
        if (party === null || places.refuses(COMMANDS_MAX_IN_OVERLOAD, party)) {
          refused += 1
          turnAway(request, response)
          return
        }
      }
      // Whose command it is costs 1.5 µs to find out, so only a full node asks.
      if (command && places.held >= capacity()) {
        const party = partyOf(request)
        if (party !== null && isRefused(party)) { turnAway(request, response); return }
      }
      next(request, response)
    },
    close() {
      clearInterval(look)
    },
  }
}

/** What a caller is told. */
export const TOO_MANY = 'Too many requests are under way. Send the same request again shortly.'

const isHealthCheck = (url: string | undefined): boolean => url === '/health' || url === '/ready' || url === '/v1/health' || url === '/v1/ready'

/**
 * Admission: refuses at once a command that cannot be answered soon, and keeps one caller from taking all places.
 *
 * Without admission a flood is accepted, waits in queues, and is answered after its callers have given up. With it,
 * accepted commands keep the latency that they have at the peak, and the others get 503 with Retry-After within
 * milliseconds (I8).
 *
 * Promises
 *  * A command is under way from the moment when its caller is known, its limits were checked and its body has arrived
 *    whole, until its answer is handed to the socket. While its body arrives it is not under way
 *    (http/access/arrivals.ts).
 *  * When the node is full, it refuses tenants that hold more than their share of the places, and within a tenant the
 *    keys and people that hold more than theirs; the others are admitted (lib/security/fair-share.ts).
 *  * An overload is a node that is full while its event loop is busy. The overload ends when, for CALM_MS, the loop was
 *    idle enough or no command was refused. Refusals alone neither begin nor prolong an overload.
 *  * While the node is full, a refused command of a key that this node knows is refused before its body is read.
 *  * While the event loop runs late, every request is refused, because each accepted request delays all others.
 *    Exceptions are health checks, and commands of keys that this node knows and that hold less than their share of the
 *    places of an overload.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import { FairShare, type Party } from '../../lib/security/fair-share.ts'
import { refuse } from '../../lib/base/problems.ts'

/**
 * Commands under way at a time. At 4 000 a second this is 60 ms of work: two commits' worth, enough to fill every
 * commit.
 */
const COMMANDS_MAX = 256
/**
 * Commands under way at a time during an overload. Refusing a flood takes half of the thread, so each accepted command
 * also delays the refusals. Measured in floods of three times the peak (two cores shared with Postgres and the flood,
 * 6 s each). For each value: p99 of the accepted commands as a multiple of the p99 at the peak; p99 of a refusal;
 * accepted commands as a fraction of those accepted at the peak.
 *  * 64: 0.9 to 2.5; 55 to 168 ms; 0.3 to 0.6
 *  * 32: 0.5 and 0.7; 35 and 69 ms; 0.3 and 0.6
 *  * 16: 0.1 to 0.4; 19, 20, 52 and 61 ms; 0.3 to 0.6
 *  * 8: 0.2; 21 ms; 0.3
 */
const COMMANDS_MAX_IN_OVERLOAD = 16
/**
 * Places beyond which every command is refused, also of a tenant without any command under way. Tenants that arrive one
 * after the other, while all earlier tenants still hold their share, take COMMANDS_MAX × (1 + 1/2 + 1/3 …) places
 * together: some thirty tenants reach this ceiling.
 */
const COMMANDS_CEILING = 4 * COMMANDS_MAX
/** An overload ends after this time without a check that found the loop busy and a command refused since the last. */
const CALM_MS = 1_000
/**
 * Busy fraction of the event loop between two checks from which it counts as busy. Flood: 1.0; slow clients: below 0.1.
 */
const BUSY_UTILIZATION = 0.75
/** Lateness of timers from which new requests are refused, milliseconds. A busy loop here runs 5 to 15 ms late. */
const LOOP_DELAY_MAX_MS = 150
/**
 * Time between two checks of lateness and utilization. One late check may be a single long turn; only LATE_LOOKS late
 * checks in a row refuse requests.
 */
const LOOP_LOOK_MS = 100
const LATE_LOOKS = 3
const RETRY_AFTER_SECONDS = 1

/** The places of commands under way on one node. */
export interface CommandPlaces {
  /** Takes a place. @throws ProblemError `service-unavailable` when the node is full and the party holds its share */
  enter(party: Party): void
  /**
   * Refuses a party as `enter` would, but takes no place: for use before a file is read, so that it is not sent twice.
   */
  check(party: Party): void
  /**
   * Takes a place for a command that another node has forwarded; it is also refused while the event loop runs late.
   *
   * @throws ProblemError `service-unavailable`
   */
  enterForwarded(party: Party): void
  /** Takes a place without a check: for a command whose file has already been read. */
  enterAnyway(party: Party): void
  /** Gives a place back. */
  leave(party: Party): void
}

/** The admission of one node. */
export interface Admission extends CommandPlaces {
  /**
   * Puts admission in front of a listener. `partyOf`: the request's party if known without a query to Postgres, else
   * null.
   */
  guard(next: RequestListener, partyOf: (request: IncomingMessage) => Party | null): RequestListener
  /** Commands under way, requests refused so far, and whether this node is in an overload. */
  readonly counters: { readonly underWay: number; readonly refused: number; readonly overloaded: boolean }
  close(): void
}

/** Settings and dependencies of an admission. */
export interface AdmissionOptions {
  /** The body of the 503 for a request path. */
  readonly refusal: (path: string) => { readonly body: string; readonly requestId: string }
  /** Disposes of the rest of a body whose request was refused before the body was read. */
  readonly linger?: (request: IncomingMessage) => void
  /** False accepts requests however late the event loop runs. */
  readonly refuseWhenLate?: boolean
  /** Returns the fraction of the time since its last call in which the event loop was not idle, 0 to 1. */
  readonly utilization?: () => number
}

/** Makes a function that returns how busy the event loop was since its last call. */
function utilizationOfLoop(): () => number {
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return utilization
  }
}

/** Builds the admission of one node. */
export function createAdmission({
  refusal,
  linger = (request) => request.resume(),
  refuseWhenLate = true,
  utilization = utilizationOfLoop(),
}: AdmissionOptions): Admission {
  const places = new FairShare(COMMANDS_CEILING)
  let refused = 0
  // Node's own histogram of delays is not used: after a reset it needs two turns for a sample, so it has none while
  // turns are longest.
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

  /** Tells whether the event loop runs so late that a party is refused; null means an unknown party. */
  function isLateFor(party: () => Party | null): boolean {
    if (!refuseWhenLate || lateLooks < LATE_LOOKS) return false
    const known = party()
    return known === null || places.refuses(COMMANDS_MAX_IN_OVERLOAD, known)
  }

  function check(party: Party): void {
    if (isRefused(party)) refuse('service-unavailable', TOO_MANY, { retryAfterSeconds: RETRY_AFTER_SECONDS })
  }

  function turnAway(request: IncomingMessage, response: ServerResponse): void {
    answerRefusal(response, refusal(request.url ?? '/'))
    // The body was not read. A small rest is skipped; for a large rest the connection is closed.
    linger(request)
  }

  return {
    get counters() {
      return { underWay: places.held, refused, overloaded }
    },
    check,
    enter(party) {
      check(party)
      places.enter(party)
    },
    enterForwarded(party) {
      if (isLateFor(() => party)) {
        refused += 1
        refuse('service-unavailable', TOO_MANY, { retryAfterSeconds: RETRY_AFTER_SECONDS })
      }
      check(party)
      places.enter(party)
    },
    enterAnyway: (party) => places.enter(party),
    leave: (party) => places.leave(party),
    guard: (next, partyOf) => (request, response) => {
      const command = request.method !== 'GET' && request.method !== 'HEAD'
      if (isLateFor(() => (command ? partyOf(request) : null)) && !isHealthCheck(request.url)) {
        refused += 1
        turnAway(request, response)
        return
      }
      // Finding the party costs 1.5 µs, so only a full node looks for it.
      if (command && places.held >= capacity()) {
        const party = partyOf(request)
        if (party !== null && isRefused(party)) {
          turnAway(request, response)
          return
        }
      }
      next(request, response)
    },
    close() {
      clearInterval(look)
    },
  }
}

function answerRefusal(response: ServerResponse, { body, requestId }: ReturnType<AdmissionOptions['refusal']>): void {
  response.writeHead(503, [
    'Content-Type',
    'application/problem+json',
    'Content-Length',
    `${Buffer.byteLength(body)}`,
    'Content-Language',
    'en',
    'Cache-Control',
    'no-store',
    'Retry-After',
    `${RETRY_AFTER_SECONDS}`,
    'X-Request-Id',
    requestId,
  ])
  response.end(body)
}

/** Detail of the 503 for a refused command. */
export const TOO_MANY = 'Too many requests are under way. Send the same request again shortly.'

const isHealthCheck = (url: string | undefined): boolean =>
  url === '/health' || url === '/ready' || url === '/v1/health' || url === '/v1/ready'

/** The place of one command among those under way: taken at most once, and given back when the command is answered. */
export class Place {
  readonly #places: CommandPlaces
  #party: Party | null = null

  constructor(places: CommandPlaces) {
    this.#places = places
  }

  /** @throws ProblemError `service-unavailable` */
  check(party: Party): void {
    this.#places.check(party)
  }

  /** @throws ProblemError `service-unavailable` */
  enter(party: Party): void {
    this.#places.enter(party)
    this.#party = party
  }

  /** @throws ProblemError `service-unavailable` */
  enterForwarded(party: Party): void {
    this.#places.enterForwarded(party)
    this.#party = party
  }

  enterAnyway(party: Party): void {
    this.#places.enterAnyway(party)
    this.#party = party
  }

  leave(): void {
    if (this.#party !== null) this.#places.leave(this.#party)
    this.#party = null
  }
}

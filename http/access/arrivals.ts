/**
 * Bodies of requests while they arrive: how many may arrive at a time, and how slowly.
 *
 * Promises
 *  * A request whose body is still arriving is not a command under way (http/access/admission.ts). It holds a place
 *    among the arriving bodies. These places are shared fairly by tenant and key, or by address for callers who are not
 *    signed in, so a caller that holds many places does not keep others out.
 *  * A body must begin within GRACE_MS, and from then on arrive at BYTES_PER_SECOND_MIN or faster. Otherwise the client
 *    gets 408 and the connection is closed. Time in which this node does not read, or does not run, does not count.
 *  * The rest of a body after its answer has LINGER_MS to arrive; then the connection is closed.
 *  * A body that arrives together with its headers, as nearly all bodies do, is read however many others of its party
 *    are arriving.
 */
import type { IncomingMessage } from 'node:http'
import { FairShare, type Party } from '../../lib/security/fair-share.ts'
import { ProblemError, refuse } from '../../lib/base/problems.ts'

/** JSON bodies that arrive at a time: at 256 KiB each 128 MiB in the worst case. */
const BODIES_MAX = 512
/**
 * Files that arrive at a time. Each holds some 400 KiB between socket and storage, and queries Postgres every 256 KiB.
 */
const UPLOADS_MAX = 64
/** Multiple of the maximum that later parties may reach in total while the earlier parties still hold their places. */
const CEILING = 4
const GRACE_MS = 5_000
/** 256 KiB in one minute, which is the time the server allows for a whole request (http/server/server.ts). */
const BYTES_PER_SECOND_MIN = 4_096
/** Time for the rest of a body after its answer: enough for a small rest; for a large one the connection is closed. */
const LINGER_MS = 5_000
const LOOK_MS = 250
const RETRY_AFTER_SECONDS = 1

/** Time limits for clients; only tests set shorter ones. */
export interface ArrivalPatience {
  readonly graceMs?: number
  readonly lingerMs?: number
  readonly lookMs?: number
}

interface Arrival {
  readonly request: IncomingMessage
  readonly connectionBytes: number
  /** Checks so far at which this node was waiting for the client. */
  looks: number
  readonly late: () => void
}

/** The bodies that are arriving at one node. */
export class Arrivals {
  readonly #bodies = new FairShare(BODIES_MAX * CEILING)
  readonly #uploads = new FairShare(UPLOADS_MAX * CEILING)
  readonly #arriving = new Set<Arrival>()
  readonly #leftOver = new Map<IncomingMessage, number>()
  readonly #graceMs: number
  readonly #lingerMs: number
  readonly #lookMs: number
  #timer: NodeJS.Timeout | null = null

  constructor({ graceMs = GRACE_MS, lingerMs = LINGER_MS, lookMs = LOOK_MS }: ArrivalPatience = {}) {
    this.#graceMs = graceMs
    this.#lingerMs = lingerMs
    this.#lookMs = lookMs
  }

  /** JSON bodies and files that are arriving now. */
  get counters(): { readonly bodies: number; readonly uploads: number } {
    return { bodies: this.#bodies.held, uploads: this.#uploads.held }
  }

  /**
   * Reads the rest of a JSON body with `read`, which must begin to read at once.
   *
   * @throws ProblemError `service-unavailable` when too many bodies of this party are arriving, `request-timeout` when
   *   the body is too slow; and every error of `read`
   */
  body<Result>(request: IncomingMessage, party: Party, read: () => Promise<Result>): Promise<Result> {
    return request.complete ? read() : this.#wait(this.#bodies, BODIES_MAX, { request, party, read, onLate: undefined })
  }

  /** Does the same for a form with a file. `onLate` stops the consumer of the file. */
  upload<Result>(
    request: IncomingMessage,
    party: Party,
    read: () => Promise<Result>,
    onLate: (error: Error) => void,
  ): Promise<Result> {
    return this.#wait(this.#uploads, UPLOADS_MAX, { request, party, read, onLate })
  }

  /** Gives the rest of an answered request's body LINGER_MS to arrive, so that the connection can be used again. */
  linger(request: IncomingMessage): void {
    if (request.complete || request.destroyed) return
    this.#leftOver.set(request, 0)
    this.#watch()
  }

  async #wait<Result>(
    share: FairShare,
    capacity: number,
    {
      request,
      party,
      read,
      onLate,
    }: {
      readonly request: IncomingMessage
      readonly party: Party
      readonly read: () => Promise<Result>
      readonly onLate: ((error: Error) => void) | undefined
    },
  ): Promise<Result> {
    if (share.refuses(capacity, party)) {
      // Bytes that came together with the headers are available once the HTTP parser has ended its turn.
      await new Promise(setImmediate)
      if (request.complete) return await read()
      refuse(
        'service-unavailable',
        'Too many requests of this caller are still sending their bodies. Send the same request again shortly.',
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      )
    }
    share.enter(party)
    let arrival: Arrival | undefined
    try {
      return await new Promise<Result>((resolve, reject) => {
        arrival = {
          request,
          connectionBytes: request.socket.bytesRead,
          looks: 0,
          late: () => {
            const error = new ProblemError({ slug: 'request-timeout', detail: 'The body arrived too slowly.' })
            onLate?.(error)
            reject(error)
          },
        }
        this.#arriving.add(arrival)
        this.#watch()
        read().then(resolve, reject)
      })
    } finally {
      this.#arriving.delete(arrival as Arrival)
      share.leave(party)
    }
  }

  #watch(): void {
    if (this.#timer !== null) return
    this.#timer = setInterval(() => this.#look(), this.#lookMs)
    this.#timer.unref()
  }

  #look(): void {
    for (const arrival of this.#arriving) {
      const { request } = arrival
      // The body is complete, or bytes of it wait to be read: this node is not waiting for the client.
      if (request.complete || request.readableLength > 0) continue
      if (request.destroyed) {
        arrival.late()
        continue
      }
      arrival.looks += 1
      const seconds = (arrival.looks * this.#lookMs - this.#graceMs) / 1_000
      if (seconds >= 0 && request.socket.bytesRead - arrival.connectionBytes <= seconds * BYTES_PER_SECOND_MIN)
        arrival.late()
    }
    for (const [request, looks] of this.#leftOver) {
      if (request.complete || request.destroyed) this.#leftOver.delete(request)
      else if ((looks + 1) * this.#lookMs < this.#lingerMs) this.#leftOver.set(request, looks + 1)
      else {
        this.#leftOver.delete(request)
        request.socket.destroy()
      }
    }
    if (this.#arriving.size === 0 && this.#leftOver.size === 0) {
      clearInterval(this.#timer as NodeJS.Timeout)
      this.#timer = null
    }
  }
}

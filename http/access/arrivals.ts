/**
 * Bodies that have not arrived yet: what each of them may take, and until when.
 *
 * What it promises
 *  * A request whose body is still arriving is no command under way (http/access/admission.ts). It has a place among those that arrive,
 *    shared fairly by tenant and key, or by address where nobody is signed in: who holds many places keeps nobody else out.
 *  * A body has GRACE_MS to begin, and from then on arrives at BYTES_PER_SECOND_MIN or faster; otherwise its client hears 408
 *    and the connection is closed. Time in which this node does not read, or does not run, is not held against the client.
 *  * What is left of a body after its answer has LINGER_MS to arrive; then the connection is closed.
 *  * A body that arrives together with its headers, as nearly all do, is read however many others of its party arrive.
 */
import type { IncomingMessage } from 'node:http'
import { FairShare, type Party } from '../../lib/security/fair-share.ts'
import { ProblemError, refuse } from '../../lib/base/problems.ts'

/** JSON bodies that arrive at a time: at 256 KiB each 128 MiB in the worst case. */
const BODIES_MAX = 512
/** Files that arrive at a time. Each holds some 400 KiB between the socket and storage, and asks the database for every 256 KiB. */
const UPLOADS_MAX = 64
/** Parties that came later may hold so many times more places, while those that came first still hold theirs. */
const CEILING = 4
const GRACE_MS = 5_000
/** 256 KiB in a minute, which the server allows for a whole request (http/server/server.ts). */
const BYTES_PER_SECOND_MIN = 4_096
/** What was not read before the answer: a small body comes within this, and a large one is not worth the connection. */
const LINGER_MS = 5_000
const LOOK_MS = 250
const RETRY_AFTER_SECONDS = 1

/** How long clients may take; only tests have less patience. */
export interface ArrivalPatience {
  readonly graceMs?: number
  readonly lingerMs?: number
  readonly lookMs?: number
}

interface Arrival {
  readonly request: IncomingMessage
  readonly connectionBytes: number
  /** Looks at which the client was waited for. */
  looks: number
  readonly late: () => void
}

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

  /** JSON bodies and files that arrive now. */
  get counters(): { readonly bodies: number; readonly uploads: number } {
    return { bodies: this.#bodies.held, uploads: this.#uploads.held }
  }

  /**
   * Reads the rest of a JSON body with `read`, which must begin to read at once.
   *
   * @throws ProblemError `service-unavailable` when too many of this party arrive, `request-timeout` when the body is too slow;
   *   whatever `read` throws
   */
  body<Result>(request: IncomingMessage, party: Party, read: () => Promise<Result>): Promise<Result> {
    return request.complete ? read() : this.#wait(this.#bodies, BODIES_MAX, { request, party, read, onLate: undefined })
  }

  /** The same for a form with a file; `onLate` ends what takes the file. */
  upload<Result>(request: IncomingMessage, party: Party, read: () => Promise<Result>, onLate: (error: Error) => void): Promise<Result> {
    return this.#wait(this.#uploads, UPLOADS_MAX, { request, party, read, onLate })
  }

  /** Gives what is left of an answered request's body a moment to arrive, so that the connection can be used again. */
  linger(request: IncomingMessage): void {
    if (request.complete || request.destroyed) return
    this.#leftOver.set(request, 0)
    this.#watch()
  }

  async #wait<Result>(share: FairShare, capacity: number, { request, party, read, onLate }: {
    readonly request: IncomingMessage; readonly party: Party; readonly read: () => Promise<Result>; readonly onLate: ((error: Error) => void) | undefined
  }): Promise<Result> {
    if (share.refuses(capacity, party)) {
      // What came together with the headers is there when the parser of HTTP has ended its turn.
      await new Promise(setImmediate)
      if (request.complete) return await read()
      refuse('service-unavailable', 'Too many requests of this caller are still sending their bodies. Send the same request again shortly.', { retryAfterSeconds: RETRY_AFTER_SECONDS })
    }
    share.enter(party)
    let arrival: Arrival | undefined
    try {
      return await new Promise<Result>((resolve, reject) => {
        arrival = { request, connectionBytes: request.socket.bytesRead, looks: 0, late: () => {
          const error = new ProblemError({ slug: 'request-timeout', detail: 'The body arrived too slowly.' })
          onLate?.(error)
          reject(error)
        } }
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
      // The whole body has come, or bytes of it wait to be taken: the client is not what is waited for.
      if (request.complete || request.readableLength > 0) continue
      if (request.destroyed) {
        arrival.late()
        continue
      }
      arrival.looks += 1
      const seconds = (arrival.looks * this.#lookMs - this.#graceMs) / 1_000
      if (seconds >= 0 && request.socket.bytesRead - arrival.connectionBytes <= seconds * BYTES_PER_SECOND_MIN) arrival.late()
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

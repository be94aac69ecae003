/** Commands on their way into the domain, and their answers. */
import type { Problem } from '../base/problems.ts'
import type { Principal } from './caller.ts'

/** The identity of a command under an Idempotency-Key. */
export interface Idempotency {
  /** Principal, tenant, method, path and key, hashed into the text form of a UUID. */
  readonly id: string
  /** A digest of what was asked, in the text form of a UUID. */
  readonly fingerprint: string
  /** A problem as this request is answered with it: what is kept of a no. */
  readonly problemText: (problem: Problem) => string
}

/** A remembered command. `answer` is null while the first request is still being worked on. */
export interface IdempotencyRecord {
  readonly fingerprint: string
  /** RFC 3339; shown as `firstUsedAt` when the key is reused with other content. */
  readonly createdAt: string
  readonly answer: CommandAnswer | null
}

/** A finished answer, bytes and all, so that a replay is the same text again. */
export interface CommandAnswer {
  readonly status: number
  readonly body: string
  readonly contentType: 'application/json' | 'application/problem+json'
  readonly etag?: string
  readonly location?: string
  readonly replayed: boolean
}

/** A command on its way into the domain. */
export interface Command<Body> {
  readonly tenantId: string
  readonly principal: Principal
  readonly body: Body
  /** Null only where the operation makes the key optional and none was sent. */
  readonly idempotency: Idempotency | null
  readonly requestId: string
  /** Path of the request, starting `/v1/`; the `instance` of a problem. */
  readonly instance: string
  /** Of the clock: what is not decided by then is refused undecided. */
  readonly deadline: number
}

/** A single resource with the row version that goes into its ETag. */
export interface Versioned<View> {
  readonly version: number | bigint
  readonly view: View
  /** Members that the tag does not cover. */
  readonly untagged?: readonly string[]
}

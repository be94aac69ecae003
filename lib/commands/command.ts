/** Commands as routes pass them to the domain, and their answers. */
import type { Shows } from './answer.ts'
import type { ProblemRequest } from '../base/problem-document.ts'
import type { Principal } from './caller.ts'

/** The identity of a command under an Idempotency-Key. */
export interface Idempotency {
  /** Principal, tenant, method, path and key, hashed into the text form of a UUID. */
  readonly id: string
  /** A digest of the request's content, in the text form of a UUID. */
  readonly fingerprint: string
  /** The request that the problem document of a refusal repeats; the document is stored with the key. */
  readonly problemRequest: ProblemRequest
}

/** A stored command. `answer` is null while the first request is still being processed. */
export interface IdempotencyRecord {
  readonly fingerprint: string
  /** RFC 3339; shown as `firstUsedAt` when the key is used again with other content. */
  readonly createdAt: string
  readonly answer: CommandBytes | null
}

/** A finished answer with its exact text, so that a replay sends the same bytes. */
export interface CommandBytes {
  readonly status: number
  readonly body: string
  readonly contentType: 'application/json' | 'application/problem+json'
  readonly etag?: string
  readonly location?: string
  readonly replayed: boolean
}

/** The answer of a command that shows a view when it succeeds; under its key the bytes may be a recorded refusal. */
export type CommandAnswer<View, Status extends number> = CommandBytes & Shows<View, Status>

/** A command as a route passes it to the domain. */
export interface Command<Body> {
  readonly tenantId: string
  readonly principal: Principal
  readonly body: Body
  /** Null only where the operation makes the key optional and the client sent none. */
  readonly idempotency: Idempotency | null
  readonly requestId: string
  /** Path of the request, starting with `/v1/`; the `instance` of a problem. */
  readonly instance: string
  /** Epoch milliseconds by the service's clock; a command that is not decided by then is refused undecided. */
  readonly deadline: number
}

/** A resource with the row version that goes into its ETag. */
export interface Versioned<View> {
  readonly version: number | bigint
  readonly view: View
  /** Names of members that the tag does not cover. */
  readonly untagged?: readonly string[]
}

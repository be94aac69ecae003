/** The messages between nodes: commands on their way to their home, and answers on their way back. */
import type { CallerIdentity } from '../access/caller-identity.ts'

/**
 * A command as its home gets it: everything that its endpoint needs of the request, read and checked by the node that
 * the request reached. The body travels beside it. No member carries a credential.
 */
export interface CommandHead {
  readonly operationId: string
  readonly requestId: string
  /** Path of the request as it was sent, starting `/v1/`. */
  readonly instance: string
  readonly querystring: string
  /** Path parameters and query, as the route declares them. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string | number>>
  readonly idempotencyKey: string | null
  readonly ifMatch: string | null
  readonly caller: CallerIdentity
  /** The client's address, as seen by the node that the request reached. */
  readonly address: string
  readonly userAgent: string | null
  /** How long the caller still waits, milliseconds. A duration, because the clocks of two nodes differ. */
  readonly patienceMs: number
  /** Whether texts of the body have to be normalised (http/server/json-body.ts). */
  readonly needsNormalising: boolean
  /** False for a request without a body. */
  readonly hasBody: boolean
}

/** A command with its body, which is JSON; null for a request without a body. */
export interface ForwardedCommand extends CommandHead {
  readonly body: string | null
}

/** An answer as it is sent to a client, but for the headers that the node adds that the client has reached. */
export interface NodeAnswer {
  readonly status: number
  /** Name and value in turn. */
  readonly headers: readonly string[]
  readonly body: string | Uint8Array
}

/** A message from a node to a home. Ids are numbers that the sender counts. */
export type ToHome =
  | { readonly kind: 'command'; readonly id: number; readonly command: CommandHead }
  /** The answer is no longer awaited. */
  | { readonly kind: 'cancel'; readonly id: number }

/** A message from a home to a node. */
export type FromHome =
  | { readonly kind: 'answer'; readonly id: number; readonly status: number; readonly headers: readonly string[] }
  /** The home cannot carry out the command; it was not begun. */
  | { readonly kind: 'refused'; readonly id: number }
  /** The home stops: commands that it has are answered, and it takes no more. */
  | { readonly kind: 'leaving' }

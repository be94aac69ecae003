/** Answers of operations, ready to be sent. */

/** An answer as it is sent. */
export interface AnswerBytes {
  readonly status: number
  readonly body: string | Uint8Array
  readonly contentType: string
  readonly etag?: string
  readonly location?: string
  readonly replayed?: boolean
  readonly cacheControl?: string
  /** Further headers as name, value, name, value. */
  readonly headers?: readonly string[]
  /** Replaces the body: content sent in pieces, as fast as the client reads it. */
  readonly stream?: { readonly bytes: number; readonly pieces: () => AsyncIterable<Uint8Array> }
}

/** Key of what an answer shows. It exists for the type checker alone; no answer has such a member. */
declare const SHOWN: unique symbol

/**
 * Bytes that show a view with a status when the operation succeeds. The type checker compares both with what a route
 * declares as its success. A recorded refusal has the bytes of a problem instead.
 */
export interface Shows<View, Status extends number> {
  readonly [SHOWN]: { readonly view: View; readonly status: Status }
}

/** The answer that a handler returns: the bytes of a view, complete and ready to be sent. */
export interface Answer<View, Status extends number> extends AnswerBytes, Shows<View, Status> {}

/** Types bytes by what they show. Callers make the bytes of a view; nothing compares them with it again. */
export function showing<View, Status extends number, const Bytes extends AnswerBytes = AnswerBytes>(
  bytes: Bytes,
): Bytes & Shows<View, Status> {
  return bytes as Bytes & Shows<View, Status>
}

/** The bytes of a file as a view: an answer that is no JSON. */
export type FileBytes = Uint8Array

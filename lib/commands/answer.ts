/** Answers of operations, ready to be sent. */

/** The answer that a handler returns, complete and ready to be sent. */
export interface Answer {
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

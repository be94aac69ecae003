/** Answers of operations, ready to be sent. */

/** What a handler gives back: an answer that only needs to be sent. */
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
  /** In place of the body: what is sent piece by piece, as fast as the client takes it. */
  readonly stream?: { readonly bytes: number; readonly pieces: () => AsyncIterable<Uint8Array> }
}

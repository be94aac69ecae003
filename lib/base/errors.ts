/**
 * The two errors that are nobody's bug and no client's mistake: the world is slow or gone (`OperatingError`), or the
 * service was set up wrongly and cannot start (`StartError`). Anything else that is thrown is a bug.
 */

export interface OperatingErrorOptions {
  readonly cause?: unknown
  /** When a client may try again, in whole seconds. */
  readonly retryAfterSeconds?: number
}

/** Something the service depends on does not answer now; the same request may succeed later (answered as a 503). */
export class OperatingError extends Error {
  override readonly name: string = 'OperatingError'
  readonly retryAfterSeconds: number

  constructor(message: string, options: OperatingErrorOptions = {}) {
    super(message, { cause: options.cause })
    // One second: long enough for a pool to reconnect, short enough that a client is not sent away.
    this.retryAfterSeconds = options.retryAfterSeconds ?? 1
  }
}

/** The service cannot start. The message is one sentence for an operator: what is wrong, and what to do. */
export class StartError extends Error {
  override readonly name: string = 'StartError'
}

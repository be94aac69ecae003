/**
 * The two errors that are neither a bug nor a client's mistake: a dependency is slow or gone (`OperatingError`), or the
 * service is set up wrongly and cannot start (`StartError`). Any other error that is thrown is a bug.
 */

export interface OperatingErrorOptions {
  readonly cause?: unknown
  /** Whole seconds after which a client may try again. */
  readonly retryAfterSeconds?: number
}

/** A dependency of the service does not answer now; the same request may succeed later (answered as a 503). */
export class OperatingError extends Error {
  override readonly name: string = 'OperatingError'
  readonly retryAfterSeconds: number

  constructor(message: string, options: OperatingErrorOptions = {}) {
    super(message, { cause: options.cause })
    // A delay of one second is long enough for a pool to reconnect, and short enough that a client still waits for it.
    this.retryAfterSeconds = options.retryAfterSeconds ?? 1
  }
}

/** The service cannot start. The message is one sentence for an operator: what is wrong, and what to do. */
export class StartError extends Error {
  override readonly name: string = 'StartError'
}

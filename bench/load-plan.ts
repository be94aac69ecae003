/** What the load generator is asked to send, and what it reports. */

/** Stands for a fresh Idempotency-Key wherever it appears in a header's value or the path. */
export const FRESH_KEY = '00000000-0000-4000-8000-000000000000'
/** Stands for the id that was captured from the answer before; in the path or the body. */
export const CAPTURED_ID = '11111111-1111-4111-8111-111111111111'

export interface LoadRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The status that counts as success. */
  readonly expect: number
  /** Keeps the `id` member of the answer for the request that follows in the operation. */
  readonly capture?: boolean
}

/** The unit that is counted: mostly one request, or several that follow one another on one connection. */
export type Operation = readonly LoadRequest[]

export interface LoadPlan {
  /** Where to; connections are dealt out in turn. */
  readonly targets: readonly string[]
  /** An operation is drawn at random each time, evenly. */
  readonly operations: readonly Operation[]
  readonly connections: number
  readonly warmupSeconds: number
  readonly seconds: number
  /** Given: open loop. */
  readonly arrivalsPerSecond?: number
  /**
   * Requests that are still due or under way when the measurement ends get this long; absent: ten seconds. What is not
   * answered by then has failed.
   */
  readonly drainSeconds?: number
}

export interface LoadReport {
  /** Operations that succeeded, a second. */
  readonly rate: number
  /** Operations that were counted, successful or not. */
  readonly operations: number
  /** Operations whose answer did not come, was wrong or could not be read. */
  readonly failures: number
  /** Requests that were sent and never answered, warm-up included: what they asked for may or may not have happened. */
  readonly unanswered: number
  /** Answers by status, during the measurement and, in `allStatuses`, during the warm-up as well. */
  readonly statuses: Readonly<Record<string, number>>
  readonly allStatuses: Readonly<Record<string, number>>
  /** Faults of connections, by message. */
  readonly errors: Readonly<Record<string, number>>
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  readonly histogram: readonly number[]
  /** The same of those that succeeded, and of those that were answered 503. */
  readonly accepted: Latencies
  readonly refused: Latencies
}

/** How long answers of one kind took, from when they were due. */
export interface Latencies {
  readonly count: number
  readonly p50Ms: number
  readonly p99Ms: number
}

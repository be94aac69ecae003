/** Calls of providers, as they are recorded. */
import { DAY_MS } from '../base/clock.ts'

/** Calls are kept for this long. */
export const PROVIDER_CALLS_KEPT_MS = 30 * DAY_MS

/** One attempt of a call. Texts hold no secret. */
export interface ProviderCall {
  readonly id: string
  readonly connectionId: string
  /** The adapter's word for the kind of call. */
  readonly operation: string
  readonly method: string
  /** Host, path and query. */
  readonly target: string
  /** Null: no answer came. */
  readonly status: number | null
  /** `unreachable`: the provider got nothing; `silent`: it may have got the request. Null: it answered. */
  readonly fault: 'unreachable' | 'silent' | null
  /** The trouble in words; null without a fault. */
  readonly message: string | null
  readonly latencyMs: number
  readonly requestBytes: number
  readonly answerBytes: number
  /** The beginnings of both bodies, of calls that went wrong; null otherwise, and where they hold secrets. */
  readonly request: string | null
  readonly answer: string | null
  /** When it began, epoch milliseconds. */
  readonly at: number
}

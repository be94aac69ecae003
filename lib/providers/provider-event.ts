/**
 * The events of providers as they are kept: raw, whichever way they came, with what their messages have changed. Pure.
 *
 * An event is kept once, by the provider's id of it and by the hash of its body. A message counts once, by its own id,
 * so two events with the same message change the books once. A statement decides about money and a status request about
 * states; a webhook of a provider whose webhooks are hints decides nothing by itself.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/clock.ts'

/** The ways by which events come. `message`: the built-in sandbox told it in the process itself, without a body. */
export const PROVIDER_EVENT_SOURCES = ['webhook', 'poll', 'file', 'statement', 'message'] as const
export type ProviderEventSource = (typeof PROVIDER_EVENT_SOURCES)[number]

/**
 * `verified`: its signature is right, and it waits, as `received` does for events without one. `ignored`: it is not for
 * the service, or nothing here matches it; `duplicate`: other events had told all of it; `failed`: it could not be used.
 */
export const PROVIDER_EVENT_STATUSES = ['received', 'verified', 'processed', 'ignored', 'failed', 'duplicate'] as const
export type ProviderEventStatus = (typeof PROVIDER_EVENT_STATUSES)[number]

/**
 * Why an event is `ignored` or `failed`, or waits. `unmatched`: it names nothing of its connection; `contradicted`: the
 * provider itself has never confirmed it when asked; `connection_unusable`: it waits for its connection, which cannot be
 * opened.
 */
export const PROVIDER_EVENT_REASONS = [
  'unmatched',
  'not_for_us',
  'dismissed',
  'unreadable',
  'contradicted',
  'internal',
  'connection_unusable',
] as const
export type ProviderEventReason = (typeof PROVIDER_EVENT_REASONS)[number]

/** How an event was believed: by its signature, or because the service itself has fetched it. */
export const VERIFICATIONS = ['signature', 'transport'] as const
export type VerifiedBy = (typeof VERIFICATIONS)[number]

/**
 * The outcomes of messages. `known`: it counted before; `no_effect`: it came late, or said nothing new; `corrected`: the
 * provider was asked and said otherwise, which counted in its place.
 */
export const MESSAGE_OUTCOMES = [
  'applied',
  'corrected',
  'known',
  'no_effect',
  'unmatched',
  'not_for_us',
  'waits',
] as const
export type MessageOutcome = (typeof MESSAGE_OUTCOMES)[number]

/** The kinds of resources that messages are about. */
export const MESSAGE_OBJECTS = ['payment', 'exchange', 'incoming_payment', 'incoming_debit', 'collection'] as const
export type MessageObject = (typeof MESSAGE_OBJECTS)[number]

/** An assignment of an event that waits for a second person, who has to see the same difference. */
export interface EventProposal {
  readonly assignTo: string
  /** The hash of the difference that the first person has seen. */
  readonly difference: string
  readonly reason: string | null
  readonly proposedBy: string
  readonly proposedByName: string
  /** Epoch milliseconds. */
  readonly proposedAt: number
}

/** Events are kept for this long. */
export const PROVIDER_EVENTS_KEPT_MS = 400 * DAY_MS

/** The lengths of a provider's id of an event, and of its type; longer ones are cut or replaced. */
export const EVENT_ID_MAX = 200
export const EVENT_TYPE_MAX = 100

/** The times between the attempts to use an event. After the last one it is `failed`. */
const RETRY_MS = [5_000, 30_000, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS, 3 * HOUR_MS] as const
/** An event that matches nothing is tried so often: its payment may be written a moment after it. */
const UNMATCHED_ATTEMPTS = 3

/** Returns the delay before the next attempt; null when there is none. `attempts`: how many there were. */
export const retryAfter = (attempts: number): number | null => RETRY_MS[attempts - 1] ?? null

/** Returns the delay before an event that matches nothing is tried again; null when it is put into the queue of staff. */
export const matchAgainAfter = (attempts: number): number | null =>
  attempts < UNMATCHED_ATTEMPTS ? retryAfter(attempts) : null

/** A message of an event, and what became of it. */
export interface EventMessage {
  /** The derived id, by which it counts once; null: the event has no message for the service. */
  readonly messageId: string | null
  readonly type: string
  /** The reference as the message has it. */
  readonly reference: string | null
  readonly object: MessageObject | null
  readonly objectId: string | null
  readonly schemeCode: string | null
  /** Minor units. */
  readonly amount: bigint | null
  readonly outcome: MessageOutcome
  readonly statusBefore: string | null
  readonly statusAfter: string | null
  /** In words for staff. */
  readonly note: string | null
}

/** Names of headers whose values prove something, and are not kept. */
const SECRET_HEADER = /auth|cookie|token|secret|key|signature|digest|credential|password/

/** Keeps the headers of a webhook, with `[redacted]` in place of those that prove something. */
export function redactedHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]): [string, string][] => {
      if (value === undefined) return []
      const text = typeof value === 'string' ? value : value.join(', ')
      return [[name, SECRET_HEADER.test(name) ? '[redacted]' : text.replaceAll('\0', '')]]
    }),
  )
}

// ── Sources side by side
// ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The statement of an event about an object. */
export interface Telling {
  readonly eventId: string
  readonly source: ProviderEventSource
  readonly type: string
  readonly amount: bigint | null
  /** Epoch milliseconds. */
  readonly receivedAt: number
}

/** Types that cannot both be true of one object. */
const CONTRADICTIONS: readonly (readonly [string, string])[] = [
  ['settled', 'rejected'],
  ['returned', 'rejected'],
  ['settled', 'refused'],
]

const contradicts = (one: Telling, other: Telling): boolean =>
  one.type === other.type
    ? one.amount !== null && other.amount !== null && one.amount !== other.amount
    : CONTRADICTIONS.some(
        ([left, right]) => (one.type === left && other.type === right) || (one.type === right && other.type === left),
      )

/**
 * Compares what several events say of one object: which came first, and whether two of them cannot both be true. Null
 * without any.
 */
export function compareTellings(
  tellings: readonly Telling[],
): { readonly first: Telling; readonly disagree: boolean } | null {
  const first = tellings.toSorted((one, other) => one.receivedAt - other.receivedAt)[0]
  if (first === undefined) return null
  return { first, disagree: tellings.some((one) => tellings.some((other) => contradicts(one, other))) }
}

/**
 * For receivers of callbacks: verifies that a callback comes from the service and is recent.
 *
 *   const event = verifyWebhook({ body: rawBytes, headers: request.headers, secrets: [process.env.WEBHOOK_SECRET] })
 *   if (await seen(event.id)) return   // the same event may come more than once
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { systemClock } from '../base/clock.ts'

/** A callback with a larger difference is a replay, or one of the clocks is wrong. */
const TOLERANCE_SECONDS = 300

export interface VerifyInput {
  /** The body exactly as it arrived, before any parsing. */
  readonly body: string | Uint8Array
  /** Node's `request.headers`, or an object with the same lower-case names; a `Headers` object is possible, too. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>> | Headers
  /** The endpoint's secret (`whsec_…`); while it is being replaced, the new and the old one. */
  readonly secrets: readonly string[]
  /** Epoch milliseconds; default: the machine's own clock. */
  readonly now?: number
  readonly toleranceSeconds?: number
}

/** The body of a callback. */
export interface VerifiedEvent {
  readonly id: string
  readonly type: string
  readonly createdAt: string
  readonly apiVersion: string
  readonly tenantId: string
  readonly customerId: string | null
  readonly data: {
    readonly object: string
    readonly id: string
    readonly status: string | null
    readonly previousStatus: string | null
    readonly amount: { readonly amountMinor: string; readonly currency: string } | null
    readonly test: boolean
    readonly sandbox: boolean
    readonly related: { readonly object: string; readonly id: string } | null
    /** Of a collection: it came back after it was collected, and whether and when it is presented again. */
    readonly late?: boolean
    readonly willRetry?: boolean
    readonly nextAttemptAt?: string | null
  }
}

/** The callback cannot be trusted; answer 400 and do nothing. */
export class WebhookNotVerified extends Error {
  override readonly name = 'WebhookNotVerified'
  readonly reason: 'header_missing' | 'timestamp_outside_tolerance' | 'signature_mismatch'

  constructor(reason: WebhookNotVerified['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/**
 * Checks the signature over the raw bytes in constant time, then the age, and only then parses the body.
 *
 * @throws WebhookNotVerified
 */
export function verifyWebhook({
  body,
  headers,
  secrets,
  now,
  toleranceSeconds = TOLERANCE_SECONDS,
}: VerifyInput): VerifiedEvent {
  const timestamp = header(headers, 'service-timestamp')
  const sent = header(headers, 'service-signature')
  if (timestamp === null || sent === null)
    throw new WebhookNotVerified('header_missing', 'Service-Timestamp or Service-Signature is missing.')
  const signatures = sent
    .split(',')
    .flatMap((entry) => (entry.trim().startsWith('v1=') ? [Buffer.from(entry.trim().slice('v1='.length), 'hex')] : []))
  const expected = secrets.map((secret) => createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest())
  let matches = false
  // All pairs are compared, so the time does not reveal which one matches.
  for (const one of expected)
    for (const signature of signatures)
      matches = (signature.length === one.length && timingSafeEqual(signature, one)) || matches
  if (!matches) throw new WebhookNotVerified('signature_mismatch', 'No signature fits.')
  const seconds = (now ?? systemClock.now()) / 1_000
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(seconds - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookNotVerified(
      'timestamp_outside_tolerance',
      `Service-Timestamp is more than ${toleranceSeconds} s away from this machine's clock.`,
    )
  }
  return JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString('utf8')) as VerifiedEvent
}

function header(headers: VerifyInput['headers'], name: string): string | null {
  const value = headers instanceof Headers ? headers.get(name) : headers[name]
  if (value === null || value === undefined) return null
  return typeof value === 'string' ? value : value.join(',')
}

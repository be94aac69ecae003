/**
 * Webhooks that are signed by Standard Webhooks, as the service's own callbacks are: `webhook-id`, `webhook-timestamp` and
 * `webhook-signature`, an HMAC-SHA256 over `<id>.<timestamp>.<body>` whose key is the base64 part of the secret. A
 * signature is good for five minutes.
 */
import { hmacFits, soleHeader, type SignedBody } from './signed-body.ts'

const SECRET = /^whsec_([A-Za-z0-9+/]{32,86}={0,2})$/
/** The shortest and the longest key that Standard Webhooks recommends. */
const KEY_BYTES_MIN = 24
const KEY_BYTES_MAX = 64
const TOLERANCE_SECONDS = 300
/** Signatures in one header: while a secret is replaced, two sign. */
const SIGNATURES_MAX = 8

const keyOf = (secret: string): Buffer => Buffer.from(SECRET.exec(secret)?.[1] ?? '', 'base64')

/** Returns what is wrong with a secret; null for nothing. */
export function standardSecretFault(secret: string): string | null {
  const bytes = keyOf(secret).length
  return bytes < KEY_BYTES_MIN || bytes > KEY_BYTES_MAX
    ? `Must be whsec_ and ${KEY_BYTES_MIN} to ${KEY_BYTES_MAX} bytes in base64.`
    : null
}

/** Whether a body was signed with the secret within five minutes of `now`, epoch milliseconds. */
export function isStandardSigned(request: SignedBody, secret: string, now: number): boolean {
  const id = soleHeader(request, 'webhook-id')
  const timestamp = soleHeader(request, 'webhook-timestamp')
  const signatures = soleHeader(request, 'webhook-signature')
  if (id === null || timestamp === null || signatures === null || !/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs(now / 1_000 - Number(timestamp)) > TOLERANCE_SECONDS) return false
  const key = keyOf(secret)
  let fits = false
  for (const entry of signatures.split(' ').slice(0, SIGNATURES_MAX)) {
    const sent = Buffer.from(entry.startsWith('v1,') ? entry.slice('v1,'.length) : '', 'base64')
    fits = hmacFits('sha256', key, [`${id}.${timestamp}.`, request.bytes], sent) || fits
  }
  return fits
}

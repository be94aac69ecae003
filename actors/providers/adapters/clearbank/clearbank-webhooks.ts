/**
 * The webhooks of ClearBank: `{Type, Version, Payload, Nonce}`, signed over the whole body. The bank wants its nonce
 * back, signed by us, within five seconds; without it the webhook comes again every 15 minutes for 24 hours.
 */
import { asObject, objectOf, type JsonObject } from '../../../../lib/base/json.ts'
import { createHash, type KeyObject } from 'node:crypto'
import { DAY_MS, MINUTE_MS } from '../../../../lib/base/clock.ts'
import { soleHeader, type SignedBody } from '../../../../lib/security/signed-body.ts'
import type { Verification } from '../adapter.ts'
import { textIn, timeIn } from './clearbank-json.ts'
import { answerSignature, isSigned } from './clearbank-keys.ts'

/** The bank stops after 24 hours, so an older webhook is not its own repetition. */
const AGE_MAX_MS = 2 * DAY_MS
/** Clocks differ. */
const AHEAD_MAX_MS = 5 * MINUTE_MS

const invalid = (reason: string): Verification => ({ valid: false, reason })

/**
 * Judges a webhook by the bank's public key.
 *
 * @param key signs the answer; null: it is not set, and the webhook is taken without the answer that the bank wants
 */
export function verifyWebhook(
  request: SignedBody,
  publicKeyPem: string,
  key: KeyObject | null,
  now: number,
): Verification {
  const signature = soleHeader(request, 'digitalsignature')
  if (signature === null) return invalid('The header DigitalSignature is missing.')
  if (!isSigned(publicKeyPem, request.bytes, signature)) return invalid('The signature does not fit the body.')
  const body = objectOf(request.bytes)
  const type = textIn(body, 'Type')
  const nonce = body?.['Nonce']
  if (body === null || type === null || !Number.isSafeInteger(nonce))
    return invalid('The body has no type or no nonce.')
  const at = occurredAtOf(body)
  if (at !== null && at < now - AGE_MAX_MS) return invalid('The webhook is too old.')
  if (at !== null && at > now + AHEAD_MAX_MS) return invalid('The webhook is from the future.')
  const answer = `{"Nonce":${String(nonce)}}`
  return {
    valid: true,
    eventId: eventIdOf(type, body),
    type,
    ...(key !== null && {
      answer: {
        status: 200,
        headers: { 'content-type': 'application/json', digitalsignature: answerSignature(key, answer) },
        body: answer,
      },
    }),
  }
}

/** When the event of a webhook happened, epoch milliseconds; null for the types that tell no time. */
export function occurredAtOf(body: JsonObject): number | null {
  const payload = asObject(body['Payload'])
  return (
    timeIn(payload, 'TimestampModified') ?? timeIn(payload, 'TimestampSettled') ?? timeIn(payload, 'TimestampCreated')
  )
}

/**
 * The id of the event. The bank gives none, and its nonce is another one each time: its documentation compares type,
 * time and id of the payload. Where the payload has no id, its whole content stands for it.
 */
function eventIdOf(type: string, body: JsonObject): string {
  const payload = asObject(body['Payload'])
  const id = textIn(payload, 'TransactionId') ?? textIn(payload, 'MessageId')
  const content = createHash('sha256').update(JSON.stringify(body['Payload'] ?? null))
  return [type, id ?? content.digest('hex'), occurredAtOf(body) ?? ''].join(':').slice(0, 200)
}

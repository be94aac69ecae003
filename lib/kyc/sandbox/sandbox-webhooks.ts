/**
 * The webhooks of the built-in sandbox provider. They are signed by Standard Webhooks, as the service's own callbacks
 * are: `webhook-id`, `webhook-timestamp` and `webhook-signature`, an HMAC-SHA256 over `<id>.<timestamp>.<body>` whose
 * key is the base64 part of the secret. A signature is good for five minutes.
 */
import type { KybScreeningHit } from '../../onboarding/kyb-case.ts'
import { hmacFits, soleHeader } from '../../security/signed-body.ts'
import { asObject, commentIn, idIn, instantOf, labelsIn, objectOf, type JsonObject } from '../../base/json.ts'
import type { KycMessage, KycOutcome, KycReview, KycWebhooks } from '../messages.ts'

const SECRET = /^whsec_([A-Za-z0-9+/]{32,86}={0,2})$/
/** The shortest and the longest key that Standard Webhooks recommends. */
const KEY_BYTES_MIN = 24
const KEY_BYTES_MAX = 64
const TOLERANCE_SECONDS = 300
/** Signatures in one header: while a secret is replaced, two sign. */
const SIGNATURES_MAX = 8
const HITS_MAX = 20
/** The score of a hit for which the provider tells none. */
const SCORE_MAX = 100

const keyOf = (secret: string): Buffer => Buffer.from(SECRET.exec(secret)?.[1] ?? '', 'base64')

export const sandboxWebhooks: KycWebhooks = {
  secretFault(secret) {
    const bytes = keyOf(secret).length
    return bytes < KEY_BYTES_MIN || bytes > KEY_BYTES_MAX
      ? `Must be whsec_ and ${KEY_BYTES_MIN} to ${KEY_BYTES_MAX} bytes in base64.`
      : null
  },
  isSigned(request, secret, now) {
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
  },
  translate(bytes) {
    const body = objectOf(bytes)
    const eventId = body === null ? null : idIn(body, 'id')
    const type = body === null ? null : idIn(body, 'type')
    if (body === null || eventId === null || type === null) return null
    const data = asObject(body['data']) ?? {}
    return {
      eventId,
      type,
      occurredAt: instantOf(idIn(body, 'occurredAt')),
      subjectId: idIn(data, 'subjectId'),
      applicantId: idIn(data, 'applicantId'),
      outcome: outcomeOf(type, data),
    }
  },
}

const KINDS = {
  'applicant.created': 'created',
  'applicant.pending': 'pending',
  'applicant.on_hold': 'on_hold',
  'applicant.reset': 'reset',
} as const
const REVIEWED = 'applicant.reviewed'

function outcomeOf(type: string, data: JsonObject): KycOutcome | null {
  if (Object.hasOwn(KINDS, type)) return { kind: KINDS[type as keyof typeof KINDS] }
  const answer = data['answer']
  if (type !== REVIEWED || (answer !== 'green' && answer !== 'red')) return null
  const review: KycReview = {
    answer,
    rejectType: answer === 'green' ? null : data['rejectType'] === 'retry' ? 'retry' : 'final',
    rejectLabels: labelsIn(data, 'rejectLabels'),
    moderationComment: commentIn(data, 'moderationComment'),
    screening: hitsIn(data['screening']),
  }
  return { kind: 'reviewed', review }
}

function hitsIn(value: unknown): readonly KybScreeningHit[] {
  if (!Array.isArray(value)) return []
  return value.slice(0, HITS_MAX).flatMap((each): KybScreeningHit[] => {
    const hit = asObject(each)
    if (hit === null) return []
    const score = hit['score']
    return [
      {
        list: idIn(hit, 'list') ?? 'unknown',
        name: idIn(hit, 'name') ?? '',
        score: typeof score === 'number' && score >= 0 && score <= SCORE_MAX ? score : SCORE_MAX,
        status: idIn(hit, 'status') ?? 'potential_match',
      },
    ]
  })
}

/** A review that the sandbox provider reports. */
export interface SandboxReport {
  readonly eventId: string
  /** RFC 3339. */
  readonly occurredAt: string
  readonly subjectId: string
  readonly applicantId: string
  readonly review: KycReview
}

/** Writes the body of a webhook, which `translate` reads. */
export function sandboxReport({ eventId, occurredAt, subjectId, applicantId, review }: SandboxReport): string {
  return JSON.stringify({ id: eventId, type: REVIEWED, occurredAt, data: { subjectId, applicantId, ...review } })
}

/** Reads the message that `sandboxReport` has written. */
export const readReport = (body: string): KycMessage => sandboxWebhooks.translate(Buffer.from(body)) as KycMessage

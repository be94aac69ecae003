/**
 * The webhooks of Sumsub. `X-Payload-Digest` is an HMAC in hexadecimal over the body as it was sent, with the secret of
 * the webhook as the key; `X-Payload-Digest-Alg` names the hash. A signature tells no time, and a webhook that was not
 * answered is sent again after 5 minutes, 1, 5 and 18 hours, so age alone refuses none: each event counts once, and the
 * time of the event decides among several.
 */
import { createHash } from 'node:crypto'
import type { KybScreeningHit } from '../../onboarding/kyb-case.ts'
import { hmacFits, soleHeader } from '../../security/signed-body.ts'
import { asObject, commentIn, idIn, instantOf, labelsIn, objectOf, type JsonObject } from '../../base/json.ts'
import type { KycOutcome, KycReview, KycWebhooks } from '../messages.ts'

const ALGORITHMS = { HMAC_SHA1_HEX: 'sha1', HMAC_SHA256_HEX: 'sha256', HMAC_SHA512_HEX: 'sha512' } as const
const SECRET_MIN = 8
const SECRET_MAX = 200

export const sumsubWebhooks: KycWebhooks = {
  secretFault(secret) {
    return secret.length < SECRET_MIN || secret.length > SECRET_MAX
      ? `Must have ${SECRET_MIN} to ${SECRET_MAX} characters.`
      : null
  },
  isSigned(request, secret) {
    const algorithm = soleHeader(request, 'x-payload-digest-alg')
    const digest = soleHeader(request, 'x-payload-digest')
    if (algorithm === null || digest === null || !Object.hasOwn(ALGORITHMS, algorithm)) return false
    // A text that is no hexadecimal would be cut at its first other character.
    if (!/^(?:[0-9a-f]{2})+$/i.test(digest)) return false
    const sent = Buffer.from(digest, 'hex')
    return hmacFits(ALGORITHMS[algorithm as keyof typeof ALGORITHMS], secret, [request.bytes], sent)
  },
  translate(bytes) {
    const body = objectOf(bytes)
    const type = body === null ? null : idIn(body, 'type')
    if (body === null || type === null) return null
    return {
      eventId: eventIdOf(body, type),
      type,
      occurredAt: timeOf(body),
      subjectId: idIn(body, 'externalUserId'),
      applicantId: idIn(body, 'applicantId'),
      outcome: outcomeOf(type, body),
    }
  },
}

/**
 * Sumsub numbers no events. One that is sent again has the same applicant, type, correlation and time, whatever the
 * order and spaces of its members.
 */
function eventIdOf(body: JsonObject, type: string): string {
  const parts = ['applicantId', 'correlationId', 'createdAtMs', 'createdAt'].map((member) => idIn(body, member))
  return createHash('sha256')
    .update(JSON.stringify([type, ...parts]))
    .digest('hex')
}

/** Reads `createdAtMs`, `2020-02-21 13:23:19.321`, or else `createdAt`, `2020-02-21 13:23:19+0000`; both are in UTC. */
function timeOf(body: JsonObject): number | null {
  const text = idIn(body, 'createdAtMs') ?? idIn(body, 'createdAt') ?? ''
  const [, day, time] = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?)(?:Z|\+0000)?$/.exec(text) ?? []
  return instantOf(`${day}T${time}Z`)
}

const KINDS = {
  applicantCreated: 'created',
  applicantPending: 'pending',
  applicantOnHold: 'on_hold',
  applicantReset: 'reset',
} as const

/** Sumsub tells labels, and no scores. */
const LABEL_SCORE = 100

/** The labels that name a list on which the applicant was found, and the list. */
const LISTS: Readonly<Record<string, string>> = {
  ADVERSE_MEDIA: 'adverse_media',
  COMPROMISED_PERSONS: 'watchlist',
  CRIMINAL: 'criminal_records',
  PEP: 'pep',
  SANCTIONS: 'sanctions',
}

function outcomeOf(type: string, body: JsonObject): KycOutcome | null {
  if (Object.hasOwn(KINDS, type)) return { kind: KINDS[type as keyof typeof KINDS] }
  const result = type === 'applicantReviewed' ? asObject(body['reviewResult']) : null
  const answer = result?.['reviewAnswer']
  if (result === null || (answer !== 'GREEN' && answer !== 'RED')) return null
  const rejectLabels = labelsIn(result, 'rejectLabels')
  const review: KycReview = {
    answer: answer === 'GREEN' ? 'green' : 'red',
    // Without a word of a second attempt staff decide.
    rejectType: answer === 'GREEN' ? null : result['reviewRejectType'] === 'RETRY' ? 'retry' : 'final',
    rejectLabels,
    moderationComment: commentIn(result, 'moderationComment'),
    screening: rejectLabels.flatMap((label): KybScreeningHit[] =>
      LISTS[label] === undefined ? [] : [{ list: LISTS[label], name: '', score: LABEL_SCORE, status: 'match' }],
    ),
  }
  return { kind: 'reviewed', review }
}

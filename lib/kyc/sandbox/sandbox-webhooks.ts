/** The webhooks of the built-in sandbox provider, which are signed by Standard Webhooks. */
import type { KybScreeningHit } from '../../onboarding/kyb-case.ts'
import { isStandardSigned, standardSecretFault } from '../../security/standard-webhooks.ts'
import { asObject, commentIn, idIn, instantOf, labelsIn, objectOf, type JsonObject } from '../../base/json.ts'
import type { KycMessage, KycOutcome, KycReview, KycWebhooks } from '../messages.ts'

const HITS_MAX = 20
/** The score of a hit for which the provider tells none. */
const SCORE_MAX = 100

export const sandboxWebhooks: KycWebhooks = {
  secretFault: standardSecretFault,
  isSigned: isStandardSigned,
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

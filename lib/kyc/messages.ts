/**
 * The messages of KYC providers. An adapter, one folder for each provider, translates a provider's own words to these;
 * nothing else knows those words.
 *
 * An applicant is whoever a provider reviews: the customer itself or a person of its KYB case. Providers are given the
 * service's id of the case or the person, the subject, and answer with it and with an id of their own.
 */
import type { RejectType } from '../onboarding/case-words.ts'
import type { KybScreeningHit } from '../onboarding/kyb-case.ts'
import type { SignedBody } from '../security/signed-body.ts'

/** The end of a review. The labels and the screening are for staff alone. */
export interface KycReview {
  readonly answer: 'green' | 'red'
  /** Null for green. `final`: the provider would take no further documents; `retry`: the applicant may send others. */
  readonly rejectType: RejectType | null
  readonly rejectLabels: readonly string[]
  /** The provider's text for the applicant. */
  readonly moderationComment: string | null
  readonly screening: readonly KybScreeningHit[]
}

/** The statement of a message about an applicant. `reset`: the provider has discarded the applicant's documents. */
export type KycOutcome =
  | { readonly kind: 'created' | 'pending' | 'on_hold' | 'reset' }
  | { readonly kind: 'reviewed'; readonly review: KycReview }

/** Names the hits of a review whose provider tells the lists alone after the applicant. */
export const withNames = (review: KycReview, name: string): KycReview => ({
  ...review,
  screening: review.screening.map((hit) => (hit.name === '' ? { ...hit, name } : hit)),
})

/** A message of a provider, translated. */
export interface KycMessage {
  /** The provider's id of the event, or what stands for it where the provider gives none; up to 200 characters. */
  readonly eventId: string
  /** The provider's own word. */
  readonly type: string
  /** Epoch milliseconds by the provider's clock; null where the message does not tell. */
  readonly occurredAt: number | null
  /** The service's id of the case or person, as the provider repeats it. */
  readonly subjectId: string | null
  readonly applicantId: string | null
  /** Null where the message says nothing that the service uses. */
  readonly outcome: KycOutcome | null
}

/** How a provider signs and words its webhooks. Pure: a webhook is judged by its bytes, its secret and the time. */
export interface KycWebhooks {
  /** Returns what is wrong with a secret; null for nothing. */
  secretFault(secret: string): string | null
  /** Whether the provider has signed the body with the secret, recently where its signature tells the time. */
  isSigned(request: SignedBody, secret: string, now: number): boolean
  /** Translates a signed body; null when it cannot be read. */
  translate(bytes: Uint8Array): KycMessage | null
}

/** The parts of a provider's API that need its keys. */
export const KYC_CREDENTIALS = ['appToken', 'secretKey'] as const
export type KycCredential = (typeof KYC_CREDENTIALS)[number]

/** A provider. */
export interface KycAdapter {
  /** The keys of its API; empty where there is no API to call. */
  readonly credentials: readonly KycCredential[]
  /** Whether it begins a review when the service asks for it; others review what applicants send them. */
  readonly reviewsWhenAsked: boolean
  /** Whether its reviews are of levels that the provider's own console defines, and that have names. */
  readonly hasLevels: boolean
  /** Null: it sends none. */
  readonly webhooks: KycWebhooks | null
}

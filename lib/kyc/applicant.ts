/**
 * An applicant of a KYB case, the customer itself or a person, as its provider sees it. Messages arrive late, twice and
 * in any order: what happened last by the provider's clock counts, and nothing that happened before the present review
 * was asked for. Pure.
 */
import type { KybPersonStatus } from '../onboarding/kyb-person.ts'
import type { KycMessage, KycOutcome, KycReview } from './messages.ts'

/** An applicant as its provider has reported it. Times are epoch milliseconds. */
export interface Applicant {
  /** The id of the case or the person. */
  readonly subjectId: string
  readonly caseId: string
  /** Null: the customer itself. */
  readonly personId: string | null
  readonly customerId: string
  readonly operatorId: string
  /** The connection whose provider reviews; others cannot speak of the applicant. */
  readonly connectionId: string
  /** The provider's id. */
  readonly applicantId: string | null
  /** The latest review; null before the first, and while another is under way. */
  readonly review: KycReview | null
  /** When the provider's latest message that counted happened. */
  readonly heardAt: number | null
  /** When the present review was asked for; what happened before it no longer counts. */
  readonly askedAt: number | null
}

/** Why a message changes nothing. */
export const IGNORED_REASONS = ['unreadable', 'unknown_type', 'unknown_applicant', 'late'] as const
export type IgnoredReason = (typeof IGNORED_REASONS)[number]

/** The meaning of a message for its applicant. */
export type Heard =
  | { readonly ignored: IgnoredReason }
  | {
      readonly applicant: Applicant
      readonly outcome: KycOutcome
      /** Null: it stays. */
      readonly status: KybPersonStatus | null
    }

function statusAfter(outcome: KycOutcome): KybPersonStatus | null {
  switch (outcome.kind) {
    case 'reviewed':
      return statusOfReview(outcome.review)
    case 'created':
      return null
    case 'pending':
    case 'on_hold':
      return 'pending'
    case 'reset':
      return 'draft'
    default:
      return outcome satisfies never
  }
}

/** The status of a person after a review. */
export const statusOfReview = ({ answer, rejectType }: KycReview): KybPersonStatus =>
  answer === 'green' ? 'green' : rejectType === 'retry' ? 'retry' : 'red'

/**
 * Takes a message. Of two that happened in the same millisecond a review counts.
 *
 * @param receivedAt when the message arrived, epoch milliseconds: no message is later than that
 */
export function hear(applicant: Applicant, message: KycMessage, receivedAt: number): Heard {
  const { outcome } = message
  if (outcome === null) return { ignored: 'unknown_type' }
  const at = Math.min(message.occurredAt ?? receivedAt, receivedAt)
  const { heardAt, askedAt } = applicant
  if (askedAt !== null && at < askedAt) return { ignored: 'late' }
  if (heardAt !== null && (at < heardAt || (at === heardAt && outcome.kind !== 'reviewed'))) return { ignored: 'late' }
  return {
    outcome,
    status: statusAfter(outcome),
    applicant: {
      ...applicant,
      applicantId: message.applicantId ?? applicant.applicantId,
      review: outcome.kind === 'reviewed' ? outcome.review : outcome.kind === 'created' ? applicant.review : null,
      heardAt: at,
    },
  }
}

/** Puts the last review of an applicant aside, for another. */
export const setAside = (applicant: Applicant): Applicant => ({ ...applicant, review: null })

/** Begins the review of an applicant anew: what happened before `now`, epoch milliseconds, no longer counts. */
export const beginAnew = (applicant: Applicant, now: number): Applicant => ({ ...setAside(applicant), askedAt: now })

/** The meaning of a provider's reviews for a KYB case (K10): its result, its questions and its move. Pure. */
import type { CaseTrigger } from '../onboarding/case-moves.ts'
import type { KybCaseStatus } from '../onboarding/case-words.ts'
import type { InfoRequest, ReviewResult } from '../onboarding/kyb-case.ts'
import type { Applicant } from './applicant.ts'
import type { KycReview } from './messages.ts'

/** The code of the questions that a provider's `retry` puts to the customer. */
const RETRY_CODE = 'provider_retry'
/** The text for the customer where the provider gives none that may be shown. */
const RETRY_MESSAGE = 'The documents could not be accepted. Send others.'

/** Puts the reviews of all applicants of a case together; the worst counts. Null without any. */
export function resultOf(applicants: readonly Pick<Applicant, 'review'>[]): ReviewResult | null {
  if (applicants.length === 0) return null
  const reviews = applicants.map(({ review }) => review)
  const reds = reviews.filter((review) => review?.answer === 'red')
  return {
    reviewAnswer: reds.length > 0 ? 'red' : reviews.includes(null) ? 'pending' : 'green',
    rejectType: reds.length === 0 ? null : reds.some((review) => review?.rejectType === 'final') ? 'final' : 'retry',
    rejectLabels: [...new Set(reviews.flatMap((review) => review?.rejectLabels ?? []))],
    screening: reviews.flatMap((review) => review?.screening ?? []),
    moderationComment: reds.find((review) => review?.moderationComment != null)?.moderationComment ?? null,
  }
}

/** The pointer of an applicant in the case; null for the customer itself. */
const fieldOf = ({ personId }: Pick<Applicant, 'personId'>): string | null =>
  personId === null ? null : `/persons/${personId}`

/**
 * Puts the question of a `retry`, or ends it when the applicant was reviewed otherwise.
 *
 * @param mayShow whether the customer may read a sentence of the provider
 */
export function questionsAfter(
  questions: readonly InfoRequest[],
  applicant: Pick<Applicant, 'personId'>,
  review: KycReview,
  { now, mayShow }: { readonly now: number; readonly mayShow: (text: string) => boolean },
): readonly InfoRequest[] {
  const field = fieldOf(applicant)
  const ended = questions.map((question) =>
    question.code === RETRY_CODE && question.field === field && question.resolvedAt === null
      ? { ...question, resolvedAt: now }
      : question,
  )
  if (review.rejectType !== 'retry') return ended
  const { moderationComment } = review
  const message = moderationComment !== null && mayShow(moderationComment) ? moderationComment : RETRY_MESSAGE
  return [...ended, { code: RETRY_CODE, field, message, requestedAt: now, resolvedAt: null }]
}

/**
 * Returns the moves of a case that a review causes, in order. Staff decide on what is red and final. A case that waits
 * for its customer goes on when the last question is answered. What was decided stays decided, except that a red answer
 * has staff look at an approved customer again (K9).
 */
export function movesAfter(
  status: KybCaseStatus,
  { answer, rejectType }: KycReview,
  questions: readonly InfoRequest[],
): readonly CaseTrigger[] {
  switch (status) {
    case 'submitted':
    case 'in_review':
    case 'info_requested': {
      if (answer === 'red') return [rejectType === 'retry' ? 'provider_red_retry' : 'provider_red_final']
      const isAsked = status === 'info_requested' && questions.some(({ resolvedAt }) => resolvedAt === null)
      return isAsked ? [] : ['provider_green']
    }
    case 'approved':
      if (answer === 'green') return []
      return ['review_again', rejectType === 'retry' ? 'provider_red_retry' : 'provider_red_final']
    case 'draft':
    case 'rejected':
    case 'withdrawn':
      return []
    default:
      return status satisfies never
  }
}

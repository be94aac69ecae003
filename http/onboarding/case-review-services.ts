/** Services of the review of KYB cases for handlers. */
import type { CaseReviewService } from '../../actors/onboarding/case-review-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly caseReviews: CaseReviewService
  }
}

/** Services of onboarding for handlers. */
import type { OnboardingService } from '../../actors/onboarding/onboarding-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly onboarding: OnboardingService
  }
}

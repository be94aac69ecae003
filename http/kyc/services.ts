/** Services of KYC for handlers. */
import type { createKycService } from '../../actors/kyc/kyc-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly kyc: ReturnType<typeof createKycService>
  }
}

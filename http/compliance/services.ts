/** Services of compliance for handlers. */
import type { ComplianceService } from '../../actors/compliance/compliance-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly compliance: ComplianceService
  }
}

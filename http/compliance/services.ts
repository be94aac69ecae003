/** Services of compliance for handlers. */
import type { ComplianceCommands, ComplianceReads } from '../../actors/compliance/compliance-operations.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly compliance: ComplianceReads
  }
  interface Services {
    readonly compliance: ComplianceReads & ComplianceCommands
  }
}

/** Services of compliance, as handlers get them. */
import type { ComplianceCommands, ComplianceReads } from '../compliance.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly compliance: ComplianceReads
  }
  interface Services {
    readonly compliance: ComplianceReads & ComplianceCommands
  }
}

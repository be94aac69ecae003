/** Services of reconciliation for handlers. */
import type { ReconciliationService } from '../../actors/reconciliation/reconciliation-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly reconciliation: ReconciliationService
  }
}

/** Services of reconciliation for handlers. */
import type { TreasuryCommands, TreasuryReads } from '../../actors/reconciliation/treasury-operations.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly reconciliation: TreasuryReads
  }
  interface Services {
    readonly reconciliation: TreasuryReads & TreasuryCommands
  }
}

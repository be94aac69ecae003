/** Services of reconciliation, as handlers get them. */
import type { TreasuryCommands, TreasuryReads } from '../treasury.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly reconciliation: TreasuryReads
  }
  interface Services {
    readonly reconciliation: TreasuryReads & TreasuryCommands
  }
}

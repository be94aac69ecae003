/** Services of the ledger for handlers. */
import type { LedgerService } from '../../actors/ledger/ledger-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly ledger: LedgerService
  }
}

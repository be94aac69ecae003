/** Services of balances for handlers. */
import type { BalanceService } from '../../actors/accounts/balance-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly balances: BalanceService
  }
}

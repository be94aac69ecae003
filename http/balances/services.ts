/** Services of balances for handlers. */
import type { BalanceReads } from '../../actors/balances/balance-reads.ts'
import type { BalanceCommands } from '../../actors/accounts/balance-operations.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly balances: BalanceReads
  }
  interface Services {
    readonly balances: BalanceReads & BalanceCommands
  }
}

/** Services of balances, as handlers get them. */
import type { BalanceReads } from '../../actors/balances/balance-reads.ts'
import type { BalanceCommands } from '../balances.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly balances: BalanceReads
  }
  interface Services {
    readonly balances: BalanceReads & BalanceCommands
  }
}

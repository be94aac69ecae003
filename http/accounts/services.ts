/** Services of accounts for handlers. */
import type { AccountCommands } from '../../actors/accounts/account-commands.ts'
import type { AccountReads } from '../../actors/accounts/account-reads.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly accounts: AccountReads
  }
  interface Services {
    readonly accounts: AccountReads & AccountCommands
  }
}

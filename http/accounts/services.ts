/** Services of accounts for handlers. */
import type { AccountService } from '../../actors/accounts/account-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly accounts: AccountService
  }
}

/** Services of direct debits for handlers. */
import type { DirectDebitService } from '../../actors/direct-debits/direct-debit-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly directDebits: DirectDebitService
  }
}

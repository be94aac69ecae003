/** Services of transactions for handlers. */
import type { TransactionService } from '../../actors/transactions/transaction-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly transactions: TransactionService
    readonly exports: TransactionService['exports']
  }
}

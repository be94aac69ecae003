/** Services of transactions for handlers. */
import type { ExportCommands } from '../../actors/transactions/exports.ts'
import type { TransactionCommands, TransactionReads } from '../../actors/transactions/transaction-operations.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly transactions: TransactionReads
  }
  interface Services {
    readonly transactions: TransactionReads & TransactionCommands
    readonly exports: ExportCommands
  }
}

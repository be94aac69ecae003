/** Services of transactions, as handlers get them. */
import type { ExportCommands } from '../exports.ts'
import type { TransactionCommands, TransactionReads } from '../transactions.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly transactions: TransactionReads
  }
  interface Services {
    readonly transactions: TransactionReads & TransactionCommands
    readonly exports: ExportCommands
  }
}

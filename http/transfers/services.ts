/** Services of transfers for handlers. */
import type { TransferCommands } from '../../actors/transfers/transfer-operations.ts'
import type { TransferReads } from '../../actors/transfers/transfer-reads.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly transfers: TransferReads
  }
  interface Services {
    readonly transfers: TransferReads & TransferCommands
  }
}

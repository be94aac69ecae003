/** Services of transfers for handlers. */
import type { TransferService } from '../../actors/transfers/transfer-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly transfers: TransferService
  }
}

/** Services of mandates and collections at their banks, for handlers. */
import type { DebitOrderService } from '../../actors/direct-debits/debit-order-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly debitOrders: DebitOrderService
  }
}

/** Services of incoming debits for handlers. */
import type { IncomingDebitService } from '../../actors/incoming-debits/incoming-debit-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly incomingDebits: IncomingDebitService
  }
}

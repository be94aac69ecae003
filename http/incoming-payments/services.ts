/** Services of incoming payments for handlers. */
import type { IncomingPaymentService } from '../../actors/incoming-payments/incoming-payment-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly incomingPayments: IncomingPaymentService
  }
}

/** Services of payments for handlers. */
import type { PaymentService } from '../../actors/payments/payment-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly payments: PaymentService
    readonly confirmations: PaymentService['confirmations']
  }
}

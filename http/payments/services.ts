/** Services of payments for handlers. */
import type { PaymentReads } from '../../actors/payments/payment-reads.ts'
import type { PaymentCommands } from '../../actors/payments/payment-operations.ts'
import type { PaymentChanges } from '../../actors/payments/payment-changes.ts'
import type { PaymentOutcomeCommands, PaymentOutcomeReads } from '../../actors/payments/payment-outcomes.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly payments: PaymentReads & PaymentOutcomeReads
  }
  interface Services {
    readonly payments: PaymentReads & PaymentOutcomeReads & PaymentCommands & PaymentChanges & PaymentOutcomeCommands
  }
}

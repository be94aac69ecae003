/** Services of payments, as handlers get them. */
import type { PaymentReads } from '../../actors/payments/payment-reads.ts'
import type { PaymentCommands } from '../commands.ts'
import type { PaymentChanges } from '../payment-changes.ts'
import type { PaymentOutcomeCommands, PaymentOutcomeReads } from '../payment-outcomes.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly payments: PaymentReads & PaymentOutcomeReads
  }
  interface Services {
    readonly payments: PaymentReads & PaymentOutcomeReads & PaymentCommands & PaymentChanges & PaymentOutcomeCommands
  }
}

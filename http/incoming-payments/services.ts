/** Services of incoming payments for handlers. */
import type { IncomingPaymentReads } from '../../actors/incoming-payments/incoming-payment-reads.ts'
import type { IncomingCommands } from '../../actors/incoming-payments/incoming-payment-operations.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly incomingPayments: IncomingPaymentReads
  }
  interface Services {
    readonly incomingPayments: IncomingPaymentReads & IncomingCommands
  }
}

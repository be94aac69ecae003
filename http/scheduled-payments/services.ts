/** Services of scheduled payments, as handlers get them. */
import type { ScheduledPaymentCommands, ScheduledPaymentReads } from '../scheduled-payments.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly scheduledPayments: ScheduledPaymentReads
  }
  interface Services {
    readonly scheduledPayments: ScheduledPaymentReads & ScheduledPaymentCommands
  }
}

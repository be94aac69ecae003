/** Services of scheduled payments for handlers. */
import type {
  ScheduledPaymentCommands,
  ScheduledPaymentReads,
} from '../../actors/scheduled-payments/schedule-operations.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly scheduledPayments: ScheduledPaymentReads
  }
  interface Services {
    readonly scheduledPayments: ScheduledPaymentReads & ScheduledPaymentCommands
  }
}

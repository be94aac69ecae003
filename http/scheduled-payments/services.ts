/** Services of scheduled payments for handlers. */
import type { ScheduleService } from '../../actors/scheduled-payments/schedule-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly scheduledPayments: ScheduleService
  }
}

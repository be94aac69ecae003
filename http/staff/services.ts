/** Services of staff for handlers. */
import type { StaffService } from '../../actors/staff/staff-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly staff: StaffService
  }
}

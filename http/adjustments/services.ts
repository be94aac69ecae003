/** Services of adjustments for handlers. */
import type { AdjustmentService } from '../../actors/adjustments/adjustment-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly adjustments: AdjustmentService
  }
}

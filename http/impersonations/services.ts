/** Services of impersonations for handlers. */
import type { ImpersonationService } from '../../actors/impersonations/impersonation-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly impersonations: ImpersonationService
  }
}

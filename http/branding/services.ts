/** Services of branding for handlers. */
import type { BrandingService } from '../../actors/branding/branding-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly branding: BrandingService
  }
}

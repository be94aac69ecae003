/** Services of pricing for handlers. */
import type { PricingCommands, PricingReads } from '../../actors/pricing/pricing-operations.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly pricing: PricingReads
  }
  interface Services {
    readonly pricing: PricingReads & PricingCommands
  }
}

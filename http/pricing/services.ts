/** Services of pricing, as handlers get them. */
import type { PricingCommands, PricingReads } from '../pricing.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly pricing: PricingReads
  }
  interface Services {
    readonly pricing: PricingReads & PricingCommands
  }
}

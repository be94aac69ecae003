/** Services of pricing for handlers. */
import type { createPricing } from '../../actors/pricing/pricing-operations.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly pricing: ReturnType<typeof createPricing>
  }
}

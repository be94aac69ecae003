/** Services of integration, as handlers get them. */
import type { IntegrationQueries } from '../../actors/integration/integration-reads.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly integration: IntegrationQueries
  }
}

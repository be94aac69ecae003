/** Services of integration for handlers. */
import type { IntegrationQueries } from '../../actors/integration/integration-reads.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly integration: IntegrationQueries
  }
}

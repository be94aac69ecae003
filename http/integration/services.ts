/** Services of integration for handlers. */
import type { IntegrationService } from '../../actors/integration/integration-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly integration: IntegrationService
  }
}

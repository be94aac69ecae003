/** Services of webhooks for handlers. */
import type { WebhookService } from '../../actors/webhooks/webhook-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly webhooks: WebhookService
  }
}

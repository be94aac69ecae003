/** Services of webhooks for handlers. */
import type { WebhookCommands, WebhookReads } from '../../actors/webhooks/webhook-operations.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly webhooks: WebhookReads
  }
  interface Services {
    readonly webhooks: WebhookReads & WebhookCommands
  }
}

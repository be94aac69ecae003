/** Services of webhooks, as handlers get them. */
import type { WebhookCommands, WebhookReads } from '../webhooks.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly webhooks: WebhookReads
  }
  interface Services {
    readonly webhooks: WebhookReads & WebhookCommands
  }
}

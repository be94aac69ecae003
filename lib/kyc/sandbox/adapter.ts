/** The built-in provider of sandboxes. */
import type { KycAdapter } from '../messages.ts'
import { sandboxWebhooks } from './sandbox-webhooks.ts'

export const sandboxAdapter: KycAdapter = {
  credentials: [],
  reviewsWhenAsked: true,
  hasLevels: false,
  webhooks: sandboxWebhooks,
}

/** Sumsub: an SDK collects documents, and webhooks tell the outcomes. */
import type { KycAdapter } from '../messages.ts'
import { sumsubWebhooks } from './sumsub-webhooks.ts'

export const sumsubAdapter: KycAdapter = {
  credentials: ['appToken', 'secretKey'],
  reviewsWhenAsked: false,
  hasLevels: true,
  webhooks: sumsubWebhooks,
}

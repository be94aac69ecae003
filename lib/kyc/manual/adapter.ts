/** Reviews by staff themselves: there is no partner to call or to hear from. */
import type { KycAdapter } from '../messages.ts'

export const manualAdapter: KycAdapter = { credentials: [], reviewsWhenAsked: false, hasLevels: false, webhooks: null }

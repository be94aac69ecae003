/** The KYC providers, each with its adapter. */
import { manualAdapter } from './manual/adapter.ts'
import type { KycProviderId } from '../onboarding/case-words.ts'
import type { KycAdapter } from './messages.ts'
import { sandboxAdapter } from './sandbox/adapter.ts'
import { sumsubAdapter } from './sumsub/adapter.ts'

export const KYC_ADAPTERS: Readonly<Record<KycProviderId, KycAdapter>> = {
  sumsub: sumsubAdapter,
  manual: manualAdapter,
  sandbox: sandboxAdapter,
}

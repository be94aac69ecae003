/** Messages of providers, recorded with the decisions that they caused. */
import type { PartnerMessageType } from './messages.ts'

export interface ProviderEvent {
  readonly id: string
  readonly connectionId: string
  readonly type: PartnerMessageType
  readonly objectId: string
  readonly code: string | null
  readonly receivedAt: number
}

declare module '../decisions/effects.ts' {
  interface Effects {
    readonly providerEvents?: readonly ProviderEvent[]
  }
}

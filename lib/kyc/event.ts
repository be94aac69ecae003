/** The events of KYC providers, as they are kept. */
import { DAY_MS } from '../base/clock.ts'

/** `ignored`: it changed nothing; `failed`: the service could not use it, which its operator is told. */
export type KycEventStatus = 'received' | 'processed' | 'ignored' | 'failed'

/** Events are kept for this long. */
export const KYC_EVENTS_KEPT_MS = 400 * DAY_MS

/** An event. Times are epoch milliseconds. */
export interface KycEvent {
  readonly id: string
  readonly connectionId: string
  readonly operatorId: string
  /** The provider's id of it. */
  readonly providerEventId: string
  readonly type: string
  /** As it came. */
  readonly body: Uint8Array
  readonly occurredAt: number | null
  readonly receivedAt: number
}

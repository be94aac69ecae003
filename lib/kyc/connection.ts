/** Connections of operators to KYC providers: their states and rules. Pure. */
import type { KycProviderId } from '../onboarding/case-words.ts'

/**
 * `draft`: its keys have not been tried; `verified`: they work; `active`: it reviews the operator's customers; `failed`:
 * the provider refused them.
 */
export const KYC_CONNECTION_STATUSES = ['draft', 'verified', 'active', 'failed'] as const
export type KycConnectionStatus = (typeof KYC_CONNECTION_STATUSES)[number]

/** The names of the reviews in the provider's console. */
export interface KycLevels {
  readonly person: string | null
  readonly company: string | null
}

/** The end of the last trial of a connection's keys. */
export interface KycProbe {
  readonly ok: boolean
  /** The provider's answer in words for staff; null when the probe succeeded. */
  readonly message: string | null
  readonly at: number
}

/** A connection. Times are epoch milliseconds. */
export interface KycConnection {
  readonly id: string
  readonly operatorId: string
  readonly provider: KycProviderId
  readonly name: string
  readonly status: KycConnectionStatus
  readonly levels: KycLevels
  /** The sealed keys of the provider's API, and the sealed secret of its webhooks. */
  readonly credentials: Uint8Array | null
  readonly credentialsUpdatedAt: number | null
  readonly webhookSecret: Uint8Array | null
  readonly webhookSecretUpdatedAt: number | null
  readonly probe: KycProbe | null
  readonly verifiedAt: number | null
  readonly activatedAt: number | null
  readonly version: number
  readonly createdAt: number
  readonly updatedBy: string | null
  readonly updatedAt: number
}

/** The status after a trial of the keys. One that reviews customers goes on: webhooks need no keys. */
export function statusAfterProbe(status: KycConnectionStatus, ok: boolean): KycConnectionStatus {
  if (status === 'active') return status
  return ok ? 'verified' : 'failed'
}

/** The status after new keys: they have to be tried. */
export const statusAfterKeys = (status: KycConnectionStatus): KycConnectionStatus =>
  status === 'active' ? status : 'draft'

/** The places of the sealed secrets of a connection. */
export const credentialsContext = (id: string): string => `kyc_connection.credentials ${id}`
export const webhookSecretContext = (id: string): string => `kyc_connection.webhook_secret ${id}`

/** Connections to KYC providers in the form of the API: without their secrets. */
import { timestamp } from '../../lib/base/clock.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { KYC_ADAPTERS } from '../../lib/kyc/adapters.ts'
import type { KycConnection } from '../../lib/kyc/connection.ts'
import type { KycConnectionView } from '../../lib/kyc/kyc-connection-schema.ts'

const timeOrNull = (ms: number | null): string | null => (ms === null ? null : timestamp(ms))

/** Shows a connection. `origin` is the address of the service. */
export function connectionView(origin: string, record: KycConnection): Versioned<KycConnectionView> {
  const { id, provider, name, status, levels, probe, updatedBy } = record
  return {
    version: record.version,
    view: {
      id,
      provider,
      name,
      status,
      levels,
      credentialsSet: record.credentials !== null,
      credentialsUpdatedAt: timeOrNull(record.credentialsUpdatedAt),
      webhookSecretSet: record.webhookSecret !== null,
      webhookSecretUpdatedAt: timeOrNull(record.webhookSecretUpdatedAt),
      webhookUrl: KYC_ADAPTERS[provider].webhooks === null ? null : `${origin}/v1/kyc-webhooks/${id}`,
      lastVerification: probe === null ? null : { ...probe, at: timestamp(probe.at) },
      verifiedAt: timeOrNull(record.verifiedAt),
      activatedAt: timeOrNull(record.activatedAt),
      createdAt: timestamp(record.createdAt),
      updatedBy,
      updatedAt: timestamp(record.updatedAt),
    },
  }
}

/** Returns the facts of a connection that the audit trail holds. */
export const connectionFacts = ({
  provider,
  name,
  status,
  levels,
  credentialsUpdatedAt,
  webhookSecretUpdatedAt,
}: KycConnection) => ({
  provider,
  name,
  status,
  levels,
  credentialsUpdatedAt: timeOrNull(credentialsUpdatedAt),
  webhookSecretUpdatedAt: timeOrNull(webhookSecretUpdatedAt),
})

/** Connections to banking partners in the form of the API: without their secrets. */
import { timestamp } from '../../../lib/base/clock.ts'
import type { CurrencyCode } from '../../../lib/base/currency.ts'
import { moneyJson } from '../../../lib/base/money.ts'
import type { Versioned } from '../../../lib/commands/command.ts'
import { descriptionOf } from '../../../lib/providers/connection-faults.ts'
import type { ProviderConnectionView } from '../../../lib/providers/connection-schema.ts'
import type { ProviderConnectionRecord } from '../../../lib/providers/connection.ts'
import {
  CAPABILITIES,
  type Capabilities,
  type ProviderDescription,
  type ProviderId,
} from '../../../lib/providers/provider.ts'
import type { Rail } from '../../../lib/rails/rails.ts'
import type { CashToMove } from '../../../storage/providers/cash/cash-orders.ts'
import type { ConnectionLive } from '../../../storage/providers/provider-connection-queries.ts'

const timeOrNull = (ms: number | null): string | null => (ms === null ? null : timestamp(ms))

/** The rails that have an ability of their own. */
const NAMED_RAILS: ReadonlySet<string> = new Set<Rail>([
  'sepa',
  'sepa_instant',
  'swift',
  'faster_payments',
  'chaps',
  'bacs',
])

/** The abilities of a provider that this version has no adapter for. */
const NONE = {
  ...(Object.fromEntries(CAPABILITIES.map((capability) => [capability, false])) as Omit<Capabilities, 'currencies'>),
  currencies: [],
} as Capabilities

const localRailsOf = (description: ProviderDescription | null): Rail[] =>
  (Object.keys(description?.rails ?? {}) as Rail[]).filter((rail) => !NAMED_RAILS.has(rail))

/** Shows a connection. `origin` is the address of the service; `cash` is of this connection. */
export function connectionView(
  origin: string,
  record: ProviderConnectionRecord,
  live: ConnectionLive,
  cash: readonly CashToMove[],
): Versioned<ProviderConnectionView> {
  const { id, migration } = record
  const description = descriptionOf(record.provider)
  const capabilities = description?.capabilities ?? NONE
  const sendsWebhooks = description !== null && description.webhooks !== null
  return {
    version: record.version,
    view: {
      id,
      operatorId: record.operatorId,
      customerId: record.customerId,
      provider: record.provider as ProviderId,
      environment: record.environment,
      name: record.name,
      config: { ...record.settings },
      credentialsSet: record.credentials !== null,
      credentialsKid: record.credentialsKid,
      credentialsUpdatedAt: timeOrNull(record.credentialsUpdatedAt),
      credentialsFingerprint: record.credentialsFingerprint,
      webhookSecretSet: record.webhookSecret !== null,
      webhookUrl: sendsWebhooks ? `${origin}/v1/provider-webhooks/${id}` : null,
      status: record.status,
      role: record.role,
      fallbackCurrencies: [...record.fallbackCurrencies],
      contractModel: record.contractModel,
      webhookRegistrationState: sendsWebhooks ? record.webhookRegistration : 'not_supported',
      healthy: live.isKnown ? record.health === 'healthy' && live.probe?.ok !== false : null,
      health: record.health,
      verifiedAt: timeOrNull(record.verifiedAt),
      activatedAt: timeOrNull(record.activatedAt),
      drainingAt: timeOrNull(record.drainingAt),
      retiredAt: timeOrNull(record.retiredAt),
      capabilities: { ...capabilities, currencies: [...capabilities.currencies] },
      localRails: localRailsOf(description),
      lastHealthAt: timeOrNull(live.probedAt),
      lastHealth: live.probe,
      lastError: live.lastError,
      inFlight: Number(live.inFlight),
      oldestUnconfirmedAt: timeOrNull(live.oldestUnconfirmedAt),
      cashToMove: cash.map(({ direction, otherConnectionId, currency, amount, payments }) => ({
        ...{ direction, otherConnectionId, payments },
        amount: moneyJson({ amountMinor: amount, currency: currency as CurrencyCode }),
      })),
      migration:
        migration === null
          ? null
          : {
              toConnectionId: migration.toConnectionId,
              proposedBy: migration.proposedBy,
              proposedAt: timestamp(migration.proposedAt),
              jobId: migration.jobId,
            },
      createdAt: timestamp(record.createdAt),
      updatedAt: timestamp(record.updatedAt ?? record.createdAt),
    },
  }
}

/** Returns the facts of a connection that the audit trail holds: no secret. */
export const connectionFacts = ({
  provider,
  environment,
  name,
  customerId,
  role,
  status,
  settings,
  fallbackCurrencies,
  contractModel,
  credentialsFingerprint,
  credentialsUpdatedAt,
  webhookSecretUpdatedAt,
  migration,
}: ProviderConnectionRecord) => ({
  provider,
  environment,
  name,
  customerId,
  role,
  status,
  config: settings,
  fallbackCurrencies,
  contractModel,
  credentialsFingerprint,
  credentialsUpdatedAt: timeOrNull(credentialsUpdatedAt),
  webhookSecretUpdatedAt: timeOrNull(webhookSecretUpdatedAt),
  migration: migration === null ? null : { toConnectionId: migration.toConnectionId, jobId: migration.jobId },
})

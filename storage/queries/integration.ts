/** What an operator sees of its integrations at a glance. */
import { timestamp, type Clock } from '../../lib/clock.ts'
import type { Database } from '../database.ts'
import { keysUsedLately, listRequests, reportUsage, usageOfLastDays, type KeyOwner, type LogQuestion, type UsageQuestion } from '../request-log.ts'

/** Addresses that an operator's developers are sent to. */
export interface IntegrationLinks {
  readonly portal: string
  readonly reference: string
  readonly gettingStarted: string
  readonly sandbox: string
  readonly changelog: string
  readonly openapi: string
}

export interface IntegrationOptions {
  readonly database: Database
  readonly clock: Clock
  /** Operations whose use is reported by name. */
  readonly deprecated: ReadonlySet<string>
  /** Asked when they are shown: where the service listens is known late. */
  readonly links: () => IntegrationLinks
}

/** The reads of what keys have called. @throws what the driver throws */
export function createIntegrationReads({ database, clock, deprecated, links }: IntegrationOptions) {
  return {
    apiKeyRequests: (owner: KeyOwner, apiKeyId: string, question: LogQuestion) => listRequests(database, owner, apiKeyId, { ...question, now: clock.now() }),
    apiUsage: (owner: KeyOwner, question: UsageQuestion) => reportUsage(database, owner, { ...question, deprecated, now: clock.now() }),
    integrationHome: (operatorId: string) => integrationHome(database, operatorId, { now: clock.now(), links: links() }),
  }
}

async function integrationHome(database: Database, operatorId: string, { now, links }: { readonly now: number; readonly links: IntegrationLinks }) {
  const [connections, [keys], usedLast24h, usageLast7Days] = await Promise.all([
    database.query<[string, string, string, string, string, string]>({
      name: 'integration_connections', values: [operatorId],
      text: 'select id, name, provider, environment, role, status from provider_connection where operator_id = $1 order by id',
    }),
    database.query<[string, string, string, string]>({
      name: 'integration_keys', values: [operatorId, timestamp(now)],
      text: `select count(*), count(*) filter (where environment = 'live'), count(*) filter (where environment = 'test'), count(*) filter (where level = 'operator')
        from api_key where operator_id = $1 and status = 'active' and (expires_at is null or expires_at > $2::timestamptz)`,
    }),
    keysUsedLately(database, operatorId, now),
    usageOfLastDays(database, operatorId, now),
  ])
  const [active, live, test, operatorLevel] = (keys as [string, string, string, string]).map(Number) as [number, number, number, number]
  return {
    operatorId,
    generatedAt: timestamp(now),
    activeConnectionId: connections.find(([, , , , , status]) => status === 'active')?.[0] ?? null,
    connections: connections.map(([id, name, provider, environment, role, status]) =>
      // Nothing asks partners how they are yet, so a connection is as healthy as its status.
      ({ id, name, provider, environment, role, status, healthy: status === 'active', lastHealthAt: null })),
    apiKeys: { active, live, test, operatorLevel, usedLast24h },
    usageLast7Days,
    // Endpoints of integrators cannot be registered yet.
    integratorWebhooks: { endpoints: 0, active: 0, paused: 0, failed: 0, deliveriesPending: 0, deliveriesFailed24h: 0, lastDeliveryAt: null },
    links,
  }
}

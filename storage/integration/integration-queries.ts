/** The overview of an operator's integrations. */
import { DAY_MS, timestamp, type Clock } from '../../lib/base/clock.ts'
import type { Database } from '../db/database.ts'
import { findKinds } from './id-kinds.ts'
import {
  keysUsedLately,
  listRequests,
  reportUsage,
  usageOfLastDays,
  type KeyOwner,
  type LogQuestion,
  type UsageReportQuery,
} from './request-log.ts'
import { pick } from '../db/columns.ts'
import { bigintExpression, expression, from, instantOrNull, select } from '../db/select.ts'
import { ProviderConnection } from '../providers/provider-connection-entity.ts'

/** Addresses for an operator's developers. */
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
  /** Deprecated operations, whose use is reported by name. */
  readonly deprecated: ReadonlySet<string>
  /** A function, because the service learns its own address late in the start. */
  readonly links: () => IntegrationLinks
}

/** Creates the reads of logged API calls. @throws the driver's errors */
export function createIntegrationReads({ database, clock, deprecated, links }: IntegrationOptions) {
  return {
    apiKeyRequests: (owner: KeyOwner, apiKeyId: string, question: LogQuestion) =>
      listRequests(database, owner, apiKeyId, { ...question, now: clock.now() }),
    apiUsage: (owner: KeyOwner, question: UsageReportQuery) =>
      reportUsage(database, owner, { ...question, deprecated, now: clock.now() }),
    kindsOfIds: (tenantId: string, ids: readonly string[]) => findKinds(database, tenantId, ids),
    integrationHome: (operatorId: string) =>
      integrationHome(database, operatorId, { now: clock.now(), links: links() }),
  }
}

const CONNECTION = select({
  ...pick(from(ProviderConnection, 'k'), ['id', 'name', 'provider', 'environment', 'role', 'status', 'health']),
  customerId: expression<string | null>('k.customer_id'),
  lastHealthAt: instantOrNull('h.probed_at'),
})
const KEYS = select({
  active: bigintExpression('count(*)'),
  live: bigintExpression(`count(*) filter (where environment = 'live')`),
  test: bigintExpression(`count(*) filter (where environment = 'test')`),
  operatorLevel: bigintExpression(`count(*) filter (where level = 'operator')`),
})

async function integrationHome(
  database: Database,
  operatorId: string,
  { now, links }: { readonly now: number; readonly links: IntegrationLinks },
) {
  const [found, [keys], usedLast24h, usageLast7Days, integratorWebhooks] = await Promise.all([
    database.query({
      name: 'integration_connections',
      values: [operatorId],
      text: `select ${CONNECTION.sql} from provider_connection k left join provider_health h on h.connection_id = k.id where k.operator_id = $1 order by k.id`,
    }),
    database.query({
      name: 'integration_keys',
      values: [operatorId, timestamp(now)],
      text: `select ${KEYS.sql}
        from api_key where operator_id = $1 and status = 'active' and (expires_at is null or expires_at > $2::timestamptz)`,
    }),
    keysUsedLately(database, operatorId, now),
    usageOfLastDays(database, operatorId, now),
    webhooksAtAGlance(database, operatorId, now),
  ])
  const connections = found.map((row) => CONNECTION.read(row))
  const { active, live, test, operatorLevel } = KEYS.read(keys as unknown[])
  return {
    operatorId,
    generatedAt: timestamp(now),
    activeConnectionId:
      connections.find(
        ({ status, role, customerId }) => status === 'active' && role === 'primary' && customerId === null,
      )?.id ?? null,
    connections: connections.map(({ customerId: _, health, lastHealthAt, ...connection }) => ({
      ...connection,
      healthy: health === 'healthy' && (connection.status === 'active' || connection.status === 'draining'),
      lastHealthAt: lastHealthAt === null ? null : timestamp(lastHealthAt),
    })),
    apiKeys: {
      active: Number(active),
      live: Number(live),
      test: Number(test),
      operatorLevel: Number(operatorLevel),
      usedLast24h,
    },
    usageLast7Days,
    integratorWebhooks,
    links,
  }
}

const WEBHOOKS = select({
  endpoints: bigintExpression('count(*)'),
  active: bigintExpression(`count(*) filter (where status = 'active')`),
  paused: bigintExpression(`count(*) filter (where status = 'paused')`),
  failed: bigintExpression(`count(*) filter (where disabled_reason = 'delivery_failures')`),
  lastDeliveryAt: instantOrNull('max(last_delivery_at)'),
  pending: bigintExpression(
    '(select count(*) from webhook_queue q join webhook_endpoint e on e.id = q.endpoint_id where e.operator_id = $1)',
  ),
  failedLately:
    bigintExpression(`(select count(*) from webhook_delivery d join webhook_endpoint e on e.id = d.endpoint_id
      where e.operator_id = $1 and d.status = 'failed' and d.completed_at > $2::timestamptz and d.created_at > $3::timestamptz)`),
})

/**
 * Age of the oldest deliveries that are searched, milliseconds. A delivery that failed in the last day was made within
 * the days of its attempts, or is a redelivery, which is not searched any further.
 */
const TRIED_MS = 5 * DAY_MS

/** Counts the endpoints of an operator and its customers, with their failures. */
async function webhooksAtAGlance(database: Database, operatorId: string, now: number) {
  const [row] = await database.query({
    name: 'integration_webhooks',
    text: `select ${WEBHOOKS.sql} from webhook_endpoint where operator_id = $1`,
    values: [operatorId, timestamp(now - DAY_MS), timestamp(now - TRIED_MS)],
  })
  const { endpoints, active, paused, failed, lastDeliveryAt, pending, failedLately } = WEBHOOKS.read(row as unknown[])
  return {
    endpoints: Number(endpoints),
    active: Number(active),
    paused: Number(paused),
    failed: Number(failed),
    deliveriesPending: Number(pending),
    deliveriesFailed24h: Number(failedLately),
    lastDeliveryAt: lastDeliveryAt === null ? null : timestamp(lastDeliveryAt),
  }
}

/** An operator's view of its customers' and its own integrations: keys, calls and connections. */
import Type, { type Static } from 'typebox'
import { json } from '../route/answer.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import { DAY_MS, timestamp } from '../../lib/base/clock.ts'
import { dayStart } from '../../lib/contract/formats.ts'
import { refuseQuery } from '../../lib/contract/query.ts'
import { route } from '../route/route.ts'
import {
  ApiKeyRequestLog,
  ApiUsageReport,
  IntegrationHome,
  KeyEnvironment,
  RequestOutcome,
} from '../../lib/integration/api-usage-schema.ts'
import { CalendarDate, Uuid } from '../../lib/contract/primitives.ts'

const LOG_LIMIT = 100
const WINDOW_DAYS_MAX = 90
/** Days covered by a report whose query has no start. */
const WINDOW_DAYS_DEFAULT = 30

/** Query of a key's request log. */
export const RequestLogQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LOG_LIMIT,
      default: LOG_LIMIT,
      description: 'The largest number of calls to list.',
    }),
  ),
  outcome: Type.Optional(RequestOutcome),
})

/** The days of a usage report. */
export const usageDays = {
  from: Type.Optional(CalendarDate),
  to: Type.Optional(CalendarDate),
}

const UsageQuery = Type.Object({
  ...usageDays,
  apiKeyId: Type.Optional(Uuid),
  environment: Type.Optional(KeyEnvironment),
  customerId: Type.Optional(Uuid),
})

/** Fills in the defaults of a request-log query. */
export function logQuestion({ limit = LOG_LIMIT, outcome }: Static<typeof RequestLogQuery>) {
  return { limit, outcome: outcome ?? null }
}

/** Returns the days of a report: by default today and the 29 days before it. */
export function usageWindow(
  query: { readonly from?: string; readonly to?: string },
  now: number,
): { readonly from: string; readonly to: string } {
  const to = query.to ?? timestamp(now).slice(0, 10)
  const last = dayStart(to)
  if (Number.isNaN(last)) refuseQuery('to', 'invalid_format', 'Must be a date.')
  const from = query.from ?? timestamp(last - (WINDOW_DAYS_DEFAULT - 1) * DAY_MS).slice(0, 10)
  const first = dayStart(from)
  if (Number.isNaN(first)) refuseQuery('from', 'invalid_format', 'Must be a date.')
  if (first > last) refuseQuery('from', 'invalid_value', 'Must not be after the end of the range.')
  if (last - first > WINDOW_DAYS_MAX * DAY_MS)
    refuseQuery('to', 'too_large', `Must be at most ${WINDOW_DAYS_MAX} days after from.`, { max: WINDOW_DAYS_MAX })
  return { from, to }
}

export const getIntegrationHome = route({
  method: 'get',
  path: '/integration',
  operationId: 'getIntegrationHome',
  tag: 'public-api',
  summary: 'Read the overview of all integrations',
  callers: 'key',
  scope: 'integration:read',
  tenant: 'operator',
  idempotency: 'none',
  success: { status: 200, description: 'The overview.', schema: IntegrationHome },
  problems: [],
  handle: async ({ tenant }, { integration }) => json(200, await integration.integrationHome(tenant.id)),
})

export const getOperatorApiUsage = route({
  method: 'get',
  path: '/integration/api-usage',
  operationId: 'getOperatorApiUsage',
  tag: 'public-api',
  summary: 'Report the usage of API keys',
  description:
    'Days are in UTC. `to` is inclusive and by default today; `from` is by default 29 days before `to`, and ' +
    'at most 90. Calls are counted within a few seconds.',
  callers: 'key',
  scope: 'integration:read',
  tenant: 'operator',
  idempotency: 'none',
  query: UsageQuery,
  success: { status: 200, description: 'The report.', schema: ApiUsageReport },
  problems: [],
  handle: async ({ tenant, query }, { integration, clock }) =>
    json(
      200,
      await integration.apiUsage(tenant, {
        ...usageWindow(query, clock.now()),
        apiKeyId: query.apiKeyId?.toLowerCase() ?? null,
        environment: query.environment ?? null,
        customerId: query.customerId?.toLowerCase() ?? null,
      }),
    ),
})

export const listOperatorApiKeyRequests = route({
  method: 'get',
  path: '/integration/api-keys/{apiKeyId}/requests',
  operationId: 'listOperatorApiKeyRequests',
  tag: 'public-api',
  summary: 'List the last calls of a key',
  description: 'Lists the calls of any key of the operator or of its customers, newest first, for seven days.',
  callers: 'key',
  scope: 'integration:read',
  tenant: 'operator',
  idempotency: 'none',
  query: RequestLogQuery,
  success: { status: 200, description: 'The last calls.', schema: ApiKeyRequestLog },
  problems: [],
  handle: async ({ tenant, params, query }, { integration }) => {
    const log = await integration.apiKeyRequests(tenant, params.apiKeyId, logQuestion(query))
    if (log === null) refuseNotFound()
    return json(200, log)
  },
})

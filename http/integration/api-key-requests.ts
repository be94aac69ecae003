/** The calls of an API key, for the people who manage it. */
import Type from 'typebox'
import { refuseNotFound } from '../../lib/base/problems.ts'
import { json } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { ApiKeyRequestLog, ApiUsageReport } from '../../lib/integration/api-usage-schema.ts'
import { logQuestion, RequestLogQuery, usageDays, usageWindow } from './integration.ts'

export const listApiKeyRequests = route({
  method: 'get',
  path: '/api-keys/{apiKeyId}/requests',
  operationId: 'listApiKeyRequests',
  tag: 'public-api',
  summary: 'List the last calls of an API key',
  description: 'Lists the calls newest first, for seven days.',
  callers: 'session',
  scope: null,
  capability: 'api_keys.manage',
  tenant: 'customer',
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

export const getApiKeyUsage = route({
  method: 'get',
  path: '/api-keys/{apiKeyId}/usage',
  operationId: 'getApiKeyUsage',
  tag: 'public-api',
  summary: 'Report the usage of an API key',
  description:
    'Days are in UTC. `to` is inclusive and by default today; `from` is by default 29 days before `to`, and ' +
    'at most 90.',
  callers: 'session',
  scope: null,
  capability: 'api_keys.manage',
  tenant: 'customer',
  idempotency: 'none',
  query: Type.Object(usageDays),
  success: { status: 200, description: 'The report on this key.', schema: ApiUsageReport },
  problems: [],
  handle: async ({ tenant, params, query }, { integration, clock }) => {
    const report = await integration.apiUsage(tenant, {
      ...usageWindow(query, clock.now()),
      apiKeyId: params.apiKeyId,
      environment: null,
      customerId: null,
    })
    if (report.keys.length === 0) refuseNotFound()
    return json(200, report)
  },
})

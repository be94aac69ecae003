/** The overview of the operator. */
import { OperatorStatistics, StatisticsQuery } from '../../lib/statistics/statistics-schema.ts'
import { json } from '../route/answer.ts'
import { route } from '../route/route.ts'

const DAYS = 7

export const getOperatorStatistics = route({
  method: 'get',
  path: '/operator/statistics',
  operationId: 'getOperatorStatistics',
  tag: 'tenants',
  summary: 'Count the customers, what waits for people, and what was paid',
  callers: 'staff',
  capability: 'audit.read',
  scope: null,
  tenant: 'operator',
  idempotency: 'none',
  query: StatisticsQuery,
  success: { status: 200, description: 'The statistics.', schema: OperatorStatistics },
  problems: [],
  handle: async ({ tenant, query }, { statistics }) =>
    json(200, await statistics.getOperatorStatistics(tenant.id, query.days ?? DAYS)),
})

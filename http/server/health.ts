/** Health checks: whether the process lives, and whether it is ready for requests. */
import { json } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { Health, Readiness } from '../../lib/contract/health.ts'

export const getHealth = route({
  method: 'get',
  path: '/health',
  operationId: 'getHealth',
  tag: 'public-api',
  summary: 'Check that the process is alive and read its version',
  callers: 'public',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  success: { status: 200, description: 'The process answers.', schema: Health },
  problems: [],
  limits: 'none',
  atRoot: true,
  handle: (_context, services) => json(200, services.health()),
})

export const getReady = route({
  method: 'get',
  path: '/ready',
  operationId: 'getReady',
  tag: 'public-api',
  summary: 'Check that the node is ready for requests',
  description:
    'Answers 503 with the same body while a system that the node needs does not answer, or there is no operator.',
  callers: 'public',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  success: {
    status: 200,
    description: 'Every system that the node needs answers.',
    schema: Readiness,
    unavailable: 503,
  },
  problems: ['service-unavailable'],
  limits: 'none',
  atRoot: true,
  handle: async (_context, services) => {
    const readiness = await services.readiness()
    return json(readiness.status === 'ready' ? 200 : 503, readiness)
  },
})

/** Health checks: whether the process lives, and whether it is ready for requests. */
import { json } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { Health, Readiness } from '../../lib/contract/health.ts'

export const getHealth = route({
  method: 'get',
  path: '/health',
  operationId: 'getHealth',
  tag: 'public-api',
  summary: 'Whether the process answers, and which build it is',
  callers: 'public',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  success: { status: 200, description: 'The process answers.', schema: Health },
  problems: [],
  limits: 'none',
  atRoot: true,
  handle: (_context, world) => json(200, world.health()),
})

export const getReady = route({
  method: 'get',
  path: '/ready',
  operationId: 'getReady',
  tag: 'public-api',
  summary: 'Whether requests should be sent here',
  description: 'Answers 503 with the same body while something that is needed does not answer.',
  callers: 'public',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  success: { status: 200, description: 'Everything that is needed answers.', schema: Readiness, unavailable: 503 },
  problems: ['service-unavailable'],
  limits: 'none',
  atRoot: true,
  handle: async (_context, world) => {
    const readiness = await world.readiness()
    return json(readiness.status === 'ready' ? 200 : 503, readiness)
  },
})

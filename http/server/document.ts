/** The operation that serves the OpenAPI document. */
import { type Route, route } from '../route/route.ts'
import type { Answer } from '../../lib/commands/answer.ts'
import Type from 'typebox'

/**
 * Declares the route of the document. `document` is called once, at the first request, because it describes this route
 * too.
 */
export function openapiRoute(document: () => Answer<{ readonly openapi: string }, 200>): Route {
  let answer: Answer<{ readonly openapi: string }, 200> | undefined
  return route({
    method: 'get',
    path: '/openapi.json',
    operationId: 'getOpenApi',
    tag: 'public-api',
    summary: 'Read the OpenAPI document',
    callers: 'public',
    scope: null,
    tenant: 'none',
    idempotency: 'none',
    success: {
      status: 200,
      description: 'The OpenAPI document.',
      schema: Type.Object({ openapi: Type.String() }, { title: 'OpenapiDocument' }),
      etag: true,
    },
    problems: [],
    limits: 'none',
    handle: () => (answer ??= document()),
  })
}

/**
 * The OpenAPI 3.1 document, made from the route table alone.
 *
 * TypeBox schemas are JSON Schema already. Schemas with a title become components; all others stay inline.
 */
import { hash } from 'node:crypto'
import { type ProblemSlug, PROBLEMS } from '../../lib/base/problems.ts'
import { exampleOf } from './openapi-example.ts'
import { INTRODUCTION } from './openapi-introduction.ts'
import { pathParameters, type Route } from '../route/route.ts'
import { type Answer, showing } from '../../lib/commands/answer.ts'
import { ProblemSchema } from '../../lib/contract/problem.ts'
import { CONTRACT_VERSION } from '../../lib/contract/version.ts'
import {
  collect,
  commonHeaders,
  header,
  HEADERS,
  type Json,
  parameter,
  PARAMETERS,
  TAGS,
} from './openapi-components.ts'
import { listParameters } from './openapi-lists.ts'
import { problemExample, problemResponses } from './openapi-problems.ts'
import { shareResponses } from './openapi-responses.ts'
import { callbacks } from './openapi-webhooks.ts'

const CALLERS: Readonly<Record<Route['callers'], string | undefined>> = {
  key: undefined,
  session: 'For people who are signed in; keys never.',
  staff: 'For staff of the operator who are signed in; keys never.',
  public: undefined,
}

/** Either of these two credentials is enough. */
const SESSIONS: readonly Json[] = [{ sessionToken: [] }, { sessionCookie: [] }]
const SECURITY: Readonly<Record<Route['callers'], readonly Json[]>> = {
  key: [{ apiKey: [] }, ...SESSIONS],
  session: SESSIONS,
  staff: SESSIONS,
  public: [],
}

const SECURITY_SCHEMES: Json = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, starting with `svc_live_` or `svc_test_`.' },
  sessionToken: { type: 'http', scheme: 'bearer', description: 'The token of a session, from signing in.' },
  sessionCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-session',
    description: 'The session token as a cookie, for browsers. Requests that write also need `X-CSRF-Token`.',
  },
}

/** The operations that set or clear the browser's cookie. */
const SETS_COOKIE: ReadonlySet<string> = new Set([
  'createSession',
  'verifySessionMfa',
  'refreshSession',
  'deleteCurrentSession',
  'verifyStepUpChallenge',
])

/** Whether the body is a file: a body that is not JSON has a content type, but no schema. */
function isFile({ contentType, schema }: Route['success']): boolean {
  return contentType !== undefined && schema === undefined
}

function successResponses(route: Route, schemas: Json): Json {
  const { success } = route
  const names = commonHeaders(route)
  if (success.etag === true) names.push('ETag')
  if (success.location === true) names.push('Location')
  if (SETS_COOKIE.has(route.operationId)) names.push('Set-Cookie')
  if (route.idempotency !== 'none') names.push('Idempotency-Replayed')
  if (isFile(success)) names.push('Content-Disposition')
  if (route.operationId === 'getOpenApi') names.push('X-Contract-Version')
  const response: Json = { description: success.description, headers: header(...names) }
  if (success.schema !== undefined)
    response['content'] = {
      [success.contentType ?? 'application/json']: {
        schema: collect(success.schema, schemas),
        example: exampleOf(success.schema, 'all'),
      },
    }
  else if (isFile(success))
    response['content'] = { [success.contentType as string]: { schema: { type: 'string', format: 'binary' } } }
  const responses: Json = { [success.status]: response }
  if (success.or !== undefined) {
    const { status, description, location } = success.or
    responses[status] = {
      ...response,
      description,
      headers: header(...names, ...(location === true ? ['Location'] : [])),
    }
  }
  if (route.method === 'get' && success.etag === true) {
    responses['304'] = {
      description: "The client's copy is current.",
      headers: header(...commonHeaders(route), 'ETag'),
    }
  }
  return responses
}

function operation(route: Route, schemas: Json): Json {
  const parameters: Json[] = pathParameters(route.path).map((name) => ({
    name,
    in: 'path',
    required: true,
    ...(name === 'token'
      ? {
          description: 'The token of the link in the mail.',
          schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{20,128}$' },
        }
      : route.words?.[name] !== undefined
        ? { description: 'One of the listed values.', schema: { type: 'string', enum: route.words[name] } }
        : { description: 'Id of the resource.', schema: { $ref: '#/components/schemas/Uuid' } }),
  }))
  if (route.tenant !== 'none') parameters.push(parameter('TenantId'))
  parameters.push(parameter('RequestId'))
  if (route.idempotency !== 'none')
    parameters.push(parameter(route.idempotency === 'required' ? 'IdempotencyKey' : 'OptionalIdempotencyKey'))
  if (route.callers !== 'public' && route.method !== 'get') parameters.push(parameter('CsrfToken'))
  if (route.ifMatch !== undefined) parameters.push(parameter(route.ifMatch === true ? 'IfMatch' : 'OptionalIfMatch'))
  if (route.method === 'get' && route.success.etag === true) parameters.push(parameter('IfNoneMatch'))
  if (route.list !== undefined) parameters.push(...listParameters(route.list))
  const query = route.query as { properties?: Json; required?: string[] } | undefined
  for (const [name, schema] of Object.entries(query?.properties ?? {})) {
    const { description } = schema as { readonly description?: string }
    parameters.push({
      name,
      in: 'query',
      required: query?.required?.includes(name) === true,
      description,
      schema: collect(schema, schemas),
    })
  }
  const described = [
    route.description,
    CALLERS[route.callers],
    route.scope === null ? undefined : `Scope: \`${route.scope}\`.`,
    route.capability === undefined
      ? undefined
      : `Capability: \`${typeof route.capability === 'string' ? route.capability : route.capability.join('` or `')}\`.`,
    route.stepUp === undefined ? undefined : `Sessions need a step-up: \`${route.stepUp.action}\`.`,
    route.tenant === 'none' ? undefined : `Tenant: ${route.tenant}.`,
  ].filter((sentence) => sentence !== undefined)
  const result: Json = {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: described.length === 0 ? `${route.summary}.` : described.join(' '),
    security: SECURITY[route.callers],
    parameters,
  }
  if (route.deprecated !== undefined) result['deprecated'] = true
  const content = {
    ...(route.form === undefined ? {} : { 'multipart/form-data': { schema: collect(route.form, schemas) } }),
    ...(route.body === undefined
      ? {}
      : { 'application/json': { schema: collect(route.body, schemas), example: exampleOf(route.body, 'required') } }),
    ...(route.signedBody === undefined
      ? {}
      : { 'application/json': { schema: collect(route.signedBody.schema, schemas) } }),
  }
  if (Object.keys(content).length > 0) result['requestBody'] = { required: route.bodyOptional !== true, content }
  result['responses'] = { ...successResponses(route, schemas), ...problemResponses(route) }
  return result
}

/** Builds the document of a route table. */
export function openapiDocument(routes: readonly Route[]): Json {
  const schemas: Json = {}
  collect(ProblemSchema, schemas)
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    paths[route.path] ??= {}
    const item = paths[route.path] as Json
    item[route.method] = operation(route, schemas)
  }
  const used = new Set(routes.map((route) => route.tag))
  const webhooks = routes.some(({ operationId }) => operationId === 'createIntegratorWebhook')
    ? { webhooks: callbacks(schemas) }
    : {}
  const responses = shareResponses(paths)
  const body = JSON.stringify([paths, responses])
  return {
    openapi: '3.1.0',
    info: {
      title: 'Banking Platform API',
      version: CONTRACT_VERSION,
      description: INTRODUCTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/v1', description: 'The environment that served this document.' }],
    tags: Object.entries(TAGS)
      .filter(([name]) => used.has(name as Route['tag']))
      .map(([name, description]) => ({ name, description })),
    paths,
    ...webhooks,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      // Linters report unused components as mistakes.
      parameters: Object.fromEntries(
        Object.entries(PARAMETERS).filter(([name]) => body.includes(`#/components/parameters/${name}"`)),
      ),
      examples: Object.fromEntries(
        (Object.keys(PROBLEMS) as ProblemSlug[])
          .filter((slug) => body.includes(`#/components/examples/${slug}"`))
          .map((slug) => [slug, problemExample(slug)]),
      ),
      headers: Object.fromEntries(
        Object.entries(HEADERS).filter(([name]) => body.includes(`#/components/headers/${name}"`)),
      ),
      responses,
      schemas: Object.fromEntries(Object.entries(schemas).sort(([left], [right]) => (left < right ? -1 : 1))),
    },
  }
}

/** Answers with the document's bytes. Any cache may keep it for five minutes. */
export function openapiAnswer(routes: readonly Route[]): Answer<{ readonly openapi: string }, 200> {
  const body = Buffer.from(JSON.stringify(openapiDocument(routes)))
  return showing({
    status: 200,
    body,
    contentType: 'application/json',
    etag: `"${hash('sha256', body, 'hex').slice(0, 24)}"`,
    cacheControl: 'public, max-age=300',
    headers: ['X-Contract-Version', CONTRACT_VERSION],
  })
}

/**
 * The OpenAPI 3.1 document, made from the route table alone.
 *
 * TypeBox schemas are JSON Schema already. Schemas with a title become components; all others stay inline.
 */
import { hash } from 'node:crypto'
import { type ProblemSlug, PROBLEMS } from '../../lib/base/problems.ts'
import type { Filter, ListDeclaration } from '../../lib/contract/list.ts'
import { exampleOf } from './openapi-example.ts'
import { INTRODUCTION } from './openapi-introduction.ts'
import { pathParameters, type Route } from '../route/route.ts'
import { type Answer, showing } from '../../lib/commands/answer.ts'
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '../../lib/contract/page.ts'
import { ProblemSchema } from '../../lib/contract/problem.ts'
import { WebhookEnvelope } from '../../lib/webhooks/webhook-schema.ts'
import { CONTRACT_VERSION } from '../../lib/contract/version.ts'

type Json = { [name: string]: unknown }

const TAGS: Readonly<Record<Route['tag'], string>> = {
  service: 'Health, readiness and this document.',
  tenants: 'Operators, customers, people, teams and customer settings.',
  onboarding: 'The KYB case of a customer.',
  accounts: 'Balances, account details, journal, statements and currencies.',
  recipients: 'Beneficiaries: requirements, verification and approval.',
  payments: 'Payments, transfers, exchanges, direct debits, bulk files, approvals and funds requests.',
  activity: 'Transactions, exports, attachments, documents and jobs.',
  providers: 'Banking partners and KYC providers of an operator.',
  'public-api': 'API keys and integrator webhooks.',
  developer: 'Developer sandboxes.',
  simulations: 'Sandbox simulations of every asynchronous outcome.',
}

const text = (description: string, rest: Json = {}): Json => ({ description, schema: { type: 'string', ...rest } })

const PARAMETERS: Json = {
  TenantId: {
    name: 'X-Tenant-Id',
    in: 'header',
    required: true,
    description:
      'The customer or operator whose data is meant: the one the API key belongs to, or one that the signed-in person is a member of.',
    schema: { $ref: '#/components/schemas/Uuid' },
  },
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    required: false,
    description: 'Correlation id of the client, echoed in the answer and in problems. Made by the service when absent.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,128}$' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: true,
    description: 'Makes repeating the request safe for 24 hours. A UUID is recommended.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  OptionalIdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Makes repeating the request safe for 24 hours. A UUID is recommended.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  CsrfToken: {
    name: 'X-CSRF-Token',
    in: 'header',
    required: false,
    description: 'The `csrfToken` of the session. Required when the session comes as a cookie.',
    schema: { type: 'string' },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    required: true,
    description: 'ETag of what is changed, a list of them, or `*`. The prefix `W/` does not count.',
    schema: { type: 'string' },
  },
  OptionalIfMatch: {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'ETag of what is changed, a list of them, or `*`; compared when sent.',
    schema: { type: 'string' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'ETag of the copy the client has; answered with 304 while it still holds.',
    schema: { type: 'string' },
  },
  Cursor: {
    name: 'cursor',
    in: 'query',
    required: false,
    description: 'From `page.nextCursor` or `page.prevCursor`, with the same sort and filters.',
    schema: { type: 'string' },
  },
  Limit: {
    name: 'limit',
    in: 'query',
    required: false,
    description: 'Rows on a page.',
    schema: { type: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX, default: PAGE_LIMIT_DEFAULT },
  },
  WithTotal: {
    name: 'withTotal',
    in: 'query',
    required: false,
    description: 'Whether to count all rows; only on the first page, and slower.',
    schema: { type: 'boolean', default: false },
  },
}

const HEADERS: Json = {
  'X-Request-Id': text('The id of this request.'),
  ETag: text('Tag of this representation.'),
  Location: text('Path of the created resource.', { format: 'uri-reference' }),
  'Idempotency-Replayed': text('`true` when this is the answer of an earlier request with the same key.', {
    enum: ['true'],
  }),
  'Cache-Control': text('How the answer may be cached.'),
  'Retry-After': { description: 'Whole seconds to wait.', schema: { type: 'integer', minimum: 1 } },
  Allow: text('The methods that are supported here.'),
  'WWW-Authenticate': text('`Bearer`.'),
  'Set-Cookie': text("The session's cookie `__Host-session`."),
  'Content-Disposition': text('The name of the file.', {
    examples: ['attachment; filename="payment-PAY7K3M9QX2TB.pdf"'],
  }),
  'X-Contract-Version': text('Version of the contract.'),
  'RateLimit-Policy': text('The policies that this call is under.', {
    examples: ['"key-read";q=30000;w=60, "tenant";q=90000;w=60'],
  }),
  RateLimit: text('What is left of the policy that has the least left, and the seconds until it is full again.', {
    examples: ['"key-read";r=20412;t=18'],
  }),
  Deprecation: text('When the operation was deprecated, in seconds since 1970.', { examples: ['@1767225600'] }),
  Sunset: text('When the operation stops working.', { examples: ['Thu, 01 Jul 2027 00:00:00 GMT'] }),
  Link: text('What the documentation says about the deprecation.'),
}

/** Lists the headers that every answer of an operation carries. */
function commonHeaders(route: Route): string[] {
  const names = ['X-Request-Id', 'Cache-Control']
  if (route.callers !== 'public') names.push('RateLimit-Policy', 'RateLimit')
  if (route.deprecated !== undefined)
    names.push('Deprecation', 'Link', ...(route.deprecated.sunset === undefined ? [] : ['Sunset']))
  return names
}

const header = (...names: string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
const parameter = (name: string): Json => ({ $ref: `#/components/parameters/${name}` })

/** Copies a schema, and moves every schema with a title in it to the components. */
function collect(schema: unknown, components: Json): unknown {
  if (Array.isArray(schema)) return schema.map((item) => collect(item, components))
  if (typeof schema !== 'object' || schema === null) return schema
  const copy: Json = {}
  for (const [name, value] of Object.entries(schema)) {
    // Examples are data, so a title in an example names no component.
    copy[name] = name === 'examples' ? value : collect(value, components)
  }
  const { title } = copy
  if (typeof title !== 'string') return copy
  components[title] ??= copy
  return { $ref: `#/components/schemas/${title}` }
}

function filterSchema(filter: Filter): Json {
  switch (filter.kind) {
    case 'words':
      return {
        type: 'string',
        description: `One or more of ${filter.values.join(', ')}, separated by commas.${filter.default === undefined ? '' : ` Default: ${filter.default.join(', ')}.`}`,
      }
    case 'ids':
      return {
        type: 'string',
        description: `UUIDs separated by commas, at most 100.${filter.operatorOnly === true ? ' Operators only.' : ''}`,
      }
    case 'text':
      return { type: 'string', description: `Values of up to ${filter.max} characters, separated by commas.` }
    case 'boolean':
      return { type: 'boolean' }
    case 'integer':
      return { type: 'integer', minimum: filter.min, maximum: filter.max }
    case 'amountFrom':
    case 'amountTo':
      return {
        type: 'string',
        description: `Minor units, inclusive.${filter.oneCurrency === true ? ' Needs exactly one `filter[currency]`.' : ''}`,
      }
    case 'dateFrom':
    case 'dateTo':
      return { type: 'string', format: 'date', description: 'Inclusive.' }
    case 'timeFrom':
    case 'timeTo':
      return {
        type: 'string',
        description: 'RFC 3339 timestamp or date, inclusive; a date means its whole day in UTC.',
      }
    default:
      return filter satisfies never
  }
}

function listParameters(list: ListDeclaration): Json[] {
  const properties: Json = {}
  for (const [name, filter] of Object.entries(list.filters)) properties[name] = filterSchema(filter)
  const sort = {
    name: 'sort',
    in: 'query',
    required: false,
    description: 'A leading `-` is descending.',
    schema: { type: 'string', enum: list.sorts, default: list.sorts[0] },
  }
  const filter = {
    name: 'filter',
    in: 'query',
    required: false,
    style: 'deepObject',
    explode: true,
    description: `\`filter[name]=value\`. Different filters are combined with AND.${list.metadata === true ? ' Also `filter[metadata.<key>]`, exact, at most 5.' : ''}`,
    schema:
      list.metadata === true
        ? {
            type: 'object',
            properties,
            patternProperties: { '^metadata\\.[A-Za-z0-9_-]{1,40}$': { type: 'string', maxLength: 500 } },
            additionalProperties: false,
          }
        : { type: 'object', properties, additionalProperties: false },
  }
  const q = {
    name: 'q',
    in: 'query',
    required: false,
    description: 'Free text; all words must match.',
    schema: { type: 'string', minLength: 2, maxLength: 100 },
  }
  return [
    parameter('Cursor'),
    parameter('Limit'),
    sort,
    filter,
    parameter('WithTotal'),
    ...(list.q === true ? [q] : []),
  ]
}

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
    description: 'The same as a cookie, for browsers. Requests that write also need `X-CSRF-Token`.',
  },
}

/** Lists the problems that follow from an operation's declaration, in addition to its own. */
export function problemsOf(route: Route): ProblemSlug[] {
  const slugs: ProblemSlug[] = [
    'malformed-request',
    'not-acceptable',
    'uri-too-long',
    'headers-too-large',
    'internal-error',
    'service-unavailable',
  ]
  if (route.list !== undefined) slugs.push('invalid-cursor', 'too_many_filter_values')
  if (route.callers !== 'public') slugs.push('unauthenticated', 'session-expired', 'invalid-api-key', 'ip-not-allowed')
  // Every operation that takes a credential limits wrong credentials.
  if (route.limits !== 'none' || route.callers !== 'public') slugs.push('rate-limited')
  if (route.callers !== 'public' && route.beforeMfa !== true) slugs.push('mfa-required')
  if (route.tenant !== 'none') slugs.push('tenant-forbidden')
  // A key that calls an operation for people gets the same problem.
  if (route.scope !== null || route.callers === 'session' || route.callers === 'staff') slugs.push('insufficient-scope')
  if (route.stepUp !== undefined) slugs.push('step-up-required')
  if (route.sandbox !== undefined || route.feature !== undefined) slugs.push('feature-disabled')
  if (route.ifMatch !== undefined) slugs.push('precondition-failed')
  if (route.ifMatch === true) slugs.push('precondition-required')
  if (route.path.includes('{')) slugs.push('not-found')
  if (route.body !== undefined || route.form !== undefined)
    slugs.push('request-timeout', 'payload-too-large', 'unsupported-media-type', 'validation-error')
  if (route.idempotency !== 'none') slugs.push('idempotency-key-in-use', 'idempotency-key-reused')
  return [...new Set([...slugs, ...route.problems])]
}

/** Sample values of the extension members of problems. */
const PROBLEM_MEMBERS: Partial<Record<ProblemSlug, Json>> = {
  'malformed-request': {
    errors: [{ field: 'header.X-Tenant-Id', code: 'required', message: 'This operation needs an X-Tenant-Id header.' }],
  },
  too_many_filter_values: { filter: 'id', max: 100 },
  'session-expired': { reason: 'idle' },
  'insufficient-scope': { requiredScope: 'payments:write' },
  'step-up-required': { action: 'api_key.create', challengeUrl: '/v1/step-up/challenges' },
  'insufficient-funds': {
    available: { amountMinor: '9000', currency: 'EUR' },
    required: { amountMinor: '10035', currency: 'EUR' },
  },
  'precondition-failed': { currentEtag: 'W/"4-0123456789ab"' },
  'payload-too-large': { maxBytes: 262_144 },
  'uri-too-long': { maxBytes: 8_192 },
  'unsupported-media-type': { supported: ['application/json'] },
  'validation-error': { errors: [{ field: '/amount/amountMinor', code: 'invalid_type', message: 'Must be text.' }] },
  'idempotency-key-reused': { firstUsedAt: '2026-05-04T09:30:00.000Z' },
  'rate-limited': { retryAfterSeconds: 1, violatedPolicies: ['key-burst'] },
}

function problemExample(slug: ProblemSlug): Json {
  const { status, title, retryable } = PROBLEMS[slug]
  return {
    summary: title,
    value: {
      type: `https://docs.example/problems/${slug}`,
      title,
      status,
      detail: 'What happened this time.',
      instance: '/v1/payments',
      code: slug,
      requestId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
      retryable: retryable === true,
      ...PROBLEM_MEMBERS[slug],
    },
  }
}

function problemResponses(route: Route): Json {
  const byStatus = new Map<number, ProblemSlug[]>()
  for (const slug of problemsOf(route)) {
    const { status } = PROBLEMS[slug]
    byStatus.set(status, [...(byStatus.get(status) ?? []), slug])
  }
  const responses: Json = {}
  for (const [status, slugs] of [...byStatus].sort(([left], [right]) => left - right)) {
    const names = commonHeaders(route)
    if (status === 401) names.push('WWW-Authenticate')
    if (status === 429 || status === 503 || slugs.includes('idempotency-key-in-use')) names.push('Retry-After')
    responses[status] = {
      description: slugs.map((slug) => `\`${slug}\`: ${PROBLEMS[slug].title}.`).join(' '),
      headers: header(...names),
      content: {
        'application/problem+json': {
          schema: { $ref: '#/components/schemas/Problem' },
          examples: Object.fromEntries(slugs.map((slug) => [slug, { $ref: `#/components/examples/${slug}` }])),
        },
      },
    }
  }
  return responses
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
      description: 'The copy of the client still holds.',
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
      ? { description: 'From the mail.', schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{20,128}$' } }
      : route.words?.[name] !== undefined
        ? { description: 'Which one.', schema: { type: 'string', enum: route.words[name] } }
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
  }
  if (Object.keys(content).length > 0) result['requestBody'] = { required: route.bodyOptional !== true, content }
  result['responses'] = { ...successResponses(route, schemas), ...problemResponses(route) }
  return result
}

/** Describes the requests that the service sends to integrators' endpoints. */
function callbacks(schemas: Json): Json {
  const sent = (name: string, description: string, required = true): Json => ({
    name,
    in: 'header',
    required,
    description,
    schema: { type: 'string' },
  })
  return {
    event: {
      post: {
        operationId: 'receiveEvent',
        tags: ['public-api'],
        summary: 'An event, sent to every endpoint that subscribes to its type',
        description:
          'Verify the signature over the raw body, refuse timestamps more than five minutes off, and remember event ids: the same one may come again.',
        security: [],
        parameters: [
          sent('Service-Event-Id', 'Id of the event; the same whenever and wherever it is sent.'),
          sent('Service-Event-Type', 'Type of the event.'),
          sent('Service-Timestamp', 'When it was signed, in seconds since 1970.'),
          sent(
            'Service-Signature',
            '`v1=` and the hexadecimal HMAC-SHA256 of `<timestamp>.<raw body>` under the secret; two, separated by a comma, while the secret is being replaced.',
          ),
          sent('Service-Test', '`true` on test events.', false),
          sent('webhook-id', 'As in Standard Webhooks.'),
          sent('webhook-timestamp', 'As in Standard Webhooks.'),
          sent('webhook-signature', 'As in Standard Webhooks.'),
        ],
        requestBody: { required: true, content: { 'application/json': { schema: collect(WebhookEnvelope, schemas) } } },
        responses: {
          '2XX': {
            description: 'Received: not sent again. Whatever else is answered, or nothing within ten seconds, it is.',
          },
          '4XX': { description: 'Not taken; it comes again.' },
        },
      },
    },
  }
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
  const body = JSON.stringify(paths)
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

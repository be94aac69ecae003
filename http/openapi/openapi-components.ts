/** The parameters, headers and tags that operations of the OpenAPI document share. */
import type { Route } from '../route/route.ts'
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '../../lib/contract/page.ts'

export type Json = { [name: string]: unknown }

export const TAGS: Readonly<Record<Route['tag'], string>> = {
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

export const PARAMETERS: Json = {
  TenantId: {
    name: 'X-Tenant-Id',
    in: 'header',
    required: true,
    description:
      'The customer or operator that the request is about: the owner of the API key, or a tenant that the signed-in person belongs to.',
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
    description: 'ETag of the resource to change, a list of ETags, or `*`. The prefix `W/` is ignored.',
    schema: { type: 'string' },
  },
  OptionalIfMatch: {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'ETag of the resource to change, a list of ETags, or `*`; compared when sent.',
    schema: { type: 'string' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: "ETag of the client's copy; the answer is 304 while that copy is current.",
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
    description: 'Whether to count all rows; slower, and only possible on the first page.',
    schema: { type: 'boolean', default: false },
  },
}

export const HEADERS: Json = {
  'X-Request-Id': text('The id of this request.'),
  ETag: text('Tag of this representation.'),
  Location: text('Path of the created resource.', { format: 'uri-reference' }),
  'Idempotency-Replayed': text('`true` when this is the answer of an earlier request with the same key.', {
    enum: ['true'],
  }),
  'Cache-Control': text('How the answer may be cached.'),
  'Retry-After': { description: 'Whole seconds to wait.', schema: { type: 'integer', minimum: 1 } },
  Allow: text('The methods that this path supports.'),
  'WWW-Authenticate': text('`Bearer`.'),
  'Set-Cookie': text("The session's cookie `__Host-session`."),
  'Content-Disposition': text('The name of the file.', {
    examples: ['attachment; filename="payment-PAY7K3M9QX2TB.pdf"'],
  }),
  'X-Contract-Version': text('Version of the contract.'),
  'RateLimit-Policy': text('The rate limit policies of this call.', {
    examples: ['"key-read";q=30000;w=60, "tenant";q=90000;w=60'],
  }),
  RateLimit: text('The remaining units of the policy with the fewest left, and the seconds until it is full again.', {
    examples: ['"key-read";r=20412;t=18'],
  }),
  Deprecation: text('When the operation was deprecated, in seconds since 1970.', { examples: ['@1767225600'] }),
  Sunset: text('When the operation stops working.', { examples: ['Thu, 01 Jul 2027 00:00:00 GMT'] }),
  Link: text('The documentation of the deprecation.'),
}

/** Lists the headers that every answer of an operation carries. */
export function commonHeaders(route: Route): string[] {
  const names = ['X-Request-Id', 'Cache-Control']
  if (route.callers !== 'public') names.push('RateLimit-Policy', 'RateLimit')
  if (route.deprecated !== undefined)
    names.push('Deprecation', 'Link', ...(route.deprecated.sunset === undefined ? [] : ['Sunset']))
  return names
}

export const header = (...names: string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
export const parameter = (name: string): Json => ({ $ref: `#/components/parameters/${name}` })

/** Copies a schema, and moves every schema with a title in it to the components. */
export function collect(schema: unknown, components: Json): unknown {
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

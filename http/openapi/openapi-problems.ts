/** The problems of an operation in the OpenAPI document. */
import { type ProblemSlug, PROBLEMS } from '../../lib/base/problems.ts'
import { readsCustomer, type Route } from '../route/route.ts'
import { commonHeaders, header, type Json } from './openapi-components.ts'

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
  if (route.callers !== 'public' && route.whileImpersonating !== true && !readsCustomer(route))
    slugs.push('impersonation-restricted')
  if (route.tenant !== 'none') slugs.push('tenant-forbidden')
  // A key that calls an operation for people gets the same problem.
  if (route.scope !== null || route.callers === 'session' || route.callers === 'staff') slugs.push('insufficient-scope')
  if (route.stepUp !== undefined) slugs.push('step-up-required')
  if (route.money !== undefined) slugs.push('customer-restricted', 'customer-not-active')
  if (route.sandbox !== undefined || route.feature !== undefined) slugs.push('feature-disabled')
  if (route.ifMatch !== undefined) slugs.push('precondition-failed')
  if (route.ifMatch === true) slugs.push('precondition-required')
  if (route.path.includes('{')) slugs.push('not-found')
  if (route.body !== undefined || route.form !== undefined)
    slugs.push('request-timeout', 'payload-too-large', 'unsupported-media-type', 'validation-error')
  if (route.signedBody !== undefined)
    slugs.push('unauthenticated', 'request-timeout', 'payload-too-large', 'unsupported-media-type')
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
  'customer-not-active': { customerStatus: 'draft' },
  'invalid-transition': { currentStatus: 'completed', allowed: ['draft'] },
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

export function problemExample(slug: ProblemSlug): Json {
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

export function problemResponses(route: Route): Json {
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

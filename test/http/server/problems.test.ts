/**
 * Every problem that keys, sessions, tenants, limits and the shared conventions can end in, produced over HTTP: its
 * status, its title, the members it promises beyond the common ones, and its headers. The problems of payments and of
 * other resources are produced where those are tested.
 */
import { connect } from 'node:net'
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { OperatingError } from '../../../lib/base/errors.ts'
import { SESSION_ABSOLUTE_MS, SESSION_IDLE_MS } from '../../../lib/identity/session.ts'
import { PROBLEMS, type ProblemSlug } from '../../../lib/base/problems.ts'
import type { Reply } from '../../support/client.ts'
import { createWorld, NODES, paymentBody } from '../../support/world.ts'
import { fakeWorld, PAYMENT_BODY, startFake } from './fake-world.ts'

const OWN: readonly ProblemSlug[] = [
  'malformed-request',
  'invalid-cursor',
  'too_many_filter_values',
  'unauthenticated',
  'session-expired',
  'invalid-api-key',
  'mfa-required',
  'insufficient-scope',
  'tenant-forbidden',
  'step-up-required',
  'ip-not-allowed',
  'not-found',
  'method-not-allowed',
  'not-acceptable',
  'invalid-transition',
  'idempotency-key-in-use',
  'limit-reached',
  'customer-not-active',
  'challenge-locked',
  'precondition-failed',
  'payload-too-large',
  'uri-too-long',
  'unsupported-media-type',
  'validation-error',
  'idempotency-key-reused',
  'precondition-required',
  'rate-limited',
  'headers-too-large',
  'internal-error',
  'service-unavailable',
]
const COMMON = ['code', 'detail', 'instance', 'requestId', 'retryable', 'status', 'title', 'type']
const produced = new Set<ProblemSlug>()

interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

t.test('each is what the catalogue says', async (t) => {
  await using world = await createWorld({ settings: { PROBLEM_BASE: 'https://docs.example/problems' } })
  const { client, balances, recipients } = world.seeded

  /** Holds an answer against the catalogue and its members; `members` are those beyond the common ones. */
  const holds = (
    slug: ProblemSlug,
    { status, headers, text }: Answered,
    members: Readonly<Record<string, unknown>> = {},
  ): void => {
    t.test(`${slug} ${Object.keys(members).join(' ')}`, (t) => {
      const document = JSON.parse(text) as Record<string, unknown>
      const { status: wanted, title } = PROBLEMS[slug]
      t.equal(status, wanted)
      t.match(document, {
        type: `https://docs.example/problems/${slug}`,
        title,
        status: wanted,
        code: slug,
        detail: /\w\.$/,
        requestId: headers.get('x-request-id'),
        ...members,
      })
      t.strictSame(
        Object.keys(document).sort(),
        [...COMMON, ...Object.keys(members)].sort(),
        'no more members and no fewer',
      )
      t.equal(headers.get('content-type'), 'application/problem+json')
      t.equal(headers.get('content-language'), 'en')
      t.equal(headers.get('cache-control'), 'no-store')
      t.equal(headers.get('www-authenticate'), wanted === 401 ? 'Bearer' : null)
      if ('retryAfterSeconds' in members) t.equal(headers.get('retry-after'), String(document['retryAfterSeconds']))
      produced.add(slug)
      t.end()
    })
  }
  const field = (name: string, code: string) => ({ errors: [{ field: name, code }] })
  const post = (
    body: unknown,
    headers: Record<string, string | undefined> = {},
    key: string = randomUUID(),
  ): Promise<Reply<unknown>> => client.post('/payments', body, key, headers)
  const valid = paymentBody(balances.EUR, recipients.EUR, 100)

  holds(
    'malformed-request',
    await client.get('/payments', { 'x-request-id': 'two words' }),
    field('header.X-Request-Id', 'invalid_format'),
  )
  holds(
    'malformed-request',
    await client.get('/payments', { 'x-tenant-id': undefined }),
    field('header.X-Tenant-Id', 'required'),
  )
  holds('malformed-request', await client.get('/payments/nonsense'), field('path.paymentId', 'invalid_format'))
  holds('malformed-request', await client.get('/payments?limit=0'), field('query.limit', 'too_small'))
  holds(
    'malformed-request',
    await post(valid, { 'idempotency-key': undefined }),
    field('header.Idempotency-Key', 'required'),
  )
  holds(
    'malformed-request',
    await client.send('/v1/payments', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'k' },
      body: '{',
    }),
  )
  holds('invalid-cursor', await client.get('/payments?cursor=nonsense'))
  holds(
    'too_many_filter_values',
    await client.get(`/balances?filter[id]=${Array.from({ length: 101 }, () => balances.EUR).join(',')}`),
    { filter: 'id', max: 100 },
  )
  holds(
    'too_many_filter_values',
    await client.get(`/balances?${Array.from({ length: 6 }, (_, nth) => `filter[metadata.k${nth}]=x`).join('&')}`),
    { filter: 'metadata', max: 5 },
  )

  holds('unauthenticated', await client.get('/payments', { authorization: undefined }))
  holds('unauthenticated', await world.person('owner').password('not the password'))
  holds('invalid-api-key', await client.with({ apiKey: 'svc_test_nonsense' }).get('/payments'))
  holds('tenant-forbidden', await client.with({ tenantId: world.operator.tenantId }).get('/payments'))
  holds('insufficient-scope', await client.get('/api-keys'), { requiredCapability: 'api_keys.manage' })
  holds('not-found', await client.get(`/payments/${randomUUID()}`))
  holds('not-found', await client.get('/nothing'))
  const wrong = await client.send('/v1/payments', { method: 'PUT' })
  holds('method-not-allowed', wrong)
  t.equal(wrong.headers.get('allow'), 'GET, HEAD, POST')
  holds('not-acceptable', await client.get('/payments', { accept: 'text/html' }))
  holds('payload-too-large', await post({ ...valid, internalNote: 'x'.repeat(300_000) }), { maxBytes: 262_144 })
  holds('uri-too-long', await client.get(`/payments?x=${'x'.repeat(9_000)}`), { maxBytes: 8_192 })
  holds('unsupported-media-type', await post(valid, { 'content-type': 'text/plain' }), {
    supported: ['application/json'],
  })
  holds('validation-error', await post({ ...valid, colour: 'red' }), field('/colour', 'unknown_field'))
  await post(valid, {}, 'the-key')
  holds('idempotency-key-reused', await post({ ...valid, reference: 'another' }, {}, 'the-key'), { firstUsedAt: /Z$/ })

  const owner = await world.person('owner').signIn()
  const half = (await world.person('approver').password()).body
  holds('mfa-required', await owner.send('GET', '/users/me', undefined, {}, half.token), {
    challengeId: half.mfa?.challengeId,
    methods: ['totp'],
    publicKey: null,
  })
  holds('step-up-required', await owner.post('/api-keys', {}), {
    action: 'api_key.create',
    challengeUrl: '/v1/step-up/challenges',
  })
  holds('insufficient-scope', await (await world.person('preparer').signIn()).get('/api-keys'), {
    requiredCapability: 'api_keys.manage',
  })
  holds(
    'invalid-transition',
    await owner.post('/sessions/current/mfa', { challengeId: randomUUID(), method: 'totp', code: '123456' }),
    { currentStatus: 'active', allowed: ['mfa_required'] },
  )
  await owner.stepUp('api_key.create')
  const key = { name: 'Key', environment: 'test', scopes: ['payments:read'] }
  const made = (await owner.post<{ id: string; secret: string }>('/api-keys', { ...key, ipAllowlist: ['192.0.2.1'] }))
    .body
  const limited = client.with({ apiKey: made.secret })
  holds('ip-not-allowed', await limited.get('/payments'))
  const etag = (await owner.get(`/api-keys/${made.id}`)).headers.get('etag')
  holds('precondition-required', await owner.send('PATCH', `/api-keys/${made.id}`, {}))
  holds('precondition-failed', await owner.send('PATCH', `/api-keys/${made.id}`, {}, { 'if-match': '"stale"' }), {
    currentEtag: etag,
  })
  await owner.send('PATCH', `/api-keys/${made.id}`, { ipAllowlist: [] }, { 'if-match': '*' })
  holds('insufficient-scope', await limited.get('/balances'), { requiredScope: 'balances:read' })
  await world.query("update customer set status = 'onboarding' where id = $1", [owner.tenantId])
  holds('customer-not-active', await owner.post('/api-keys', { ...key, environment: 'live' }), {
    customerStatus: 'onboarding',
  })
  await world.query("update customer set status = 'active' where id = $1", [owner.tenantId])
  await world.query(
    `insert into api_key (id, level, tenant_id, operator_id, name, environment, prefix, sha256, scopes, status, created_by, created_at)
    select gen_random_uuid(), level, tenant_id, operator_id, name, environment, prefix, sha256(n::text::bytea), scopes, 'active', created_by, now() from api_key, generate_series(1, 50) n where id = $1`,
    [made.id],
  )
  holds('limit-reached', await owner.post('/api-keys', key), { limit: 50, resource: 'api_key' })
  const { challengeId } = (
    await owner.post<{ challengeId: string }>('/step-up/challenges', { action: 'settings.change' })
  ).body
  const guess = () =>
    owner.post(`/step-up/challenges/${challengeId}/verify`, { method: 'totp', code: owner.wrongCode() })
  holds('validation-error', await guess(), field('/code', 'invalid_value'))
  for (let nth = 0; nth < 4; nth++) await guess()
  holds('challenge-locked', await guess())

  await owner.send('DELETE', '/sessions/current')
  holds('session-expired', await owner.get('/users/me'), { reason: 'revoked' })
  await owner.signIn()
  world.advance(SESSION_IDLE_MS)
  holds('session-expired', await owner.get('/users/me'), { reason: 'idle' })
  await owner.signIn()
  await world.query(`update session set last_seen_at = to_timestamp($1::float8 / 1000) where id = $2`, [
    world.now() + SESSION_ABSOLUTE_MS,
    owner.sessionId,
  ])
  world.advance(SESSION_ABSOLUTE_MS)
  holds('session-expired', await owner.get('/users/me'), { reason: 'expired' })
  await client.paymentsSettled()
})

t.test("and those that take a fault of ours or another's request", async (t) => {
  const world = fakeWorld()
  const service = await startFake(world)
  t.teardown(service.stop)
  const holds = async (
    slug: ProblemSlug,
    reply: { readonly status: number; readonly headers: Headers; text(): Promise<string> },
    members: object,
  ): Promise<void> => {
    const document = JSON.parse(await reply.text()) as object
    t.equal(reply.status, PROBLEMS[slug].status, slug)
    t.match(document, {
      code: slug,
      title: PROBLEMS[slug].title,
      status: PROBLEMS[slug].status,
      requestId: reply.headers.get('x-request-id'),
      ...members,
    })
    produced.add(slug)
  }
  world.failure = new Error('a bug')
  await holds('internal-error', await service.post('/v1/payments', PAYMENT_BODY), { retryable: false })
  world.failure = new OperatingError('the database is away', { retryAfterSeconds: 2 })
  await holds('service-unavailable', await service.post('/v1/payments', PAYMENT_BODY), {
    retryable: true,
    retryAfterSeconds: 2,
  })
  world.failure = null
  world.findIdempotencyRecord = async () => null
  await service.post('/v1/payments', PAYMENT_BODY, { 'idempotency-key': 'one' })
  const { idempotency } = world.createdPayments.at(-1)!
  world.findIdempotencyRecord = async () => ({
    fingerprint: idempotency!.fingerprint,
    createdAt: '2026-01-02T00:00:00.000Z',
    answer: null,
  })
  const body = { ...PAYMENT_BODY, amount: 5 }
  const { fingerprintOf } = await import('../../../lib/commands/idempotency.ts')
  world.findIdempotencyRecord = async () => ({
    fingerprint: fingerprintOf('POST', '/v1/payments', '', body),
    createdAt: '2026-01-02T00:00:00.000Z',
    answer: null,
  })
  await holds('idempotency-key-in-use', await service.post('/v1/payments', body, { 'idempotency-key': 'one' }), {
    retryable: true,
    retryAfterSeconds: 1,
  })

  const large = await new Promise<string>((resolve, reject) => {
    let answer = ''
    const socket = connect(service.port, '127.0.0.1', () =>
      socket.write(`GET /v1/payments HTTP/1.1\r\nHost: a\r\nX-Large: ${'a'.repeat(17_000)}\r\n\r\n`),
    )
    socket
      .on('data', (chunk) => (answer += chunk))
      .on('close', () => resolve(answer))
      .on('error', reject)
  })
  const [head = '', text = ''] = large.split('\r\n\r\n')
  await holds(
    'headers-too-large',
    {
      status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]),
      headers: new Headers({ 'x-request-id': /x-request-id: (.*)/i.exec(head)?.[1] ?? '' }),
      text: async () => text,
    },
    { retryable: false },
  )
})

t.test('too many sign-ins for one address', async (t) => {
  await using world = await createWorld({ settings: { RATE_LIMITS: 'on' } })
  const owner = world.person('owner')
  // Without Redis every node counts for itself.
  for (let nth = 0; nth < 5 * NODES; nth++) t.equal((await owner.password('not the password')).status, 401)
  const refused = await owner.password()
  t.match(refused.problem, {
    status: 429,
    code: 'rate-limited',
    title: PROBLEMS['rate-limited'].title,
    violatedPolicies: ['login'],
    retryAfterSeconds: Number,
    retryable: true,
  })
  const seconds = refused.problem.retryAfterSeconds as number
  t.ok(seconds > 0 && seconds <= 180, 'one in three minutes, of which some have passed')
  t.equal(refused.headers.get('retry-after'), String(seconds))
  t.equal((await world.person('approver').password()).status, 201, 'another address is another matter')
  produced.add('rate-limited')
})

t.test('none was left out', (t) => {
  t.strictSame(
    OWN.filter((slug) => !produced.has(slug)),
    [],
  )
  t.end()
})

import Type from 'typebox'
import t from 'tap'
import { addressBlock } from '../../../http/access/address-block.ts'
import { RateLimits } from '../../../http/access/rate-limits.ts'
import { createCustomer } from '../../../http/customers/customers.ts'
import { route } from '../../../http/route/route.ts'
import { json } from '../../../http/route/answer.ts'
import { readConfig } from '../../../lib/config/config.ts'
import { ConfigError } from '../../../lib/config/environment.ts'
import { TokenBuckets } from '../../../lib/security/token-buckets.ts'
import { createRateCounters } from '../../../storage/redis/rate-counters.ts'
import { connectRedis } from '../../../storage/redis/redis.ts'
import { ensureRedisServer } from '../../support/redis.ts'
import { until } from '../../support/until.ts'
import { CUSTOMER, fakeWorld, OPERATOR, PAYMENT, PAYMENT_BODY, request, startFake } from '../server/fake-world.ts'

const open = route({
  method: 'get',
  path: '/open',
  operationId: 'open',
  tag: 'public-api',
  summary: 'Made up',
  callers: 'public',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  success: { status: 200, description: 'Made up.', schema: Type.Object({}) },
  problems: [],
  handle: () => json(200, {}),
})

/** A fake service whose quotas are a fraction of the real ones. */
async function limited(scale: number) {
  const world = fakeWorld()
  const rateLimits = new RateLimits({ clock: world.clock, scale })
  const service = await startFake(world, { app: { rateLimits }, routes: [open] })
  return { world, rateLimits, ...service }
}

t.test('every answer to a caller says which policies apply and what is left', async (t) => {
  const service = await limited(1)
  t.teardown(service.stop)
  const read = await service.get('/v1/payments')
  t.equal(
    read.headers.get('ratelimit-policy'),
    '"key-read";q=30000;w=60, "key-burst";q=1000;w=1, "tenant";q=90000;w=60, "concurrency";q=256;qu="concurrent-requests"',
  )
  t.match(read.headers.get('ratelimit'), /^"key-burst";r=999;t=1$/)
  const write = await service.post('/v1/payments', PAYMENT_BODY)
  t.match(write.headers.get('ratelimit-policy'), /"key-write";q=12000;w=60, .*"money";q=12000;w=60/)
  const search = await service.get('/v1/balances?q=main')
  t.match(search.headers.get('ratelimit-policy'), /"search";q=600;w=60/)
  t.match((await service.get('/v1/balances?withTotal=true')).headers.get('ratelimit-policy'), /"search"/)
  t.notMatch((await service.get('/v1/balances?filter[currency]=EUR')).headers.get('ratelimit-policy'), /"search"/)

  for (const [name, refused] of [
    ['400', await service.get('/v1/payments?nonsense=1')],
    ['403 tenant', await service.get('/v1/payments', { 'x-tenant-id': PAYMENT })],
    ['400 tenant', await service.get('/v1/payments', { 'x-tenant-id': undefined })],
    ['404', await service.get('/v1/payments/01980d6e-0000-7000-8000-00000000ffff')],
    ['422', await service.post('/v1/payments', {})],
  ] as const) {
    t.ok(refused.status >= 400, name)
    t.ok(refused.headers.has('ratelimit') && refused.headers.has('ratelimit-policy'), name)
  }
  const stranger = await service.get('/v1/payments', { authorization: undefined })
  t.equal(stranger.status, 401)
  t.notOk(stranger.headers.has('ratelimit'))
})

t.test('the strictest exhausted policy answers 429, all are named, and time fills them again', async (t) => {
  // key-write 12, key-burst 1, money 12, tenant 90, concurrency 0.256: one at a time.
  const service = await limited(0.005)
  t.teardown(service.stop)
  const burst = 5
  for (let nth = 0; nth < burst; nth++) t.equal((await service.post('/v1/payments', PAYMENT_BODY)).status, 201)
  const refused = await service.post('/v1/payments', PAYMENT_BODY)
  t.equal(refused.status, 429)
  t.equal(refused.headers.get('retry-after'), '1')
  t.match(refused.headers.get('ratelimit'), /^"key-burst";r=0;t=1$/)
  t.match(await refused.json(), {
    code: 'rate-limited',
    retryable: true,
    violatedPolicies: ['key-burst'],
    retryAfterSeconds: 1,
  })
  service.world.nowMs += 1000
  t.equal((await service.post('/v1/payments', PAYMENT_BODY)).status, 201, 'a second later the burst is full again')

  // 60 a minute for writes and money: use up what is left of both.
  for (let nth = burst + 1; nth < 60; nth++) {
    service.world.nowMs += 200
    const { status } = await service.post('/v1/payments', PAYMENT_BODY)
    if (status === 429) break
  }
  let both = await service.post('/v1/payments', PAYMENT_BODY)
  for (let nth = 0; both.status === 201 && nth < 200; nth++) {
    service.world.nowMs += 210
    both = await service.post('/v1/payments', PAYMENT_BODY)
  }
  t.equal(both.status, 429)
  t.strictSame((await both.json()).violatedPolicies, ['key-write', 'money'])
  t.equal((await service.get('/v1/payments')).status, 200, 'reads have a quota of their own')
})

t.test('a refusal takes nothing, and an Idempotency-Key is as good as new after it', async (t) => {
  const service = await limited(0.002)
  t.teardown(service.stop)
  while ((await service.post('/v1/payments', PAYMENT_BODY)).status === 201) {
    /* Use it up. */
  }
  const decided = service.world.createdPayments.length
  const key = { 'idempotency-key': 'the-one' }
  for (let nth = 0; nth < 10; nth++) t.equal((await service.post('/v1/payments', PAYMENT_BODY, key)).status, 429)
  t.equal(service.world.createdPayments.length, decided, 'nothing reached the domain')
  t.equal(
    (await service.post('/v1/payments', 'not even JSON', key)).status,
    429,
    'limits come before everything else about a request',
  )
  service.world.nowMs += 500
  t.equal((await service.post('/v1/payments', PAYMENT_BODY, key)).status, 201, 'ten refusals have not put it off')
})

t.test('a 304 counts half', async (t) => {
  const service = await limited(0.01)
  t.teardown(service.stop)
  const path = `/v1/payments/${PAYMENT}`
  const etag = (await service.get(path)).headers.get('etag') as string
  const left = async (headers: Record<string, string>) =>
    Number(/r=(\d+)/.exec((await service.get(path, headers)).headers.get('ratelimit') as string)?.[1])
  const before = await left({ 'if-none-match': etag })
  await left({ 'if-none-match': etag })
  t.equal(await left({ 'if-none-match': etag }), before - 1)
})

t.test('keys have quotas of their own, tenants share one', async (t) => {
  const service = await limited(0.001)
  t.teardown(service.stop)
  const one = { authorization: `Bearer ${service.world.addKey()}` }
  t.equal((await service.get('/v1/payments', one)).status, 200)
  t.equal((await service.get('/v1/payments', one)).status, 429)
  t.equal((await service.get('/v1/payments')).status, 200, 'another key')
})

t.test('a key can have so many calls under way and no more', async (t) => {
  const world = fakeWorld()
  const limits = new RateLimits({ clock: world.clock })
  const prepared = limits.prepare(route({ ...open, callers: 'key', method: 'get', handle: open.handle } as never))
  const caller = { kind: 'key', principalId: 'k', tenantId: CUSTOMER } as const
  const passes = Array.from({ length: 256 }, () => limits.admit(prepared, caller, '', () => undefined))
  let headers: readonly string[] = []
  t.throws(() => limits.admit(prepared, caller, '', (said) => (headers = said)), {
    problem: { slug: 'rate-limited', extra: { violatedPolicies: ['concurrency'] }, retryAfterSeconds: 1 },
  } as unknown as Error)
  t.match(headers, ['RateLimit-Policy', /concurrency/, 'RateLimit', '"concurrency";r=0;t=1'])
  t.ok(limits.admit(prepared, { ...caller, principalId: 'other' }, '', () => undefined))
  passes[0]?.settle(200)
  t.ok(limits.admit(prepared, caller, '', () => undefined))
})

t.test('calls without a credential are limited by address, health and the contract are not', async (t) => {
  const service = await limited(0.05)
  t.teardown(service.stop)
  const statuses = []
  for (let nth = 0; nth < 4; nth++) statuses.push((await request(`${service.origin}/v1/open`)).status)
  t.strictSame(statuses, [200, 200, 200, 429])
  for (const path of ['/health', '/ready', '/v1/openapi.json', '/docs']) {
    for (let nth = 0; nth < 5; nth++) t.equal((await request(service.origin + path)).status, 200, path)
  }
  t.equal(addressBlock('192.0.2.7'), '192.0.2.7')
  t.equal(addressBlock('::ffff:192.0.2.7'), '192.0.2.7')
  t.equal(addressBlock('2001:db8:1:2:3:4:5:6'), addressBlock('2001:db8:1:2:ffff::'))
  t.not(addressBlock('2001:db8:1:2::1'), addressBlock('2001:db8:1:3::1'))
  t.equal(addressBlock('::1'), '0:0:0:0::/64')
})

t.test('proofs are counted by where they come from, tests of an endpoint by the endpoint', async (t) => {
  const world = fakeWorld()
  const limits = new RateLimits({ clock: world.clock })
  const proof = limits.prepare(route({ ...open, callers: 'session', limits: ['login'] } as never))
  const person = (nth: number) => ({ kind: 'session', principalId: `p${nth}`, tenantId: CUSTOMER }) as const
  const from = (address: string) => ({ address, resourceId: '' })
  for (let nth = 0; nth < 100; nth++) limits.admit(proof, person(nth), '', () => undefined, from('192.0.2.7'))
  t.throws(
    () => limits.admit(proof, person(100), '', () => undefined, from('::ffff:192.0.2.7')),
    { problem: { slug: 'rate-limited', extra: { violatedPolicies: ['login'] } } } as unknown as Error,
    'whoever it is',
  )
  t.ok(limits.admit(proof, person(0), '', () => undefined, from('192.0.2.8')))

  const tests = limits.prepare(route({ ...open, callers: 'key', limits: ['webhook-test'] } as never))
  const key = (nth: number) => ({ kind: 'key', principalId: `k${nth}`, tenantId: CUSTOMER }) as const
  const of = (resourceId: string) => ({ address: '192.0.2.7', resourceId })
  for (let nth = 0; nth < 10; nth++) limits.admit(tests, key(nth), '', () => undefined, of('a'))
  t.throws(() => limits.admit(tests, key(10), '', () => undefined, of('A')), {
    problem: { slug: 'rate-limited' },
  } as unknown as Error)
  t.ok(limits.admit(tests, key(10), '', () => undefined, of('b')))
})

t.test('over HTTP, too: what a path names first is what is counted', async (t) => {
  const world = fakeWorld()
  const tests = route({
    method: 'post',
    path: '/endpoints/{endpointId}/deliveries/{deliveryId}',
    operationId: 'tests',
    tag: 'public-api',
    summary: 'Made up',
    callers: 'key',
    scope: null,
    tenant: 'customer',
    idempotency: 'none',
    limits: ['webhook-test'],
    success: { status: 200, description: 'Made up.', schema: Type.Object({}) },
    problems: [],
    handle: () => json(200, {}),
  })
  const service = await startFake(world, {
    app: { rateLimits: new RateLimits({ clock: world.clock, scale: 0.1 }) },
    routes: [tests],
  })
  t.teardown(service.stop)
  const send = async (endpoint: string, delivery: string) =>
    (await service.post(`/v1/endpoints/${endpoint}/deliveries/${delivery}`, {})).status
  t.equal(await send(PAYMENT, PAYMENT), 200)
  t.equal(await send(PAYMENT, CUSTOMER), 429, 'another delivery of the same endpoint')
  t.equal(await send(CUSTOMER, PAYMENT), 200, 'another endpoint')
})

t.test('sign-ins are counted by the e-mail they name', async (t) => {
  const world = fakeWorld()
  const limits = new RateLimits({ clock: world.clock })
  for (let nth = 0; nth < 5; nth++) limits.admitLogin('Ann@Example.com ')
  t.throws(() => limits.admitLogin('ann@example.com'), {
    problem: { slug: 'rate-limited', extra: { violatedPolicies: ['login'] }, retryAfterSeconds: 180 },
  } as unknown as Error)
  limits.admitLogin('bob@example.com')
})

t.test('buckets are bounded and forget the full ones first', async (t) => {
  const buckets = new TokenBuckets({ units: 10, windowSeconds: 10 })
  const used = buckets.at('used', 0)
  used.units = 0
  for (let nth = 0; nth < 100_000; nth++) buckets.at(`p${nth}`, 0)
  t.ok(buckets.size <= 100_000)
  t.equal(buckets.at('used', 0), used, 'what is in use is kept')
})

t.test('limits cannot be switched off in production', async (t) => {
  const production = {
    APP_ENV: 'production',
    DATABASE_URL: 'postgres://u:p@h/d',
    SECRETS_KEY: 'k'.repeat(32),
    SMTP_URL: 'smtp://mail.example',
    MAIL_FROM: 'no-reply@bank.example',
  }
  t.equal(readConfig(production).rateLimits, 'on')
  t.equal(readConfig({ RATE_LIMITS: 'off' }).rateLimits, 'off')
  t.throws(() => readConfig({ ...production, RATE_LIMITS: 'off' }), ConfigError)
})

t.test('nodes share what they have counted through Redis, and count alone without it', async (t) => {
  const server = await ensureRedisServer()
  t.teardown(() => server.stop())
  const redis = connectRedis(server.url, 'commands')
  redis.on('error', () => undefined)
  t.teardown(() => redis.disconnect())
  const world = fakeWorld()
  const errors: unknown[] = []
  const nodes = Array.from(
    { length: 2 },
    () =>
      new RateLimits({
        clock: world.clock,
        counters: createRateCounters(redis, `rate-${process.pid}-${Date.now()}`.slice(0, 20)),
        onError: (error) => errors.push(error),
      }),
  )
  t.teardown(() => nodes.forEach((node) => node[Symbol.dispose]()))
  const prepared = nodes.map((node) => node.prepare({ ...open, callers: 'key', limits: ['customer-create'] } as never))
  const caller = { kind: 'key', principalId: `k${Date.now()}`, tenantId: CUSTOMER } as const
  const call = (nth: number) => nodes[nth]!.admit(prepared[nth]!, caller, '', () => undefined)?.settle(200)
  for (let nth = 0; nth < 9; nth++) call(0)
  call(1)
  t.strictSame(errors, [])
  await until('the second node has heard of the first', () => {
    try {
      call(1)
      return false
    } catch {
      return true
    }
  })
  t.strictSame(errors, [])
  redis.disconnect()
  nodes[0]!.admit(
    nodes[0]!.prepare({ ...open, callers: 'key' } as never),
    { ...caller, principalId: 'alone' },
    '',
    () => undefined,
  )
  await until('the loss is told', () => errors.length > 0)
  t.ok(
    nodes[0]!.admit(
      nodes[0]!.prepare({ ...open, callers: 'key' } as never),
      { ...caller, principalId: 'alone' },
      '',
      () => undefined,
    ),
    'and nobody is refused for it',
  )
})

t.test('an operator key makes ten customers a minute, and staff are not limited so', (t) => {
  const clock = { now: () => 0 }
  using limits = new RateLimits({ clock } as unknown as ConstructorParameters<typeof RateLimits>[0])
  const prepared = limits.prepare(createCustomer)
  const made = (kind: 'key' | 'session') => {
    let count = 0
    try {
      for (; count < 20; count++)
        limits.admit(prepared, { kind, principalId: kind, tenantId: OPERATOR }, '', () => undefined)?.settle(201)
    } catch (error) {
      t.match(error, { problem: { slug: 'rate-limited', extra: { violatedPolicies: ['customer-create'] } } })
    }
    return count
  }
  t.strictSame([made('key'), made('session')], [10, 20])
  t.end()
})

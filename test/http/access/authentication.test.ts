import { randomBytes } from 'node:crypto'
import t from 'tap'
import { generateApiKey, isApiKeyText } from '../../../lib/identity/api-key.ts'
import { CUSTOMER, fakeWorld, OPERATOR, PAYMENT_BODY, startFake } from '../server/fake-world.ts'

const world = fakeWorld()
const service = await startFake(world)
t.teardown(service.stop)

const withKey = (key: string, rest: Record<string, string | undefined> = {}) =>
  service.get('/v1/payments', { authorization: `Bearer ${key}`, ...rest })

t.test('a made key has the form it promises and carries its own checksum', async (t) => {
  const { secret, prefix, sha256 } = generateApiKey('live', randomBytes)
  t.match(secret, /^svc_live_[0-9A-Za-z]{46}$/)
  t.equal(prefix, secret.slice(0, 17))
  t.match(sha256, /^[0-9a-f]{64}$/)
  t.ok(isApiKeyText(secret))
  const other = secret[20] === 'a' ? 'b' : 'a'
  t.notOk(isApiKeyText(secret.slice(0, 20) + other + secret.slice(21)), 'one changed character breaks the checksum')
  t.not(generateApiKey('live', randomBytes).secret, secret)
})

t.test('no credential is unauthenticated, a wrong one is invalid-api-key, both with a challenge', async (t) => {
  for (const [authorization, code] of [
    [undefined, 'unauthenticated'],
    ['Basic YTpi', 'unauthenticated'],
    ['Bearer nonsense', 'invalid-api-key'],
    [`Bearer ${generateApiKey('test', randomBytes).secret}`, 'invalid-api-key'],
  ] as const) {
    const response = await service.get('/v1/payments', { authorization })
    t.equal(response.status, 401)
    t.equal(response.headers.get('www-authenticate'), 'Bearer')
    t.equal((await response.json()).code, code)
  }
})

t.test('the scheme is not case-sensitive', async (t) => {
  t.equal((await service.get('/v1/payments', { authorization: `bearer ${service.key}` })).status, 200)
})

t.test('malformed keys never reach storage', async (t) => {
  const before = world.lookUps
  await withKey(`svc_test_${'a'.repeat(46)}`)
  t.equal(world.lookUps, before)
})

t.test('revoked and expired keys are refused', async (t) => {
  t.equal((await withKey(world.addKey({ status: 'revoked' }))).status, 401)
  const key = world.addKey({ expiresAtMs: world.nowMs + 500 })
  t.equal((await withKey(key)).status, 200)
  world.nowMs += 500
  t.equal((await withKey(key)).status, 401, 'expiry does not wait for the cache')
})

t.test('a key is looked up about once a second, and its revocation is noticed then', async (t) => {
  const key = world.addKey()
  const before = world.lookUps
  for (let time = 0; time < 5; time++) t.equal((await withKey(key)).status, 200)
  t.equal(world.lookUps, before + 1)
  for (const [sha256, record] of world.keys) {
    if (generatedFrom(key, sha256)) world.keys.set(sha256, { ...record, status: 'revoked' })
  }
  world.nowMs += 1500
  t.equal((await withKey(key)).status, 401)
})

function generatedFrom(key: string, sha256: string): boolean {
  return process.getBuiltinModule('node:crypto').hash('sha256', key, 'hex') === sha256
}

t.test('test keys need a sandbox, live keys do not', async (t) => {
  const production = fakeWorld({ sandbox: false })
  const live = await startFake(production)
  t.teardown(live.stop)
  const refused = await live.get('/v1/payments')
  t.equal(refused.status, 401)
  t.match(await refused.json(), { code: 'invalid-api-key', detail: /sandbox/ })
  const key = production.addKey({ environment: 'live' })
  t.equal((await live.get('/v1/payments', { authorization: `Bearer ${key}` })).status, 200)
})

t.test('addresses outside the list are refused', async (t) => {
  const elsewhere = await withKey(world.addKey({ ipAllowlist: ['192.0.2.0/24', '2001:db8::/32'] }))
  t.equal(elsewhere.status, 403)
  t.equal((await elsewhere.json()).code, 'ip-not-allowed')
  t.equal((await withKey(world.addKey({ ipAllowlist: ['192.0.2.1', '127.0.0.0/8'] }))).status, 200)
})

t.test('X-Tenant-Id must be there, be a UUID and be the tenant of the key', async (t) => {
  for (const [header, status, error] of [
    [undefined, 400, { code: 'malformed-request', errors: [{ field: 'header.X-Tenant-Id', code: 'required' }] }],
    ['nonsense', 400, { code: 'malformed-request', errors: [{ field: 'header.X-Tenant-Id', code: 'invalid_format' }] }],
    [OPERATOR, 403, { code: 'tenant-forbidden' }],
    [CUSTOMER.toUpperCase(), 200, {}],
  ] as const) {
    const response = await service.get('/v1/payments', { 'x-tenant-id': header })
    t.equal(response.status, status)
    t.match(await response.json(), error)
  }
})

t.test('operators use their own id, and only where operators are meant', async (t) => {
  const key = world.addKey({ level: 'operator', tenantId: OPERATOR })
  t.equal((await service.get('/v1/balances', { authorization: `Bearer ${key}`, 'x-tenant-id': OPERATOR })).status, 200)
  t.match(world.lists.at(-1)?.tenant, { id: OPERATOR, kind: 'operator' })
  for (const tenant of [OPERATOR, CUSTOMER]) {
    const response = await withKey(key, { 'x-tenant-id': tenant })
    t.equal(response.status, 403)
    t.equal((await response.json()).code, 'tenant-forbidden')
  }
})

t.test('a key reaches only what its scopes name', async (t) => {
  const key = world.addKey({ scopes: ['payments:read'] })
  t.equal((await withKey(key)).status, 200)
  const response = await service.post('/v1/payments', PAYMENT_BODY, { authorization: `Bearer ${key}` })
  t.equal(response.status, 403)
  t.match(await response.json(), { code: 'insufficient-scope', requiredScope: 'payments:write' })
})

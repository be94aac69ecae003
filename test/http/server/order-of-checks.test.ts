import t from 'tap'
import { fingerprintOf } from '../../../lib/commands/idempotency.ts'
import { fakeWorld, PAYMENT_BODY, request, startFake } from './fake-world.ts'

const world = fakeWorld()
const service = await startFake(world)
t.teardown(service.stop)

/**
 * Everything is wrong at first; each row repairs one thing more and names what is complained about then. So every
 * check is seen to come before all that follow it.
 */
t.test('checks come in one order', async (t) => {
  const reader = world.addKey({ scopes: ['payments:read'] })
  const headers: Record<string, string | undefined> = {
    authorization: undefined,
    'x-tenant-id': undefined,
    'x-request-id': 'not good',
    'idempotency-key': undefined,
    'content-type': 'text/plain',
  }
  let path = '/v1/payments?nonsense=1'
  let method = 'PUT'
  let body = '{"a":1,"a":2'

  async function expect(status: number, code: string, field?: string): Promise<void> {
    const response = await request(service.origin + path, {
      method,
      headers: Object.fromEntries(
        Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
      ),
      body,
    })
    const document = await response.json()
    t.equal(response.status, status, code)
    t.equal(document.code, code)
    if (field !== undefined) t.equal(document.errors[0].field, field)
  }

  await expect(405, 'method-not-allowed')
  method = 'POST'
  await expect(401, 'unauthenticated')
  headers['authorization'] = 'Bearer nonsense'
  await expect(401, 'invalid-api-key')
  headers['authorization'] = `Bearer ${reader}`
  await expect(400, 'malformed-request', 'header.X-Tenant-Id')
  headers['x-tenant-id'] = '01980d6e-0000-7000-8000-0000000fffff'
  await expect(403, 'tenant-forbidden')
  headers['x-tenant-id'] = service.headers['x-tenant-id']
  await expect(403, 'insufficient-scope')
  headers['authorization'] = `Bearer ${service.key}`
  await expect(400, 'malformed-request', 'header.X-Request-Id')
  headers['x-request-id'] = 'good'
  await expect(400, 'malformed-request', 'query.nonsense')
  path = '/v1/payments'
  await expect(400, 'malformed-request', 'header.Idempotency-Key')
  headers['idempotency-key'] = 'order-1'
  await expect(415, 'unsupported-media-type')
  headers['content-type'] = 'application/json'
  await expect(400, 'malformed-request')
  body = '{"a":1,"a":2}'
  await expect(400, 'malformed-request')
  body = '{"a":1}'
  await expect(422, 'validation-error')
  t.equal(world.createdPayments.length, 0, 'nothing reached the domain')
  body = JSON.stringify(PAYMENT_BODY)
  const response = await request(service.origin + path, { method, headers: headers as Record<string, string>, body })
  t.equal(response.status, 201)
})

t.test('a recorded key wins over a body that is not valid', async (t) => {
  const key = { 'idempotency-key': 'recorded' }
  await service.post('/v1/payments', PAYMENT_BODY, key)
  const { idempotency } = world.createdPayments.at(-1) ?? {}
  t.ok(idempotency)
  world.records.set(idempotency?.id as string, {
    fingerprint: idempotency?.fingerprint as string,
    createdAt: '2026-01-02T00:00:00.000Z',
    answer: { status: 201, body: '{"first":true}', contentType: 'application/json', replayed: false },
  })
  const reused = await service.post('/v1/payments', { ...PAYMENT_BODY, amount: 5 }, key)
  t.equal(reused.status, 422)
  t.match(await reused.json(), { code: 'idempotency-key-reused', firstUsedAt: '2026-01-02T00:00:00.000Z' })

  const bad = { reference: 'never valid' }
  const record = { fingerprint: fingerprintOf('POST', '/v1/payments', '', bad), createdAt: '2026-01-02T00:00:00.000Z' }
  world.findIdempotencyRecord = async () => ({ ...record, answer: null })
  const running = await service.post('/v1/payments', bad)
  t.equal(running.status, 409)
  t.equal(running.headers.get('retry-after'), '1')
  t.match(await running.json(), { code: 'idempotency-key-in-use', retryable: true })

  world.findIdempotencyRecord = async () => ({
    ...record,
    answer: {
      status: 422,
      body: '{"code":"limit-exceeded"}',
      contentType: 'application/problem+json',
      replayed: false,
    },
  })
  const replayed = await service.post('/v1/payments', bad)
  t.equal(replayed.status, 422)
  t.equal(replayed.headers.get('idempotency-replayed'), 'true')
  t.equal(await replayed.text(), '{"code":"limit-exceeded"}')
})

import t from 'tap'
import { fingerprintOf, idempotencyId, parseIdempotencyKey } from '../../../lib/commands/idempotency.ts'
import { fakeWorld, PAYMENT_BODY, startFake } from './fake-world.ts'

const world = fakeWorld()
const service = await startFake(world)
t.teardown(service.stop)

t.test('keys are visible ASCII without spaces and quotes; a quoted string is unquoted', async (t) => {
  t.equal(parseIdempotencyKey('abc', 'required'), 'abc')
  t.equal(parseIdempotencyKey('"abc"', 'required'), 'abc')
  t.equal(parseIdempotencyKey('a'.repeat(255), 'required'), 'a'.repeat(255))
  t.equal(parseIdempotencyKey(undefined, 'optional'), null)
  t.throws(() => parseIdempotencyKey(undefined, 'required'))
  for (const bad of ['', '""', 'a b', '"a b"', 'a"b', '"a\\"b"', 'ä', 'a'.repeat(256), 'a\tb']) {
    t.throws(() => parseIdempotencyKey(bad, 'optional'), /malformed-request/, JSON.stringify(bad))
  }
})

t.test('the id of a command differs with every part of its scope', async (t) => {
  const scope = { principalId: 'p', tenantId: 't', method: 'POST', path: '/v1/payments', key: 'k' }
  const id = idempotencyId(scope)
  t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  t.equal(idempotencyId(scope), id)
  for (const part of ['principalId', 'tenantId', 'method', 'path', 'key'])
    t.not(idempotencyId({ ...scope, [part]: 'x' }), id, part)
})

t.test('the fingerprint follows what was asked, not how it was written', async (t) => {
  const first = fingerprintOf('POST', '/v1/payments', 'a=1&b=2', { a: 1, b: { c: [1, 2], d: 'x' } })
  t.match(first, /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  t.equal(fingerprintOf('POST', '/v1/payments', 'b=2&a=1', { b: { d: 'x', c: [1, 2] }, a: 1.0 }), first)
  t.not(fingerprintOf('POST', '/v1/payments', 'a=1&b=2', { a: 1, b: { c: [2, 1], d: 'x' } }), first)
  t.not(fingerprintOf('POST', '/v1/transfers', 'a=1&b=2', { a: 1, b: { c: [1, 2], d: 'x' } }), first)
  t.not(fingerprintOf('POST', '/v1/payments', '', { a: 1, b: { c: [1, 2], d: 'x' } }), first)
})

t.test('the domain gets the identity of the command', async (t) => {
  await service.post('/v1/payments', PAYMENT_BODY, { 'idempotency-key': 'k1' })
  const first = world.createdPayments.at(-1)
  const reordered = Object.fromEntries(Object.entries(PAYMENT_BODY).reverse())
  await service.post('/v1/payments', JSON.stringify(reordered, null, 2), { 'idempotency-key': '"k1"' })
  const { problemRequest, ...identity } = first!.idempotency!
  t.match(problemRequest, { instance: '/v1/payments', requestId: String })
  t.match(world.createdPayments.at(-1)?.idempotency, identity, 'only the request differs, which a refusal repeats')
  await service.post('/v1/payments', { ...PAYMENT_BODY, reference: 'other' }, { 'idempotency-key': 'k1' })
  t.equal(world.createdPayments.at(-1)?.idempotency?.id, first?.idempotency?.id)
  t.not(world.createdPayments.at(-1)?.idempotency?.fingerprint, first?.idempotency?.fingerprint)
  t.match(first, {
    tenantId: service.headers['x-tenant-id'],
    instance: '/v1/payments',
    principal: { name: 'test key' },
  })
})

import { connect } from 'node:net'
import t from 'tap'
import { OperatingError } from '../../../lib/base/errors.ts'
import { refuse } from '../../../lib/base/problems.ts'
import { fakeWorld, PAYMENT, PAYMENT_BODY, request, startFake } from './fake-world.ts'

const world = fakeWorld()
const service = await startFake(world)
t.teardown(service.stop)

t.test('health and readiness answer at the root and under /v1, without a credential', async (t) => {
  for (const path of ['/health', '/ready', '/v1/health', '/v1/ready']) {
    const response = await request(service.origin + path)
    t.equal(response.status, 200, path)
    t.equal(response.headers.get('cache-control'), 'no-store', path)
  }
})

t.test('nothing else answers without /v1', async (t) => {
  t.equal((await service.get('/payments')).status, 404)
  t.equal((await service.get('/v1')).status, 404)
  t.equal((await service.get('/')).status, 404)
  t.equal((await service.get('/v1/payments/')).status, 404)
  t.equal((await service.get('/v1/Payments')).status, 404)
})

t.test('a problem document has every member and header it promises', async (t) => {
  const response = await service.get('/v1/nothing', { 'x-request-id': 'mine:1' })
  t.equal(response.status, 404)
  t.equal(response.headers.get('content-type'), 'application/problem+json')
  t.equal(response.headers.get('content-language'), 'en')
  t.equal(response.headers.get('cache-control'), 'no-store')
  t.same(await response.json(), {
    type: 'https://docs.example/problems/not-found',
    title: 'No such resource in this tenant',
    status: 404,
    detail: 'No operation has this path.',
    instance: '/v1/nothing',
    code: 'not-found',
    requestId: 'mine:1',
    retryable: false,
  })
})

t.test('a method that a path does not have is 405 with the ones it has, before any credential', async (t) => {
  const response = await request(`${service.origin}/v1/payments`, { method: 'PUT' })
  t.equal(response.status, 405)
  t.equal(response.headers.get('allow'), 'GET, HEAD, POST')
  t.equal((await response.json()).code, 'method-not-allowed')
  t.equal((await request(`${service.origin}/health`, { method: 'POST' })).headers.get('allow'), 'GET, HEAD')
})

t.test('a request id is echoed when it is usable, made when it is absent, refused when it is not usable', async (t) => {
  const echoed = await service.get('/v1/payments', { 'x-request-id': 'a.b_c:d-9' })
  t.equal(echoed.headers.get('x-request-id'), 'a.b_c:d-9')
  const made = await service.get('/v1/payments')
  t.match(made.headers.get('x-request-id'), /^[0-9a-f-]{36}$/)
  for (const bad of ['with space', 'a'.repeat(129), 'ä']) {
    const refused = await service.get('/v1/payments', { 'x-request-id': bad })
    t.equal(refused.status, 400)
    t.match(await refused.json(), {
      code: 'malformed-request',
      errors: [{ field: 'header.X-Request-Id', code: 'invalid_format' }],
    })
    t.not(refused.headers.get('x-request-id'), bad)
  }
})

t.test('an Accept header without JSON is 406', async (t) => {
  t.equal((await service.get('/v1/payments', { accept: 'text/html' })).status, 406)
  t.equal((await service.get('/v1/payments', { accept: 'application/json;q=0' })).status, 406)
  t.equal((await service.get('/v1/payments', { accept: 'text/html, application/*;q=0.5' })).status, 200)
})

t.test('a request target over 8 KiB is 414', async (t) => {
  const response = await service.get(`/v1/payments?q=${'a'.repeat(8200)}`)
  t.equal(response.status, 414)
  t.match(await response.json(), { code: 'uri-too-long', maxBytes: 8192 })
})

function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(service.port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (chunk) => (answer += chunk))
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}

t.test('a header block over 16 KiB is 431, and broken HTTP is 400, both as problems', async (t) => {
  const large = await raw(`GET /v1/payments HTTP/1.1\r\nHost: a\r\nX-Large: ${'a'.repeat(17_000)}\r\n\r\n`)
  t.match(large, /^HTTP\/1\.1 431 /)
  t.match(large, /"code":"headers-too-large"/)
  const broken = await raw('NONSENSE\r\n\r\n')
  t.match(broken, /^HTTP\/1\.1 400 /)
  t.match(broken, /application\/problem\+json/)
})

t.test('a created resource has its tag and its address', async (t) => {
  const response = await service.post('/v1/payments', PAYMENT_BODY)
  t.equal(response.status, 201)
  t.equal(response.headers.get('etag'), 'W/"1-0123456789ab"')
  t.equal(response.headers.get('location'), `/v1/payments/${PAYMENT}`)
  t.equal(response.headers.get('cache-control'), 'no-store')
  t.equal(response.headers.get('idempotency-replayed'), null)
})

t.test('a replayed answer says so and keeps its bytes', async (t) => {
  world.answer = {
    status: 409,
    body: '{"code":"insufficient-funds"}',
    contentType: 'application/problem+json',
    replayed: true,
  }
  t.teardown(() => (world.answer = null))
  const response = await service.post('/v1/payments', PAYMENT_BODY)
  t.equal(response.status, 409)
  t.equal(response.headers.get('idempotency-replayed'), 'true')
  t.equal(response.headers.get('content-type'), 'application/problem+json')
  t.equal(response.headers.get('content-language'), 'en')
  t.equal(await response.text(), '{"code":"insufficient-funds"}')
})

t.test('a read is answered with 304 while its tag holds', async (t) => {
  const path = `/v1/payments/${PAYMENT}`
  const first = await service.get(path)
  t.equal(first.status, 200)
  t.equal(first.headers.get('cache-control'), 'private, no-cache')
  const etag = first.headers.get('etag') as string
  t.match(etag, /^W\/"3-[0-9a-f]{12}"$/)
  for (const header of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
    const again = await service.get(path, { 'if-none-match': header })
    t.equal(again.status, 304, header)
    t.equal(again.headers.get('etag'), etag)
    t.equal(await again.text(), '')
  }
  t.equal((await service.get(path, { 'if-none-match': '"other"' })).status, 200)
  const list = await service.get('/v1/payments')
  t.match(list.headers.get('etag'), /^W\/"[0-9a-f]{24}"$/)
  t.equal((await service.get('/v1/payments', { 'if-none-match': list.headers.get('etag') as string })).status, 304)
})

t.test('HEAD answers like GET without a body', async (t) => {
  const response = await request(`${service.origin}/v1/payments/${PAYMENT}`, {
    method: 'HEAD',
    headers: service.headers,
  })
  t.equal(response.status, 200)
  t.ok(Number(response.headers.get('content-length')) > 0)
  t.equal(await response.text(), '')
})

t.test('a missing resource is 404', async (t) => {
  const response = await service.get('/v1/payments/01980d6e-0000-7000-8000-00000000ffff')
  t.equal(response.status, 404)
  t.equal((await response.json()).code, 'not-found')
  t.equal((await service.get('/v1/balances/01980d6e-0000-7000-8000-00000000ffff/holds')).status, 404)
})

t.test('what is thrown is shown only when it was made for clients', async (t) => {
  t.teardown(() => (world.failure = null))

  world.failure = new Error('postgres password is hunter2')
  const bug = await service.post('/v1/payments', PAYMENT_BODY)
  t.equal(bug.status, 500)
  const document = await bug.text()
  t.notMatch(document, /hunter2/)
  t.match(JSON.parse(document), { code: 'internal-error', retryable: false })
  t.equal(world.logged.at(-1)?.level, 'error')

  world.failure = new OperatingError('connection to 10.0.0.7 refused', { retryAfterSeconds: 2 })
  const operating = await service.post('/v1/payments', PAYMENT_BODY)
  t.equal(operating.status, 503)
  t.equal(operating.headers.get('retry-after'), '2')
  const text = await operating.text()
  t.notMatch(text, /10\.0\.0\.7/)
  t.match(JSON.parse(text), { code: 'service-unavailable', retryable: true, retryAfterSeconds: 2 })

  try {
    refuse('insufficient-funds', 'Available 90.00 EUR, required 100.35 EUR.', {
      extra: { available: { amountMinor: '9000', currency: 'EUR' } },
    })
  } catch (error) {
    world.failure = error as Error
  }
  const refused = await service.post('/v1/payments', PAYMENT_BODY)
  t.equal(refused.status, 409)
  t.match(await refused.json(), { code: 'insufficient-funds', available: { amountMinor: '9000' } })
})

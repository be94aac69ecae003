import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { HEADER_OF_EVERY_ANSWER } from './headers.ts'
import { until } from '../../support/until.ts'
import { fakeWorld, PAYMENT, PAYMENT_BODY, request, startFake, type FakeOptions } from '../server/fake-world.ts'

const CONSOLE = 'https://console.example.com'

async function started(options: FakeOptions = {}) {
  const world = fakeWorld()
  return { world, ...(await startFake(world, options)) }
}

/** Sends bytes as they are and reads until the other side closes, or for `waitMs` when it does not. */
function raw(port: number, text: string, waitMs = 10_000): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    const timer = setTimeout(() => socket.destroy(), waitMs)
    socket.on('data', (chunk) => (answer += chunk))
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(answer)
    })
    socket.on('error', reject)
  })
}

t.test('every answer tells browsers to guess nothing, frame nothing and run nothing', async (t) => {
  const service = await started()
  t.teardown(service.stop)
  const answers = [
    await service.get('/v1/payments'),
    await service.get(`/v1/payments/${PAYMENT}`),
    await service.post('/v1/payments', PAYMENT_BODY),
    await service.post('/v1/payments', {}),
    await service.get('/v1/payments', { authorization: undefined }),
    await service.get('/nothing'),
    await request(`${service.origin}/health`),
    await request(`${service.origin}/v1/openapi.json`),
    await request(`${service.origin}/v1/payments`, { method: 'PUT' }),
  ]
  const etag = answers[1]!.headers.get('etag') as string
  answers.push(await service.get(`/v1/payments/${PAYMENT}`, { 'if-none-match': etag }))
  for (const answer of answers) {
    for (const [name, value] of Object.entries(HEADER_OF_EVERY_ANSWER))
      t.equal(answer.headers.get(name), value, `${answer.status} ${answer.url} ${name}`)
    t.notOk(answer.headers.has('strict-transport-security'), 'not where TLS is not known to be')
    t.notOk(answer.headers.has('access-control-allow-origin'))
    t.notOk(answer.headers.has('x-powered-by') || answer.headers.has('server'), "what runs here is nobody's business")
  }
})

t.test('behind TLS browsers are told to stay with it', async (t) => {
  const service = await started({ app: { security: { publicUrl: 'https://api.example.com', consoleOrigins: [] } } })
  t.teardown(service.stop)
  for (const path of ['/v1/payments', '/health', '/docs', '/nothing']) {
    t.equal(
      (await service.get(path)).headers.get('strict-transport-security'),
      'max-age=31536000; includeSubDomains',
      path,
    )
  }
})

t.test('registered consoles may read answers, others may not, and keys are for no browser', async (t) => {
  const service = await started({ app: { security: { publicUrl: null, consoleOrigins: [CONSOLE] } } })
  t.teardown(service.stop)
  const preflight = (origin: string) =>
    request(`${service.origin}/v1/payments`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-csrf-token' },
    })
  const allowed = await preflight(CONSOLE)
  t.equal(allowed.status, 204)
  t.equal(allowed.headers.get('access-control-allow-origin'), CONSOLE)
  t.equal(allowed.headers.get('access-control-allow-credentials'), 'true')
  t.match(allowed.headers.get('access-control-allow-headers'), /X-CSRF-Token/)
  t.match(allowed.headers.get('access-control-allow-methods'), /PATCH/)
  t.equal(allowed.headers.get('vary'), 'Origin')
  for (const origin of [
    'https://evil.example.com',
    `${CONSOLE}.evil.example.com`,
    `${CONSOLE}:8443`,
    'http://console.example.com',
    'null',
    CONSOLE.toUpperCase(),
  ]) {
    const refused = await preflight(origin)
    t.notOk(refused.headers.has('access-control-allow-origin'), origin)
    t.equal(refused.status, 405, origin)
    t.equal(refused.headers.get('vary'), 'Origin', 'a cache keeps answers to different origins apart')
  }
  const asPerson = await service.get('/v1/payments', { origin: CONSOLE, authorization: 'Bearer ses_nonsense' })
  t.equal(asPerson.status, 401)
  t.equal(asPerson.headers.get('access-control-allow-origin'), CONSOLE, 'a console can read refusals, too')
  t.match(asPerson.headers.get('access-control-expose-headers'), /X-Request-Id/)
  for (const scheme of ['Bearer', 'bearer']) {
    const withKey = await service.get('/v1/payments', { origin: CONSOLE, authorization: `${scheme} ${service.key}` })
    t.equal(withKey.status, 200)
    t.notOk(withKey.headers.has('access-control-allow-origin'))
  }
  const none = await started()
  t.teardown(none.stop)
  t.notOk(
    (await none.get('/v1/payments', { origin: CONSOLE })).headers.has('vary'),
    'where no console is registered nothing depends on the origin',
  )
})

t.test('clients that are slow with their headers or their body are cut off', async (t) => {
  const service = await started({ patience: { headersTimeoutMs: 200, requestTimeoutMs: 500, lookMs: 50 } })
  t.teardown(service.stop)
  t.match(await raw(service.port, 'GET /v1/payments HTTP/1.1\r\nHost: a\r\nX-Slow: '), /^HTTP\/1\.1 408 /)
  t.equal(await raw(service.port, ''), '', 'who has said nothing is told nothing')
  const { authorization, 'x-tenant-id': tenant } = service.headers
  const head = `POST /v1/payments HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nX-Tenant-Id: ${tenant}\r\nIdempotency-Key: slow\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`
  const cut = await raw(service.port, `${head}{"a":`)
  t.match(cut, /^HTTP\/1\.1 408 |^$/)
  t.equal(service.world.createdPayments.length, 0)
  t.equal(service.world.logged.filter(({ level }) => level === 'error').length, 0)
  t.equal((await service.get('/v1/payments')).status, 200, 'others are served')
})

t.test('an address that holds all connections keeps no other address out', async (t) => {
  const service = await started({ patience: { connectionsMax: 10 } })
  t.teardown(service.stop)
  const open = (localAddress: string) =>
    new Promise<string>((resolve) => {
      let answer = ''
      const socket = connect({ port: service.port, host: '127.0.0.1', localAddress }, () =>
        socket.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n'),
      )
      t.teardown(() => {
        socket.destroy()
      })
      socket.on('data', (chunk) => {
        answer += chunk
        resolve(answer)
      })
      socket.on('close', () => resolve(answer))
      socket.on('error', () => resolve(answer))
    })
  for (let nth = 0; nth < 10; nth++) t.match(await open('127.0.0.1'), /^HTTP\/1\.1 200 /)
  t.equal(await open('127.0.0.1'), '', 'it has them all')
  t.match(await open('127.0.0.2'), /^HTTP\/1\.1 200 /)
})

t.test('a client that leaves before its answer, or in the middle of its body, is no error of ours', async (t) => {
  const service = await started()
  t.teardown(service.stop)
  const { authorization, 'x-tenant-id': tenant } = service.headers
  const head = (length: number, rest = '') =>
    `POST /v1/payments HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nX-Tenant-Id: ${tenant}\r\nIdempotency-Key: k-${Math.random()}\r\nContent-Type: application/json\r\n${rest}Content-Length: ${length}\r\n\r\n`
  const leave = (text: string, afterMs: number) =>
    new Promise<void>((resolve) => {
      const socket = connect(service.port, '127.0.0.1', () => {
        socket.write(text)
        setTimeout(() => {
          socket.resetAndDestroy()
          resolve()
        }, afterMs)
      })
    })
  for (const afterMs of [0, 1, 5, 20]) {
    await leave(head(1000), afterMs)
    await leave(`${head(1000)}{"a":`, afterMs)
    await leave(`${head(1000, 'Content-Encoding: gzip\r\n')}abc`, afterMs)
    await leave(`${head(1000, 'Expect: 100-continue\r\n')}`, afterMs)
    await leave(head(JSON.stringify(PAYMENT_BODY).length) + JSON.stringify(PAYMENT_BODY), afterMs)
  }
  // The credential is looked up while the client leaves: nothing is left to read the body from.
  const { findApiKey } = service.world
  service.world.findApiKey = async (sha256) => {
    await pause(50)
    return await findApiKey(sha256)
  }
  for (let nth = 0; nth < 3; nth++) await leave(`${head(1000).replace(service.key, service.world.addKey())}{`, 1)
  await pause(200)
  t.strictSame(
    service.world.logged.filter(({ level }) => level === 'error'),
    [],
  )
})

t.test('compressed bodies are read, bounded by what they become', async (t) => {
  const service = await started()
  t.teardown(service.stop)
  const gzip = { 'content-encoding': 'gzip' }
  t.equal((await service.post('/v1/payments', gzipSync(JSON.stringify(PAYMENT_BODY)), gzip)).status, 201)
  t.match(
    await (
      await service.post(
        '/v1/payments',
        gzipSync(JSON.stringify({ ...PAYMENT_BODY, internalNote: ' '.repeat(50_000_000) })),
        gzip,
      )
    ).json(),
    { status: 413, code: 'payload-too-large' },
  )
  t.match(await (await service.post('/v1/payments', Buffer.from('not compressed at all'), gzip)).json(), {
    status: 400,
    code: 'malformed-request',
  })
  t.match(
    await (await service.post('/v1/payments', gzipSync(JSON.stringify(PAYMENT_BODY)).subarray(0, 40), gzip)).json(),
    { status: 400, code: 'malformed-request' },
  )
  t.strictSame(
    service.world.logged.filter(({ level }) => level === 'error'),
    [],
  )
})

t.test('a request that two readers could take for two is refused, and its connection closed', async (t) => {
  const service = await started()
  t.teardown(service.stop)
  const { authorization, 'x-tenant-id': tenant } = service.headers
  const start = `POST /v1/payments HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nX-Tenant-Id: ${tenant}\r\nIdempotency-Key: smuggled\r\nContent-Type: application/json\r\n`
  const hidden = 'GET /v1/balances HTTP/1.1\r\nHost: a\r\n\r\n'
  for (const [what, text] of [
    ['a length and chunks', `${start}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`],
    ['two lengths', `${start}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{"a"}${hidden}`],
    ['two lengths in one', `${start}Content-Length: 5, 6\r\n\r\n{"a"}${hidden}`],
    ['a length that is none', `${start}Content-Length: +5\r\n\r\n{"a"}${hidden}`],
    ['chunks under another name', `${start}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`],
    ['chunks that are not last', `${start}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${hidden}`],
    ['a space before the colon', `${start}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`],
    ['a folded header', `${start}X-A: b\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`],
    ['a bare line feed', `${start}X-A: b\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`],
    ['a chunk size that is none', `${start}Transfer-Encoding: chunked\r\n\r\n0x5\r\n{"a"}\r\n0\r\n\r\n${hidden}`],
    ['a NUL in a header', `${start}X-A: b\0c\r\nContent-Length: 0\r\n\r\n${hidden}`],
    ['no host', `POST /v1/payments HTTP/1.1\r\nContent-Length: 0\r\n\r\n${hidden}`],
  ] as const) {
    const answer = await raw(service.port, text, 2_000)
    const statuses = [...answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => status)
    t.strictSame(statuses, ['400'], `${what}: one answer, and no second request`)
    t.match(answer, /\r\nConnection: close\r\n/i, `${what}: the connection ends`)
  }
  t.equal(service.world.createdPayments.length, 0)
})

t.test('no name in a request reaches a prototype', async (t) => {
  const service = await started()
  t.teardown(service.stop)
  const text = JSON.stringify(PAYMENT_BODY).slice(0, -1)
  for (const extra of [
    '"__proto__":{"polluted":true}',
    '"constructor":{"prototype":{"polluted":true}}',
    '"metadata":{"__proto__":"x"}',
    '"metadata":{"constructor":{"prototype":{"polluted":true}}}',
    '"amount":{"__proto__":{"polluted":true},"amountMinor":"1","currency":"EUR"}',
  ])
    t.equal(
      (
        await service.post(
          '/v1/payments',
          `${text.replace(/"amount":\{[^}]*\},?/, extra.startsWith('"amount"') ? '' : '$&')},${extra}}`,
        )
      ).status,
      422,
      extra,
    )
  for (const query of [
    '__proto__[polluted]=1',
    'filter[__proto__]=1',
    'filter[constructor]=1',
    'filter[metadata.__proto__]=1',
    'constructor.prototype.polluted=1',
    'filter[toString]=1',
    'sort=__proto__',
  ]) {
    t.equal((await service.get(`/v1/payments?${query}`)).status, 400, query)
  }
  t.equal((await service.get('/v1/payments?filter[metadata.constructor]=1')).status, 200, 'a key like any other')
  for (const path of ['/v1/__proto__', '/v1/constructor', '/v1/payments/__proto__', '/__proto__'])
    t.ok([400, 404].includes((await service.get(path)).status), path)
  t.equal((await service.get('/v1/payments', { __proto__: 'x', authorization: 'Bearer __proto__' })).status, 401)
  t.equal((await service.post('/v1/payments', PAYMENT_BODY, { 'idempotency-key': '__proto__' })).status, 201)
  t.notOk('polluted' in {}, 'nothing got through')
  t.notOk('polluted' in Object, 'nor to constructors')
})

t.test('a listener that waits is told what became of its request', async (t) => {
  const service = await started()
  t.teardown(service.stop)
  const answer = await raw(service.port, 'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  t.match(answer, /^HTTP\/1\.1 404 /)
  t.match(
    await raw(service.port, 'GET http://elsewhere.example/v1/health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
    /^HTTP\/1\.1 (200|404) /,
  )
  t.match(
    await raw(service.port, 'GET /v1/%ff%fe HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
    /^HTTP\/1\.1 4\d\d /,
  )
  t.match(
    await raw(service.port, 'GET /v1/payments/%00 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
    /^HTTP\/1\.1 4\d\d /,
  )
  t.match(
    await raw(service.port, 'GET /v1/payments/%E0%A4%A HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
    /^HTTP\/1\.1 4\d\d /,
  )
  await until('nothing is logged as an error', () => service.world.logged.every(({ level }) => level !== 'error'))
})

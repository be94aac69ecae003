/** The client that calls providers: what it sends, how it tells "not sent" from "unknown", and what it keeps to itself. */
import type { lookup } from 'node:dns'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import {
  PartnerSilent,
  PartnerUnreachable,
  type PartnerEndpoint,
} from '../../../actors/providers/adapters/partner-http.ts'
import { CallLimiter } from '../../../actors/providers/io/call-limiter.ts'
import { lookupWithin, PartnerHttpClient } from '../../../actors/providers/io/partner-http-client.ts'
import { systemClock } from '../../../lib/base/clock.ts'
import type { CallOutcome } from '../../../lib/providers/health.ts'
import type { ProviderCall } from '../../../lib/providers/provider-call.ts'
import type { ProviderTargets } from '../../../lib/providers/provider-targets.ts'
import { redactor } from '../../../lib/providers/redaction.ts'

const SECRET = 'partner-secret-0815'

const ANYWHERE: ProviderTargets = { policy: 'any', networks: [] }
const PUBLIC: ProviderTargets = { policy: 'public', networks: [] }
const OWN_LINE: ProviderTargets = { policy: 'public', networks: ['10.0.0.0/24'] }

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void

/** A provider that answers as it is told, with a client for it. */
async function open(t: Test, handler: Handler, endpoint: Partial<PartnerEndpoint> = {}, perSecond = 10_000) {
  const arrivals: number[] = []
  const server = createServer((request, response) => {
    arrivals.push(performance.now())
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString()
    })
    request.on('end', () => handler(request, response, body))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const calls: Omit<ProviderCall, 'id'>[] = []
  const outcomes: CallOutcome[] = []
  const limiter = new CallLimiter({ perSecond, concurrent: 4, share: () => 1 })
  const client = new PartnerHttpClient(
    {
      connectionId: 'connection',
      targets: ANYWHERE,
      concurrent: 4,
      limiter,
      redact: redactor([SECRET]),
      clock: systemClock,
      record: (call) => calls.push(call),
      report: (outcome) => outcomes.push(outcome),
    },
    {
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`,
      timeoutMs: 10_000,
      sign: () => ({ authorization: `Bearer ${SECRET}` }),
      ...endpoint,
    },
  )
  const stop = async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  }
  t.teardown(async () => {
    limiter.close()
    await client.close()
    await stop()
  })
  return { client, calls, outcomes, arrivals, stop }
}

const get = { operation: 'read', method: 'GET', path: '/things?page=1', repeatable: true } as const
const post = { operation: 'create', method: 'POST', path: '/things', body: { a: 1 }, repeatable: false } as const

t.test('sends a signed request, and tells its answer', async (t) => {
  const seen: unknown[] = []
  const { client, calls, outcomes } = await open(t, (request, response, body) => {
    const { authorization, 'content-type': type } = request.headers
    seen.push([request.method, request.url, authorization, type, body])
    response.writeHead(201, { 'X-Thing': 'yes' }).end('{"id":7}')
  })
  const answer = await client.send(post)
  t.match(answer, { status: 201, headers: { 'x-thing': 'yes' }, json: { id: 7 } })
  t.strictSame(seen, [['POST', '/api/things', `Bearer ${SECRET}`, 'application/json', '{"a":1}']])
  t.match(calls, [{ operation: 'create', status: 201, fault: null, request: null, answer: null, requestBytes: 7 }])
  t.match(outcomes, [{ ok: true }])
})

t.test('what never left is told apart from what may have arrived', async (t) => {
  await t.test('without a connection the provider did nothing', async (t) => {
    const { client, calls, outcomes, stop } = await open(t, (_request, response) => response.end())
    await stop()
    await t.rejects(client.send(post), PartnerUnreachable)
    t.match(calls, [{ status: null, fault: 'unreachable', message: /ECONNREFUSED/ }, {}, {}], 'it is tried three times')
    t.match(outcomes[0], { ok: false, error: /^create: / })
  })
  await t.test('a connection that ends in the answer leaves the outcome unknown', async (t) => {
    const { client, calls, arrivals } = await open(t, (request) => request.socket.destroy())
    await t.rejects(client.send(post), PartnerSilent)
    t.equal(arrivals.length, 1, 'it is not sent again')
    t.match(calls, [{ status: null, fault: 'silent' }])
    await t.rejects(client.send(get), PartnerSilent)
    t.equal(arrivals.length, 4, 'a request that may be repeated is')
  })
  await t.test('an answer that does not end in time', async (t) => {
    const { client } = await open(t, (_request, response) => response.write('{'), { timeoutMs: 2_000 })
    await t.rejects(client.send(post), PartnerSilent)
  })
  await t.test('a request that cannot be signed', async (t) => {
    const sign = () => Promise.reject(new PartnerSilent('no token'))
    const { client, arrivals } = await open(t, (_request, response) => response.end(), { sign })
    await t.rejects(client.send(post), PartnerUnreachable)
    t.equal(arrivals.length, 0)
  })
})

t.test('a provider that takes no more calls for now is left alone for as long as it asks', async (t) => {
  let busy = 1
  const { client, arrivals, outcomes } = await open(t, (_request, response) => {
    if (busy-- > 0) response.writeHead(429, { 'retry-after': '1' }).end()
    else response.end('{}')
  })
  t.match(await client.send(post), { status: 200 })
  // Timers may be early by a little.
  t.ok((arrivals[1] as number) - (arrivals[0] as number) >= 950)
  t.match(outcomes, [{ ok: false }, { ok: true }])
  await t.test('a long pause ends the call, which did nothing', async (t) => {
    const { client, arrivals } = await open(t, (_request, response) =>
      response.writeHead(429, { 'retry-after': '600' }).end(),
    )
    await t.rejects(client.send(post), PartnerUnreachable)
    t.equal(arrivals.length, 1)
  })
})

t.test('503 is repeated only where a repetition does no harm', async (t) => {
  const { client, arrivals } = await open(t, (_request, response) => response.writeHead(503).end())
  t.match(await client.send(post), { status: 503 })
  t.equal(arrivals.length, 1)
  t.match(await client.send(get), { status: 503 })
  t.equal(arrivals.length, 4)
})

t.test('an answer above its limit is no answer', async (t) => {
  const { client } = await open(t, (_request, response) => response.end('x'.repeat(5_000_000)))
  await t.rejects(client.send(post), PartnerSilent)
  t.match(await client.send({ ...post, answerBytesMax: 6_000_000 }), { status: 200, json: undefined })
})

t.test('no secret is recorded, nor the bodies of a request for a token', async (t) => {
  const { client, calls } = await open(t, (request, response, body) =>
    response.writeHead(400).end(`${JSON.stringify(request.headers)} ${body}`),
  )
  await client.send({ ...post, path: `/things?key=${SECRET}`, body: { note: SECRET, name: 'Ada' } })
  await client.send({ ...post, confidential: true })
  t.notOk(JSON.stringify(calls).includes(SECRET))
  t.match(calls, [
    { request: /\[redacted\].*Ada/, answer: /Ada/, target: /\[redacted\]/ },
    { request: null, answer: null },
  ])
})

t.test('calls keep to the rate', async (t) => {
  const begun: number[] = []
  const sign = () => {
    begun.push(performance.now())
    return {}
  }
  const { client } = await open(t, (_request, response) => response.end('{}'), { sign }, 10)
  // Before the first call, which a busy machine may let begin late, after the others have been given their turns.
  const from = performance.now()
  await Promise.all(Array.from({ length: 11 }, () => client.send(get)))
  t.equal(begun.length, 11)
  // A burst of a quarter of a second may come first; by the rate the last call begins 750 ms after the first.
  t.ok((begun.at(-1) as number) - from >= 400)
})

t.test('addresses that may not be called', async (t) => {
  const at = (baseUrl: string, targets: ProviderTargets) => () =>
    new PartnerHttpClient(
      {
        connectionId: 'connection',
        targets,
        concurrent: 1,
        limiter: new CallLimiter({ perSecond: 1, concurrent: 1, share: () => 1 }),
        redact: redactor([]),
        clock: systemClock,
        record: () => undefined,
        report: () => undefined,
      },
      { baseUrl, timeoutMs: 1_000 },
    )
  const inside = ['http://localhost:1', 'https://10.0.0.7']
  for (const url of [
    'http://bank.example',
    'ftp://bank.example',
    'nonsense',
    'https://a:b@bank.example',
    'https://169.254.169.254',
    'https://[fe80::1]',
    'https://bank.example?a=b',
    ...inside,
  ])
    t.throws(at(url, PUBLIC), /^The address of a provider/, url)
  t.doesNotThrow(at('https://bank.example/v1', PUBLIC))
  for (const url of ['https://bank.example/v1', ...inside]) t.doesNotThrow(at(url, ANYWHERE), url)
  for (const url of ['https://10.0.0.7', 'https://bank.corp', 'https://bank']) t.doesNotThrow(at(url, OWN_LINE), url)
  for (const url of ['https://10.0.1.7', 'http://10.0.0.7', 'http://bank.corp']) t.throws(at(url, OWN_LINE), url)
})

t.test('a name that leads inside is not called', async (t) => {
  const found = (targets: ProviderTargets, ...addresses: string[]) =>
    new Promise<string>((done) => {
      const resolve = ((_host: string, _options: object, answer: (error: null, found: object[]) => void) =>
        answer(
          null,
          addresses.map((address) => ({ address, family: 4 })),
        )) as unknown as typeof lookup
      lookupWithin(targets, resolve)('bank.example', {}, (error, address) => done(error?.message ?? String(address)))
    })
  t.equal(await found(PUBLIC, '9.9.9.9'), '9.9.9.9')
  for (const address of ['127.0.0.1', '10.0.0.7', '169.254.169.254', '192.168.1.1'])
    t.equal(await found(PUBLIC, '9.9.9.9', address), 'not a public address', address)
  t.equal(await found(ANYWHERE, '10.0.0.7'), '10.0.0.7')
  t.equal(await found(OWN_LINE, '10.0.0.7'), '10.0.0.7')
  t.equal(await found(OWN_LINE, '10.0.0.7', '10.0.1.7'), 'not a public address')
  t.equal(await found(PUBLIC), 'no address')
})

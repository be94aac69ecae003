/** Webhooks of KYC providers over HTTP: who is believed, and what is kept. */
import { createConnection } from 'node:net'
import t from 'tap'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import {
  bySandbox,
  bySumsub,
  change,
  deliver,
  eventsOf,
  SANDBOX_SECRET,
  sandboxConnection,
  sumsubConnection,
} from './support.ts'

const DAY_MS = 86_400_000
const UNKNOWN = '00000000-0000-7000-8000-000000000000'

/** An event of Sumsub about an applicant that nobody knows. */
const event = (more: object = {}) =>
  JSON.stringify({
    applicantId: '5cb56e8e0a975a35f333cb83',
    correlationId: 'req-a',
    externalUserId: UNKNOWN,
    type: 'applicantPending',
    createdAtMs: '2020-02-21 13:23:19.321',
    ...more,
  })

t.test('a right signature is answered 202, whatever is in the body; any other 401', async (t) => {
  await using world = await createWorld()
  const staff = await world.person('operator_admin').signIn()
  const sumsub = await sumsubConnection(staff)
  const sandbox = await sandboxConnection(staff)
  const manual = (await staff.post<{ id: string }>('/kyc-connections', { provider: 'manual', name: 'Staff' })).body.id
  const bare = (await staff.post<{ id: string }>('/kyc-connections', { provider: 'sumsub', name: 'Bare' })).body.id
  const body = event()
  const at = world.now()
  for (const [id, headers, sent] of [
    [sumsub, {}, body],
    [sumsub, bySumsub(body, { secret: 'another secret' }), body],
    [sumsub, bySumsub(body), `${body} `],
    [sumsub, { ...bySumsub(body), 'x-payload-digest-alg': 'HMAC_SHA512_HEX' }, body],
    [sumsub, { ...bySumsub(body), 'x-payload-digest-alg': 'NONE' }, body],
    [sumsub, bySandbox(body, { at }), body],
    [sandbox, bySumsub(body), body],
    [sandbox, bySandbox(body, { at, secret: `whsec_${Buffer.alloc(32, 8).toString('base64')}` }), body],
    [sandbox, bySandbox(body, { at: at - 301_000 }), body],
    [sandbox, bySandbox(body, { at: at - 7 * DAY_MS }), body],
    // Further ahead than by the five minutes, because time passes during the requests before.
    [sandbox, bySandbox(body, { at: at + 900_000 }), body],
    [manual, bySumsub(body), body],
    [manual, bySandbox(body, { at }), body],
    [bare, bySumsub(body, { secret: '' }), body],
    [UNKNOWN, bySumsub(body), body],
  ] as const) {
    const refused = await deliver(world, id, sent, headers)
    const problem = (await refused.json()) as object
    t.match([refused.status, problem], [401, { code: 'unauthenticated', status: 401 }], JSON.stringify(headers))
    t.equal(refused.headers.get('content-type'), 'application/problem+json')
    t.match(problem, { detail: 'The signature of the webhook is missing, wrong or too old.' }, 'all alike')
  }
  t.strictSame(await world.query('select from kyc_event'), [], 'nothing was kept')

  for (const hash of ['sha1', 'sha256', 'sha512']) {
    const taken = await deliver(world, sumsub, body, bySumsub(body, { hash }))
    t.equal(taken.status, 202, hash)
    t.equal(await taken.text(), '')
  }
  const raw = Buffer.from([0xff, 0x00, 0x7b])
  for (const sent of ['', 'no JSON', '[]', '{"type":7}', raw])
    t.equal((await deliver(world, sumsub, sent, bySumsub(sent))).status, 202)
  const odd = { ...bySumsub(body), 'content-type': 'text/plain' }
  t.equal((await deliver(world, sumsub, body, odd)).status, 202, 'the type of the content does not matter')
  t.equal((await deliver(world, sandbox, '{}', bySandbox('{}', { at }))).status, 202)
  const kept = await eventsOf(world, sumsub)
  t.strictSame(
    kept.map(({ status, reason }) => [status, reason]),
    [['ignored', 'unknown_applicant'], ...Array.from({ length: 5 }, () => ['ignored', 'unreadable'])],
    'each body once, as it came',
  )
  const bodies = await world.query<{ body: Buffer }>(
    'select body from kyc_event where connection_id = $1 order by id',
    [sumsub],
  )
  t.strictSame(
    bodies.map(({ body: stored }) => stored),
    [body, '', 'no JSON', '[]', '{"type":7}', raw].map((each) => Buffer.from(each as string)),
  )
})

t.test('an event counts once: again, in another order of its members, from many at a time', async (t) => {
  await using world = await createWorld()
  const staff = await world.person('operator_admin').signIn()
  const id = await sumsubConnection(staff)
  const other = await sumsubConnection(staff)
  const body = event()
  const again = JSON.stringify(JSON.parse(body), null, 2)
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, nth) => (nth % 2 === 0 ? body : again)).map((sent) =>
      deliver(world, id, sent, bySumsub(sent)),
    ),
  )
  t.ok(replies.every(({ status }) => status === 202))
  t.equal((await eventsOf(world, id)).length, 1)
  world.advance(7 * DAY_MS)
  t.equal((await deliver(world, id, body, bySumsub(body))).status, 202, 'a week later')
  t.equal((await eventsOf(world, id)).length, 1)
  t.equal((await deliver(world, other, body, bySumsub(body))).status, 202)
  t.equal((await eventsOf(world, other)).length, 1, 'each connection has its own events')
  const tags = event({ type: 'applicantTagsChanged' })
  await deliver(world, id, tags, bySumsub(tags))
  t.match((await eventsOf(world, id))[1], { type: 'applicantTagsChanged', status: 'ignored', reason: 'unknown_type' })
})

t.test('events are removed after 400 days', async (t) => {
  await using world = await createWorld({ stillClock: true })
  const staff = await world.person('operator_admin').signIn()
  const id = await sumsubConnection(staff)
  const old = event()
  await deliver(world, id, old, bySumsub(old))
  await eventsOf(world, id)
  await world.query(`update kyc_event set received_at = received_at - interval '400 days' - interval '1 second'`)
  const young = event({ type: 'applicantOnHold' })
  await deliver(world, id, young, bySumsub(young))
  world.advance(DAY_MS)
  await world.pollOnce()
  const left = async () => (await world.query<{ type: string }>('select type from kyc_event')).map(({ type }) => type)
  await until('the old one is removed', async () => {
    await world.pollOnce()
    return (await left()).length === 1
  })
  t.strictSame(await left(), ['applicantOnHold'])
})

t.test('a body that is too large or packed is refused, and nothing is kept', async (t) => {
  await using world = await createWorld()
  const staff = await world.person('operator_admin').signIn()
  const id = await sumsubConnection(staff)
  const most = event({ pad: 'x'.repeat(64 * 1024 - event({ pad: '' }).length) })
  t.equal(most.length, 64 * 1024)
  t.equal((await deliver(world, id, most, bySumsub(most))).status, 202)
  const more = `${most} `
  const refused = await deliver(world, id, more, bySumsub(more))
  t.equal(refused.status, 413)
  t.match(await refused.json(), { code: 'payload-too-large', maxBytes: 65_536 })
  const packed = await deliver(world, id, most, { ...bySumsub(most), 'content-encoding': 'gzip' })
  t.match([packed.status, await packed.json()], [415, { code: 'unsupported-media-type' }])

  const { hostname, port } = new URL(world.url)
  const send = (lines: readonly string[]) =>
    new Promise<string>((resolve, reject) => {
      const socket = createConnection({ host: hostname, port: Number(port) })
      let text = ''
      socket.on('data', (chunk) => (text += chunk.toString())).on('end', () => resolve(text))
      // Whoever refuses a body before its end may reset the connection after the answer.
      socket.on('error', (error) => (text === '' ? reject(error) : resolve(text))).write(lines.join('\r\n'))
    })
  const chunk = 'x'.repeat(32 * 1024)
  const head = [`POST /v1/kyc-webhooks/${id} HTTP/1.1`, 'host: a', 'connection: close', 'transfer-encoding: chunked']
  const chunks = Array.from({ length: 3 }, () => [chunk.length.toString(16), chunk]).flat()
  t.match(await send([...head, '', ...chunks, '0', '', '']), /^HTTP\/1\.1 413 /, 'without an announced length')
  t.equal((await eventsOf(world, id)).length, 1)
  t.equal((await fetch(`${world.url}/v1/kyc-webhooks/${id}`)).status, 405)
  t.equal((await deliver(world, 'no-id', most, bySumsub(most))).status, 400)
})

t.test('a replaced secret is believed from then on, and the old one no longer', async (t) => {
  await using world = await createWorld()
  const staff = await world.person('operator_admin').signIn()
  const id = await sandboxConnection(staff)
  const secret = `whsec_${Buffer.alloc(24, 9).toString('base64')}`
  const send = async (with_: string) =>
    (await deliver(world, id, '{}', bySandbox('{}', { at: world.now(), secret: with_ }))).status
  t.strictSame([await send(SANDBOX_SECRET), await send(secret)], [202, 401])
  t.equal((await change(staff, id, { webhookSecret: secret })).status, 200)
  t.strictSame([await send(SANDBOX_SECRET), await send(secret)], [401, 202])
})

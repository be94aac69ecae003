import Type from 'typebox'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Test } from 'tap'
import t from 'tap'

import { createAdmission } from '../../../http/access/admission.ts'
import { json } from '../../../http/route/answer.ts'
import { Arrivals, type ArrivalPatience } from '../../../http/access/arrivals.ts'
import { route } from '../../../http/route/route.ts'
import type { ReadUpload } from '../../../actors/documents/uploads.ts'
import { gather, halfSent, halfUploaded } from '../../support/slow-crowd.ts'
import { until } from '../../support/until.ts'
import { fakeWorld, OPERATOR, PAYMENT_BODY, startFake } from '../server/fake-world.ts'

const OTHER_CUSTOMER = '01980d6e-0000-7000-8000-00000000c002'

/** How the made-up upload ended, and what arrived of it. */
interface UploadSeen {
  bytes: number
  failure: unknown
}

async function started(t: Test, patience: ArrivalPatience = {}) {
  const world = fakeWorld()
  const seen: UploadSeen = { bytes: 0, failure: null }
  const upload = route({
    method: 'post',
    path: '/made-up-files',
    operationId: 'madeUpFiles',
    tag: 'activity',
    summary: 'Made up',
    callers: 'key',
    scope: null,
    tenant: 'customer',
    idempotency: 'none',
    form: { type: 'object' } as never,
    success: { status: 200, description: 'Made up.', schema: Type.Object({ sizeBytes: Type.Integer() }) },
    problems: [],
    handle: async ({ upload: read }) => {
      let sizeBytes = 0
      const { file } = await (read as ReadUpload)(
        { maxBytes: 1_000_000, types: 'any', fields: [] },
        async ({ bytes, fileName }) => {
          try {
            for await (const piece of bytes) {
              seen.bytes += piece.byteLength
              sizeBytes += piece.byteLength
            }
          } catch (error) {
            seen.failure = error
            throw error
          }
          return {
            id: OPERATOR,
            tenantId: OPERATOR,
            fileName,
            contentType: 'text/csv',
            sizeBytes,
            sha256: '',
            expiresAt: null,
            createdAt: 0,
          }
        },
      )
      return json(200, { sizeBytes: file.sizeBytes })
    },
  })
  const arrivals = new Arrivals(patience)
  const admission = createAdmission({ refusal: () => ({ body: '{}', requestId: 'r' }), refuseWhenLate: false })
  const service = await startFake(world, { app: { arrivals, admission }, routes: [upload] })
  t.teardown(async () => {
    admission.close()
    await service.stop()
  })
  const own = { Authorization: `Bearer ${service.key}`, 'X-Tenant-Id': service.headers['x-tenant-id'] }
  return { ...service, world, arrivals, admission, seen, own }
}

/** Sends text and collects what comes back until the other side closes. */
function raw(port: number, text: string): { readonly socket: Socket; readonly answer: Promise<string> } {
  const socket = connect(port, '127.0.0.1', () => socket.write(text))
  socket.setEncoding('utf8')
  let answer = ''
  socket.on('data', (chunk: string) => {
    answer += chunk
  })
  socket.on('error', () => undefined)
  return { socket, answer: once(socket, 'close').then(() => answer) }
}

const QUICK = { graceMs: 300, lookMs: 20 }

t.test(
  'bodies that are still arriving are no commands under way, and take nothing of other tenants and keys',
  async (t) => {
    const service = await started(t)
    const { world, arrivals, admission, own, origin } = service
    const crowd = await gather(
      origin,
      Array.from({ length: 600 }, () => ({ text: halfSent('/v1/payments', own) })),
    )
    t.teardown(() => crowd.stop())
    await until('as many arrive as may', () => arrivals.counters.bodies === 512)
    t.equal(admission.counters.underWay, 0)
    await until('the others have heard so', () => crowd.statuses.get('503') === 600 - 512)

    // In two parts, so that the body has to be waited for.
    const inTwoParts = async (key: string, tenant: string): Promise<string> => {
      const body = JSON.stringify(PAYMENT_BODY)
      const { socket, answer } = raw(
        service.port,
        halfSent(
          '/v1/payments',
          { Authorization: `Bearer ${key}`, 'X-Tenant-Id': tenant, Connection: 'close' },
          { length: body.length, body: '' },
        ),
      )
      await until('the head has arrived', () => socket.bytesWritten > 0)
      await new Promise((resolve) => setTimeout(resolve, 50))
      socket.write(body)
      return (await answer).slice(0, 'HTTP/1.1 201'.length)
    }
    t.equal(
      await inTwoParts(world.addKey({ tenantId: OTHER_CUSTOMER }), OTHER_CUSTOMER),
      'HTTP/1.1 201',
      'another tenant',
    )
    t.equal(await inTwoParts(world.addKey(), own['X-Tenant-Id']), 'HTTP/1.1 201', 'another key of the same tenant')
    t.equal(await inTwoParts(service.key, own['X-Tenant-Id']), 'HTTP/1.1 503', 'the key itself is over its share')
    const body = JSON.stringify(PAYMENT_BODY)
    const whole = raw(
      service.port,
      halfSent('/v1/payments', { ...own, Connection: 'close' }, { length: body.length, body }),
    )
    t.match(await whole.answer, /^HTTP\/1\.1 201 /, 'but what arrives whole waits for nothing')
  },
)

t.test(
  'a body that arrives too slowly is answered with 408, its connection is closed, and nothing was decided',
  async (t) => {
    const { world, arrivals, own, port } = await started(t, QUICK)
    const { answer } = raw(port, halfSent('/v1/payments', { ...own, 'Idempotency-Key': 'slow' }))
    await until('it is arriving', () => arrivals.counters.bodies === 1)
    const text = await answer
    t.match(text, /^HTTP\/1\.1 408 /)
    t.match(text, /\r\nConnection: close\r\n/)
    t.match(JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)), {
      code: 'request-timeout',
      status: 408,
      retryable: true,
    })
    t.equal(arrivals.counters.bodies, 0)
    t.equal(world.createdPayments.length, 0)
    t.strictSame(
      world.logged.filter(({ level }) => level === 'error'),
      [],
    )
  },
)

t.test('a byte now and then does not keep a body alive', async (t) => {
  const { own, port } = await started(t, QUICK)
  const { socket, answer } = raw(port, halfSent('/v1/payments', own))
  const drip = setInterval(() => {
    if (socket.writable) socket.write(' ')
  }, 50)
  t.teardown(() => clearInterval(drip))
  t.match(await answer, /^HTTP\/1\.1 408 /)
})

t.test('a body on a slow link that keeps to the least rate arrives', async (t) => {
  const { own, port } = await started(t, { ...QUICK, graceMs: 200 })
  const body = JSON.stringify(PAYMENT_BODY).padEnd(24_000, ' ')
  const { socket, answer } = raw(
    port,
    halfSent('/v1/payments', { ...own, Connection: 'close' }, { length: body.length, body: '' }),
  )
  let sent = 0
  const link = setInterval(() => {
    socket.write(body.slice(sent, sent + 1_000))
    sent += 1_000
    if (sent >= body.length) clearInterval(link)
  }, 30)
  t.teardown(() => clearInterval(link))
  t.match(await answer, /^HTTP\/1\.1 201 /)
})

t.test('a file that arrives too slowly is given up, and whoever takes it hears so', async (t) => {
  const { arrivals, admission, own, port, seen, world } = await started(t, QUICK)
  const { answer } = raw(port, halfUploaded('/v1/made-up-files', own))
  await until('it is arriving', () => arrivals.counters.uploads === 1 && seen.bytes > 0)
  t.equal(admission.counters.underWay, 0)
  t.match(await answer, /^HTTP\/1\.1 408 /)
  t.match(seen.failure, { problem: { slug: 'request-timeout' } })
  t.equal(arrivals.counters.uploads, 0)
  t.strictSame(
    world.logged.filter(({ level }) => level === 'error'),
    [],
  )
})

t.test('files of one tenant that arrive for long keep no other tenant from sending one', async (t) => {
  const { world, arrivals, own, origin } = await started(t)
  const crowd = await gather(
    origin,
    Array.from({ length: 80 }, () => ({ text: halfUploaded('/v1/made-up-files', own) })),
  )
  t.teardown(() => crowd.stop())
  await until('as many arrive as may', () => arrivals.counters.uploads === 64)
  const form = new FormData()
  form.append('file', new Blob(['a,b']), 'rows.csv')
  const answer = await fetch(`${origin}/v1/made-up-files`, {
    method: 'POST',
    body: form,
    headers: { Authorization: `Bearer ${world.addKey({ tenantId: OTHER_CUSTOMER })}`, 'X-Tenant-Id': OTHER_CUSTOMER },
  })
  t.equal(answer.status, 200)
  t.strictSame(await answer.json(), { sizeBytes: 3 })
})

t.test('a request that was refused unread is given a moment for the rest of its body, and then closed', async (t) => {
  const { port } = await started(t, { lingerMs: 200, lookMs: 20 })
  const { answer } = raw(port, halfSent('/v1/payments', {}))
  t.match(await answer, /^HTTP\/1\.1 401 /)
})

t.test('the time in which this node does not read is not held against a client', async (t) => {
  const { own, port, arrivals } = await started(t, QUICK)
  const body = JSON.stringify(PAYMENT_BODY)
  const { socket, answer } = raw(
    port,
    halfSent('/v1/payments', { ...own, Connection: 'close' }, { length: body.length, body: '' }),
  )
  await until('it is arriving', () => arrivals.counters.bodies === 1)
  const end = performance.now() + 1_000
  while (performance.now() < end) {
    /* A long turn of the event loop. */
  }
  socket.write(body)
  t.match(await answer, /^HTTP\/1\.1 201 /)
})

import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import t from 'tap'

import { createAdmission, type Admission } from '../../../http/access/admission.ts'
import type { Party } from '../../../lib/security/fair-share.ts'
import { until } from '../../support/until.ts'

const A: Party = { group: 'tenant a', member: 'key a' }
const B: Party = { group: 'tenant b', member: 'key b' }
const TOO_MANY = { problem: { slug: 'service-unavailable', retryAfterSeconds: 1 } } as unknown as Error

/** An admission on a node that is as busy as the test says. */
function admissionOf(t: Test, load: { busy: boolean } = { busy: false }): Admission {
  const admission = createAdmission({
    refusal: (path) => ({ body: JSON.stringify({ instance: path }), requestId: 'r-1' }),
    utilization: () => (load.busy ? 1 : 0.1),
  })
  t.teardown(() => admission.close())
  return admission
}

async function openDoor(
  t: Test,
  admission: Admission,
  next: RequestListener,
  partyOf: (request: IncomingMessage) => Party | null = () => null,
) {
  const server = createServer(admission.guard(next, partyOf))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    send: (path: string, method = 'POST', key = '') =>
      fetch(url + path, { method, headers: { 'x-key': key }, ...(method === 'GET' ? {} : { body: '{}' }) }),
  }
}

const fill = (admission: Admission, party: Party, count: number): void => {
  for (let nth = 0; nth < count; nth++) admission.enter(party)
}

t.test('a full node refuses whoever holds the most, and takes the commands of others', async (t) => {
  const admission = admissionOf(t)
  fill(admission, A, 256)
  t.equal(admission.counters.underWay, 256)
  t.throws(() => admission.enter(A), TOO_MANY)
  admission.enter({ ...A, member: 'another key' })
  t.throws(() => admission.check(A), TOO_MANY)
  fill(admission, B, 100)
  for (let nth = 0; nth < 256; nth++) admission.leave(A)
  t.equal(admission.counters.underWay, 101, 'the second key of the tenant and the other tenant')
})

t.test('what is refused before it is read is told when to come back; reads and other callers pass', async (t) => {
  const admission = admissionOf(t)
  const { send } = await openDoor(
    t,
    admission,
    (_request, response) => {
      response.end()
    },
    ({ headers }) => (headers['x-key'] === 'a' ? A : headers['x-key'] === 'b' ? B : null),
  )
  fill(admission, A, 256)
  const refused = await send('/v1/payments', 'POST', 'a')
  t.equal(refused.status, 503)
  t.equal(refused.headers.get('retry-after'), '1')
  t.equal(refused.headers.get('content-type'), 'application/problem+json')
  t.equal(refused.headers.get('x-request-id'), 'r-1')
  t.strictSame(await refused.json(), { instance: '/v1/payments' })
  t.equal((await send('/v1/balances', 'GET', 'a')).status, 200)
  t.equal((await send('/v1/payments', 'POST', 'b')).status, 200)
  t.equal((await send('/v1/payments', 'POST', '?')).status, 200, 'whoever is not known yet is judged later')
  t.equal(admission.counters.refused, 1)
  t.equal(admission.counters.underWay, 256, 'what has only begun is not under way')
  admission.leave(A)
  t.equal((await send('/v1/payments', 'POST', 'a')).status, 200)
})

t.test('a node that is full and idle is no overload: refusals, however many, change nothing', async (t) => {
  const admission = admissionOf(t)
  fill(admission, A, 256)
  for (let nth = 0; nth < 1_000; nth++) t.throws(() => admission.enter(A), TOO_MANY)
  t.notOk(admission.counters.overloaded)
  admission.leave(A)
  admission.enter(A)
  t.equal(admission.counters.underWay, 256)
})

/** Refuses a command of A until the node finds itself overloaded. */
const overload = (admission: Admission) =>
  until('the node is overloaded', () => {
    try {
      admission.enter(A)
    } catch {
      /* That is what it takes. */
    }
    return admission.counters.overloaded
  })

t.test('a node that is full and busy takes fewer commands, of which everybody has a share', async (t) => {
  const load = { busy: true }
  const admission = admissionOf(t, load)
  fill(admission, A, 256)
  await overload(admission)
  for (let nth = 0; nth < 240; nth++) admission.leave(A)
  t.equal(admission.counters.underWay, 16)
  t.throws(() => admission.enter(A), TOO_MANY)
  fill(admission, B, 8)
  t.throws(() => admission.enter(B), TOO_MANY, 'half of sixteen')
})

t.test('an overload ends when the node is idle again, although somebody is refused all the time', async (t) => {
  const load = { busy: true }
  const admission = admissionOf(t, load)
  fill(admission, A, 256)
  await overload(admission)
  load.busy = false
  await until(
    'the overload is over',
    () => {
      t.throws(() => admission.check(A), TOO_MANY)
      return !admission.counters.overloaded
    },
    { deadlineMs: 10_000 },
  )
  for (let nth = 0; nth < 100; nth++) admission.leave(A)
  fill(admission, A, 100)
  t.equal(admission.counters.underWay, 256, 'as many as before are let in')
})

t.test('an overload ends when nobody was refused for a while, however busy the node is', async (t) => {
  const admission = admissionOf(t, { busy: true })
  fill(admission, A, 256)
  await overload(admission)
  await until('the overload is over', () => !admission.counters.overloaded, { deadlineMs: 10_000 })
  t.equal(admission.counters.underWay, 256)
})

t.test(
  'while the event loop is late everything new is refused, but for health checks and a share for those who are known',
  async (t) => {
    const admission = admissionOf(t)
    const { send } = await openDoor(
      t,
      admission,
      (_request, response) => {
        response.end()
      },
      ({ headers }) => (headers['x-key'] === 'a' ? A : headers['x-key'] === 'b' ? B : null),
    )
    fill(admission, A, 16)
    t.equal((await send('/v1/balances', 'GET')).status, 200)
    let busy = true
    t.teardown(() => {
      busy = false
    })
    const block = () => {
      const end = performance.now() + 400
      while (performance.now() < end) {
        /* This is what a late loop is. */
      }
      if (busy) setTimeout(block, 1)
    }
    block()
    const response = await until('somebody is refused', async () => {
      const answer = await send('/v1/balances', 'GET')
      return answer.status === 503 && answer
    })
    t.equal(response.headers.get('retry-after'), '1')
    t.equal((await send('/ready', 'GET')).status, 200)
    t.equal((await send('/v1/payments', 'POST')).status, 503, 'whoever is not known')
    t.equal((await send('/v1/payments', 'POST', 'a')).status, 503, 'whoever has more than a share')
    t.equal((await send('/v1/payments', 'POST', 'b')).status, 200)
    busy = false
    await until('it is let in again', async () => (await send('/v1/balances', 'GET')).status === 200)
  },
)

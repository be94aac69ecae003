import { createServer, type RequestListener } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import t from 'tap'

import { createAdmission } from '../../http/admission.ts'
import { until } from '../support/until.ts'

async function openDoor(t: Test, next: RequestListener) {
  const admission = createAdmission(next, { refusal: (path) => ({ body: JSON.stringify({ instance: path }), requestId: 'r-1' }) })
  const server = createServer(admission.listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { admission.close(); server.closeAllConnections(); server.close() })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { admission, url, send: (path: string, method = 'POST') => fetch(url + path, { method, ...(method === 'GET' ? {} : { body: '{}' }) }) }
}

t.test('when so many commands are under way the next hears at once that it must wait; reads still pass', async t => {
  const held: (() => void)[] = []
  const { admission, send } = await openDoor(t, (request, response) => {
    if (request.method === 'GET') response.end()
    else held.push(() => response.end('done'))
  })
  await send('/v1/balances', 'GET')
  const accepted = Array.from({ length: 256 }, () => send('/v1/payments'))
  await until('all are under way', () => held.length === 256, { pollMs: 1 })
  t.equal(admission.counters.underWay, 256)
  const refused = await send('/v1/payments')
  t.equal(refused.status, 503)
  t.equal(refused.headers.get('retry-after'), '1')
  t.equal(refused.headers.get('content-type'), 'application/problem+json')
  t.equal(refused.headers.get('x-request-id'), 'r-1')
  t.strictSame(await refused.json(), { instance: '/v1/payments' })
  t.equal((await send('/v1/balances', 'GET')).status, 200)
  // Once somebody was turned away, fewer are let in.
  for (const done of held.splice(0, 256 - 16)) done()
  await until('16 are under way', () => admission.counters.underWay === 16)
  t.equal((await send('/v1/payments')).status, 503)
  held.pop()!()
  await until('15 are under way', () => admission.counters.underWay === 15)
  accepted.push(send('/v1/payments'))
  await until('one more is let in', () => admission.counters.underWay === 16)
  for (const done of held.splice(0)) done()
  t.ok((await Promise.all(accepted)).every(({ status }) => status === 200), 'what was accepted is answered')
  await until('none is under way', () => admission.counters.underWay === 0)
  const next = send('/v1/payments')
  await until('there is room again', () => held.length === 1)
  held[0]!()
  t.equal((await next).status, 200)
  t.equal(admission.counters.refused, 2)
})

t.test('when nobody was refused for a while, as many as before are let in', async t => {
  const held: (() => void)[] = []
  const { admission, send } = await openDoor(t, (_request, response) => { held.push(() => response.end()) })
  const accepted = Array.from({ length: 256 }, () => send('/v1/payments'))
  await until('all are under way', () => held.length === 256, { pollMs: 1 })
  t.equal((await send('/v1/payments')).status, 503)
  for (const done of held.splice(0, 156)) done()
  await until('100 are under way', () => admission.counters.underWay === 100)
  // Whoever asks too soon keeps the door half shut, so nobody does.
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  accepted.push(send('/v1/payments'))
  await until('one more is let in', () => admission.counters.underWay === 101)
  for (const done of held.splice(0)) done()
  t.ok((await Promise.all(accepted)).every(({ status }) => status === 200))
})

t.test('a client that leaves gives its place back', async t => {
  const { admission, url } = await openDoor(t, () => undefined)
  const leaving = new AbortController()
  const call = fetch(`${url}/v1/payments`, { method: 'POST', body: '{}', signal: leaving.signal })
  await until('it is under way', () => admission.counters.underWay === 1)
  leaving.abort()
  await t.rejects(call)
  await until('its place is free', () => admission.counters.underWay === 0)
  t.pass()
})

t.test('while the event loop is late everything new is refused, but for health checks', async t => {
  const { send } = await openDoor(t, (_request, response) => { response.end() })
  t.equal((await send('/v1/balances', 'GET')).status, 200)
  let busy = true
  t.teardown(() => { busy = false })
  const block = () => {
    const end = performance.now() + 400
    while (performance.now() < end) { /* This is what a late loop is. */ }
    if (busy) setTimeout(block, 1)
  }
  block()
  const response = await until('somebody is refused', async () => {
    const answer = await send('/v1/balances', 'GET')
    return answer.status === 503 && answer
  })
  t.equal(response.headers.get('retry-after'), '1')
  t.equal((await send('/ready', 'GET')).status, 200)
  busy = false
  await until('it is let in again', async () => (await send('/v1/balances', 'GET')).status === 200)
})

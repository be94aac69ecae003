import t from 'tap'

import type { SimulationCatalogue } from '../../../../lib/contract/simulation.ts'
import { sentPayment } from '../../../support/outcomes.ts'
import { createWorld } from '../../../support/world.ts'
import { fakeWorld, startFake } from '../../server/fake-world.ts'

const STUCK = 1701

t.test('the catalogue lists what there is, from the tables that are applied', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const { status, body, text } = await client.get<SimulationCatalogue>('/simulations')
  t.equal(status, 200, text)
  t.match(body, { environment: String, connection: { id: String, provider: 'sandbox', environment: 'sandbox' } })
  t.equal(body.data.length, 15, 'every kind')
  const available = (kind: string) => body.data.find((entry) => entry.kind === kind)
  for (const kind of ['payment_status', 'payment_return', 'payment_recall', 'card_transaction', 'webhook_event'])
    t.match(available(kind), { method: 'POST', available: true, path: /^\/v1\/simulations\// }, kind)
  for (const [topic, rule] of [
    ['payments', /^amountMinor 1401 or SBX:RET-AC04: /],
    ['payments', /1802 with a recall/],
    ['transfers', /1301/],
    ['recipients', /Closematch/],
    ['incoming payments', /SBX:UNALLOCATED/],
    ['direct debits', /^Insists: /],
  ] as const) {
    t.ok(
      body.rules.some((each) => each.topic === topic && rule.test(each.rule)),
      String(rule),
    )
  }
})

t.test('simulations are for test keys of the customer and for people of a workspace', async (t) => {
  await using world = await createWorld()
  const { id } = await sentPayment(world, STUCK)
  const other = await world.customer({ balances: [] })
  t.equal((await other.client.get('/simulations')).status, 200)
  t.match((await world.operator.get('/simulations')).problem, { status: 403 })
  t.match((await world.operator.post(`/simulations/payments/${id}/status`, { status: 'completed' })).problem, {
    status: 403,
  })
  const staff = await world.person('operations').signIn()
  t.equal((await staff.send('POST', `/simulations/payments/${id}/status`, { status: 'completed' })).status, 403)
  t.equal((await world.seeded.client.payment(id)).status, 'processing')
  const owner = await world.person('owner').signIn()
  t.equal((await owner.send('POST', `/simulations/payments/${id}/status`, { status: 'completed' })).status, 202)
  await world.seeded.client.paymentReaching(id, 'completed')
})

t.test('where there is no sandbox there are no simulations', async (t) => {
  const world = fakeWorld({ sandbox: false })
  const service = await startFake(world)
  t.teardown(service.stop)
  const headers = { authorization: `Bearer ${world.addKey({ environment: 'live' })}` }
  for (const path of ['simulations/payments', 'sandbox/payments']) {
    const response = await service.post(`/v1/${path}/${crypto.randomUUID()}/status`, { status: 'completed' }, headers)
    t.equal(response.status, 404, path)
    t.match(await response.json(), { code: 'feature-disabled', feature: 'sandbox' })
  }
})

t.test('a live key simulates nothing', async (t) => {
  const world = fakeWorld({ sandbox: true })
  const service = await startFake(world)
  t.teardown(service.stop)
  const headers = { authorization: `Bearer ${world.addKey({ environment: 'live' })}` }
  for (const what of ['status', 'return', 'recall']) {
    const response = await service.post(
      `/v1/simulations/payments/${crypto.randomUUID()}/${what}`,
      { status: 'completed' },
      headers,
    )
    t.equal(response.status, 403, what)
    t.match(await response.json(), { code: 'insufficient-scope' })
  }
})

/**
 * The deadline of funds requests, to the millisecond: money that is credited before it counts, later money is a plain
 * arrival, and nothing else happens to the request from then on.
 */
import t from 'tap'
import type { Test } from 'tap'
import { timestamp } from '../../../lib/base/clock.ts'
import type { FundsRequest, PublicFundsRequest } from '../../../lib/funds-requests/funds-request-schema.ts'
import type { IncomingPayment } from '../../../lib/incoming-payments/incoming-payment-schema.ts'
import { createWorld } from '../../support/world.ts'
import { apiOf, arrive, ask, eur, read, settled, statusEvents } from './support.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

await using world = await createWorld({ stillClock: true, nodes: 2, dispatch: false })
const { client } = world.seeded

/** A request of one euro that expires in so many hours. */
const asked = (hours: number): Promise<FundsRequest> =>
  ask(world, 100, {
    expiresAt: timestamp(world.now() + hours * HOUR_MS),
    payer: { name: 'Amsterdam Trading BV', email: 'payer@example.com' },
  })
const trail = async ({ id }: FundsRequest): Promise<string[]> =>
  (
    await world.query<{ action: string; actor_type: string }>(
      'select action, actor_type from audit_event where object_id = $1 order by id',
      [id],
    )
  ).map(({ action, actor_type }) => `${action} ${actor_type}`)
const cancel = (id: string) => client.post<FundsRequest>(`/funds-requests/${id}/cancel`, {})

/** Checks that a request without money expired once. */
async function expiredOnce(t: Test, request: FundsRequest): Promise<void> {
  t.match(await read(client, request.id), { status: 'expired', payments: [], paidAmount: eur(0) })
  t.strictSame(await statusEvents(world, request.id), [{ change: 'open expired', related: null }])
  t.strictSame(await trail(request), ['funds_request.created key', 'funds_request.expired system'])
}

await t.test('it expires at its deadline, and not a millisecond earlier', async (t) => {
  const request = await asked(24)
  const deadline = Date.parse(request.expiresAt)
  world.advanceTo(deadline - 1)
  await world.pollOnce()
  t.match(await read(client, request.id), { status: 'open' })
  world.advance(1)
  await world.pollOnce()
  await expiredOnce(t, request)
  await world.audit()
})

await t.test('money of the last millisecond counts; money of the deadline is a plain arrival', async (t) => {
  const [paid, partly, late] = [await asked(24), await asked(24), await asked(24)]
  const deadline = Date.parse(late.expiresAt)
  world.advanceTo(deadline - 1)
  await arrive(world, { amount: 100n, reference: paid.reference })
  await arrive(world, { amount: 30n, reference: partly.reference })
  await settled(world)
  world.advanceTo(deadline)
  const arrived = [
    await arrive(world, { amount: 70n, reference: partly.reference }),
    await arrive(world, { amount: 100n, reference: late.reference }),
  ]
  await settled(world)
  await world.pollOnce()
  t.match(await read(client, paid.id), { status: 'paid', paidAmount: eur(100) })
  t.match(await read(client, partly.id), { status: 'expired', paidAmount: eur(30), payments: [{ amount: eur(30) }] })
  t.match(
    (await statusEvents(world, partly.id)).map(({ change }) => change),
    ['open partially_paid', 'partially_paid expired'],
  )
  await expiredOnce(t, late)
  for (const id of arrived)
    t.match((await client.get<IncomingPayment>(`/incoming-payments/${id}`)).body, {
      status: 'received',
      fundsRequestId: null,
    })
  await world.audit()
})

await t.test('whoever asks at the deadline finds it expired, whether or not its timer has run', async (t) => {
  const [cancelled, declined, changed, reminded, allocated] = [
    await asked(12),
    await asked(12),
    await asked(12),
    await asked(12),
    await asked(12),
  ]
  const owner = await world.person('owner').signIn()
  const money = await arrive(world, { amount: 100n, reference: 'Thanks' })
  await world.pollOnce()
  world.advanceTo(Date.parse(cancelled.expiresAt) - 1)
  await owner.signIn()
  world.advance(1)
  const [replies] = await Promise.all([
    Promise.all([
      client.send(`${new URL(apiOf(declined.link!)).pathname}/decline`, { method: 'POST' }),
      client.send(`/v1/funds-requests/${changed.id}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json', 'if-match': '*' },
        body: JSON.stringify({ expiresAt: timestamp(world.now() + DAY_MS) }),
      }),
      client.post(`/funds-requests/${reminded.id}/remind`, {}),
      owner.post(`/incoming-payments/${money}/allocate`, { fundsRequestId: allocated.id }),
    ]),
    world.pollOnce(),
    world.pollOnce(),
  ])
  for (const { problem } of replies)
    t.match(problem, { status: 409, code: 'invalid-transition', currentStatus: 'expired' })
  t.match((await cancel(cancelled.id)).problem, { status: 409, code: 'not-cancellable', currentStatus: 'expired' })
  for (const request of [cancelled, declined, changed, reminded, allocated]) await expiredOnce(t, request)
  t.match((await client.send<PublicFundsRequest>(new URL(apiOf(declined.link!)).pathname)).body, {
    status: 'expired',
    depositDetails: [],
  })
  await world.audit()
})

await t.test('a clock that jumps over several deadlines ends all of them, each once', async (t) => {
  const requests = [await asked(1), await asked(30), await asked(200)]
  const open = await asked(24 * 60)
  world.advance(20 * DAY_MS)
  await Promise.all([world.pollOnce(), world.pollOnce()])
  for (const request of requests) await expiredOnce(t, request)
  t.match(await read(client, open.id), { status: 'open' })
  t.equal((await cancel(open.id)).body.status, 'cancelled')
  await world.audit()
})

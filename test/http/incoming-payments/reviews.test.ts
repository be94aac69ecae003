import t from 'tap'

import type { ComplianceHold, ComplianceHoldDetail } from '../../../lib/compliance/compliance-hold-schema.ts'
import type { PageBody } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import { createWorld, type World } from '../../support/world.ts'
import { setFourEyes } from '../compliance/staff.ts'
import { money, pay, received, rowReaching, shut, trace } from './support.ts'

async function held(world: World, amountMinor: number): Promise<string> {
  const id = await pay(world.seeded.client, {
    balanceId: world.seeded.balances.EUR,
    amount: money(amountMinor),
    payerName: 'Shady SBX:HOLD Traders',
  })
  await rowReaching(world, id, 'status', 'under_review')
  return id
}

async function holdOf(staff: Person, incomingId: string): Promise<ComplianceHold> {
  const { data } = (
    await staff.get<PageBody<ComplianceHold>>('/compliance-holds?limit=100&filter[status]=open,released,blocked')
  ).body
  return data.find(({ related }) => related.id === incomingId)!
}

t.test("money under review is nobody's to see until it is let through", async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const id = await held(world, 5_000)
  t.strictSame(
    await trace(world, id),
    { rules: ['L05'], events: ['compliance_hold.created'] },
    'no event for the customer',
  )
  t.equal((await client.get(`/incoming-payments/${id}`)).problem.code, 'not-found')
  t.notOk(
    (await client.list<{ id: string }>('/incoming-payments', { limit: 100 })).body.data.some((each) => each.id === id),
  )
  t.equal((await client.balance(balances.EUR)).bookBalance.amountMinor, '10000000')
  t.equal((await client.journal(balances.EUR)).length, 1)
  t.strictSame(await client.holds(balances.EUR), [])
  t.equal((await client.post(`/simulations/incoming-payments/${id}/recall`, {})).problem.code, 'not-found')

  await setFourEyes(world, false)
  const staff = await world.person('compliance').signIn()
  const hold = await holdOf(staff, id)
  t.match(hold, { kind: 'inbound_screening', status: 'open', related: { object: 'incoming_payment', id } })
  const released = await staff.post<ComplianceHoldDetail>(`/compliance-holds/${hold.id}/release`, {
    reason: 'Another person of the same name.',
  })
  t.equal(released.status, 200, released.text)
  const shown = await received(client, id)
  t.match(shown, { status: 'received', amount: money(5_000), payer: { name: 'Shady SBX:HOLD Traders' } })
  const [row] = await world.query<{ received_at: Date }>('select received_at from incoming_payment where id = $1', [id])
  t.ok(Date.parse(shown.receivedAt) > row!.received_at.getTime(), 'nor how long it was looked at')
  t.equal((await client.list<{ id: string }>('/incoming-payments')).body.data[0]!.id, id, 'it is the newest')
  t.equal((await client.balance(balances.EUR)).availableBalance.amountMinor, '10005000')
  const { rules, events } = await trace(world, id)
  t.strictSame(rules, ['L05', 'L06'])
  t.strictSame([...events].sort(), ['compliance_hold.created', 'compliance_hold.released', 'incoming_payment.received'])
  t.match(
    (await staff.post(`/compliance-holds/${hold.id}/block`, { reason: 'Too late.', freezeFunds: false })).problem,
    { status: 409, code: 'invalid-transition' },
  )
})

t.test('what is blocked goes back, and its customer never hears of it', async (t) => {
  await using world = await createWorld()
  await setFourEyes(world, false)
  const { client, balances } = world.seeded
  const staff = await world.person('compliance').signIn()
  const id = await held(world, 6_000)
  const hold = await holdOf(staff, id)
  t.equal(
    (await staff.post(`/compliance-holds/${hold.id}/block`, { reason: 'Listed.', freezeFunds: false })).status,
    200,
  )
  await rowReaching(world, id, 'return_state', 'settled')
  const { rules, events } = await trace(world, id)
  t.strictSame(rules, ['L05', 'L07', 'L11'])
  t.strictSame([...events].sort(), ['compliance_hold.blocked', 'compliance_hold.created'])
  t.equal((await client.get(`/incoming-payments/${id}`)).problem.code, 'not-found')
  t.equal((await client.balance(balances.EUR)).bookBalance.amountMinor, '10000000')

  const frozen = await held(world, 7_000)
  t.equal(
    (
      await staff.post(`/compliance-holds/${(await holdOf(staff, frozen)).id}/block`, {
        reason: 'An order of a court.',
        freezeFunds: true,
      })
    ).status,
    200,
  )
  t.strictSame((await trace(world, frozen)).rules, ['L05'], 'frozen, it stays where it is')
})

t.test('a balance that closes while its money is under review does not get it', async (t) => {
  await using world = await createWorld()
  await setFourEyes(world, false)
  const staff = await world.person('compliance').signIn()
  const id = await held(world, 100)
  const hold = await holdOf(staff, id)
  await shut(world, world.seeded.balances.EUR)
  t.match((await staff.post(`/compliance-holds/${hold.id}/release`, { reason: 'Fine.' })).problem, {
    status: 409,
    code: 'invalid-transition',
  })
  t.strictSame((await trace(world, id)).rules, ['L05'])
  t.match(await holdOf(staff, id), { status: 'open' })
})

t.test('many are let through at once, more than the pool has connections', async (t) => {
  await using world = await createWorld()
  await setFourEyes(world, false)
  const staff = await world.person('compliance').signIn()
  const ids = await Promise.all(Array.from({ length: 23 }, (_, nth) => held(world, 1_000 + nth)))
  const holds = await Promise.all(ids.map((id) => holdOf(staff, id)))
  const released = await Promise.all(
    holds.map(({ id }) =>
      staff.post(`/compliance-holds/${id}/release`, { reason: 'Another person of the same name.' }),
    ),
  )
  t.strictSame(
    released.map(({ status }) => status),
    holds.map(() => 200),
  )
  await Promise.all(ids.map((id) => received(world.seeded.client, id)))
})

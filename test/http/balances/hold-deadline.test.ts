/** Money that staff hold until a moment: held until a millisecond before it, and free from it on, once. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Hold } from '../../../lib/balances/hold-schema.ts'
import type { StaffHold } from '../../../lib/balances/staff-hold-schema.ts'
import { timestamp } from '../../../lib/base/clock.ts'
import type { Person } from '../../support/person.ts'
import { createWorld, paymentBody } from '../../support/world.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const eur = (minor: number) => ({ amountMinor: String(minor), currency: 'EUR' })

await using world = await createWorld({ stillClock: true, nodes: 2, dispatch: false })
const customer = await world.customer({ balances: [{ currency: 'EUR', amount: 1_000n }] })
const [balanceId] = customer.balanceIds as [string]
const { client } = customer

const available = async (): Promise<number> => Number((await client.balance(balanceId)).availableBalance.amountMinor)
const place = async (staff: Person, minor: number, expiresAt: number): Promise<StaffHold> =>
  (
    await staff.post<StaffHold>(
      `/balances/${balanceId}/holds`,
      { subjectType: 'manual', amount: eur(minor), reason: 'Dispute.', expiresAt: timestamp(expiresAt) },
      { 'idempotency-key': randomUUID() },
    )
  ).body
const release = (staff: Person, { id }: StaffHold) => staff.post(`/staff-holds/${id}/release`, { reason: 'Settled.' })
const holdOf = async ({ id }: StaffHold): Promise<Hold> =>
  (
    await client.list<Hold>(`/balances/${balanceId}/holds`, { 'filter[status]': 'active,released,expired' })
  ).body.data.find((hold) => hold.id === id)!
const trail = async ({ id }: StaffHold): Promise<string[]> =>
  (await world.query<{ action: string }>('select action from audit_event where object_id = $1 order by id', [id])).map(
    ({ action }) => action,
  )

await t.test('it ends at its deadline, and not a millisecond earlier', async (t) => {
  const deadline = world.now() + HOUR_MS
  const staff = await world.person('compliance').signIn()
  const hold = await place(staff, 600, deadline)
  world.advanceTo(deadline - 1)
  await world.pollOnce()
  t.equal(await available(), 400)
  const pay = () => client.createPayment(paymentBody(balanceId, customer.recipients.EUR, 1_000))
  t.match((await pay()).problem, { status: 409, code: 'insufficient-funds', available: eur(400) })
  world.advance(1)
  await world.pollOnce()
  t.equal(await available(), 1_000)
  t.match(await holdOf(hold), { status: 'expired', resolvedAt: timestamp(deadline), capturedAmount: null })
  t.strictSame(await trail(hold), ['staff_hold.placed', 'staff_hold.expired'])
  const paid = await pay()
  t.equal(paid.status, 201, 'every node knows that the money is free')
  t.equal((await client.post(`/payments/${paid.body.id}/cancel`, {})).status, 200)
  await staff.signIn()
  t.match((await release(staff, hold)).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'expired',
    allowed: ['active'],
  })
  await world.audit()
})

await t.test('timers and staff at its deadline: it ends once, in one way', async (t) => {
  const deadline = world.now() + HOUR_MS
  const staff = await world.person('compliance').signIn()
  const holds = [
    await place(staff, 100, deadline),
    await place(staff, 200, deadline),
    await place(staff, 300, deadline),
  ]
  world.advanceTo(deadline - 1)
  await staff.signIn()
  world.advance(1)
  const [replies] = await Promise.all([
    Promise.all(holds.map((hold) => release(staff, hold))),
    world.pollOnce(),
    world.pollOnce(),
  ])
  for (const [nth, hold] of holds.entries()) {
    const reply = replies[nth]!
    const status = reply.status === 200 ? 'released' : 'expired'
    if (status === 'expired') t.match(reply.problem, { code: 'invalid-transition', currentStatus: 'expired' })
    t.match(await holdOf(hold), { status, resolvedAt: timestamp(deadline) })
    t.strictSame(await trail(hold), ['staff_hold.placed', `staff_hold.${status}`])
  }
  t.equal(await available(), 1_000)
  await world.audit()
})

await t.test('a clock that jumps over several deadlines ends all of them, and nothing else', async (t) => {
  const staff = await world.person('compliance').signIn()
  const over = [
    await place(staff, 100, world.now() + HOUR_MS),
    await place(staff, 200, world.now() + DAY_MS),
    await place(staff, 300, world.now() + 5 * DAY_MS),
  ]
  const kept = await place(staff, 50, world.now() + 30 * DAY_MS)
  world.advance(10 * DAY_MS)
  await Promise.all([world.pollOnce(), world.pollOnce()])
  for (const hold of over) {
    t.match(await holdOf(hold), { status: 'expired' })
    t.strictSame(await trail(hold), ['staff_hold.placed', 'staff_hold.expired'])
  }
  t.match(await holdOf(kept), { status: 'active' })
  t.equal(await available(), 950)
  await world.audit()
})

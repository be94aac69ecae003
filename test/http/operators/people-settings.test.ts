/** The settings of an operator about people: how long sessions last, when a payment needs a proof, how long factors wait. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { HOUR_MS, MINUTE_MS } from '../../../lib/base/clock.ts'
import type { OperatorSettings, OperatorSettingsUpdate } from '../../../lib/operators/operator-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { Person } from '../../support/person.ts'
import { createWorld, paymentBody } from '../../support/world.ts'

const eur = (minor: number) => ({ amountMinor: String(minor), currency: 'EUR' })

async function set(admin: Person, body: OperatorSettingsUpdate): Promise<OperatorSettings> {
  return (await admin.send<OperatorSettings>('PATCH', '/operator/settings', body, { 'if-match': '*' })).body
}

const expired = (reason: string) => ({ status: 401, code: 'session-expired', reason })

t.test('sessions end as the operator has set it, from the answer on and on every node', async (t) => {
  await using world = await createWorld({ nodes: 2 })
  const owner = await world.person('owner').signIn()
  const admin = await world.person('operator_admin').signIn()
  t.match((await admin.get('/operator/settings')).body, {
    sessions: { idleMinutes: 15, absoluteHours: 12, recoveredFactorWaitHours: 24 },
    kyb: { requireAllPersonsVerified: true },
    payments: { stepUpThreshold: eur(0) },
  })
  t.match((await owner.get('/sessions/current')).body, { idleTimeoutSeconds: 900 })
  t.match((await set(admin, { sessions: { idleMinutes: 5 } })).sessions, { idleMinutes: 5, absoluteHours: 12 })
  for (const reply of [await owner.get('/sessions/current'), await owner.get('/sessions/current')])
    t.match(reply.body, { idleTimeoutSeconds: 300 }, 'each request meets another node')
  const read = async () => (await owner.get('/users/me')).status
  world.advance(4 * MINUTE_MS)
  t.equal(await read(), 200)
  world.advance(4 * MINUTE_MS)
  t.equal(await read(), 200, 'a request restarts the time')
  world.advance(5 * MINUTE_MS)
  t.match((await owner.get('/users/me')).problem, expired('idle'))
  await owner.signIn()
  await admin.signIn()
  const { data } = (await owner.get<{ data: { status: string; current: boolean }[] }>('/sessions')).body
  t.strictSame(data.map(({ status }) => status).toSorted(), ['active', 'idle'], 'the list says the same')

  await set(admin, { sessions: { idleMinutes: 60, absoluteHours: 1 } })
  const started = world.now()
  const opened = await owner.password()
  t.equal(opened.body.idleTimeoutSeconds, 3_600)
  t.ok(Date.parse(opened.body.expiresAt) <= world.now() + HOUR_MS, 'a new session is shorter')
  t.ok(Date.parse(opened.body.expiresAt) >= started + HOUR_MS)
  world.advance(50 * MINUTE_MS)
  t.equal(await read(), 200, 'an open one is not idle')
  world.advance(11 * MINUTE_MS)
  t.match((await owner.get('/users/me')).problem, expired('expired'), 'and ends after the shorter time, too')

  await admin.signIn()
  await owner.signIn()
  await set(admin, { sessions: { absoluteHours: 24 } })
  world.advance(59 * MINUTE_MS)
  t.equal(await read(), 200)
  world.advance(2 * MINUTE_MS)
  t.match((await owner.get('/users/me')).problem, expired('expired'), 'a longer time holds for new sessions')
})

t.test('people prove themselves for payments above the threshold, on every node', async (t) => {
  await using world = await createWorld({ nodes: 2 })
  const { client, balances, recipients } = world.seeded
  const owner = await world.person('owner').signIn()
  const admin = await world.person('operator_admin').signIn()
  const order = (minor: number, body: object = {}) => ({ ...paymentBody(balances.EUR, recipients.EUR, minor), ...body })
  const send = (path: string, body: object) => owner.post<Payment>(path, body, { 'idempotency-key': randomUUID() })
  const pay = (minor: number, body: object = {}) => send('/payments', order(minor, body))
  const NEEDED = { status: 403, code: 'step-up-required', action: 'payment.above_threshold' }
  t.match((await pay(1)).problem, NEEDED, 'zero: always')
  t.match((await send('/payments', {})).problem, NEEDED, 'before the body is looked at')

  await set(admin, { payments: { stepUpThreshold: eur(10_000) } })
  for (const reply of [await pay(10_000), await pay(1)]) t.equal(reply.status, 201, reply.text)
  for (const reply of [await pay(10_001), await pay(10_001)]) t.match(reply.problem, NEEDED, reply.text)
  t.match((await send('/payments', {})).problem, { status: 422, code: 'validation-error' }, 'no body, no amount')
  t.match((await pay(0)).problem, { status: 422 })
  const gbp = (minor: number) => ({
    ...paymentBody(balances.GBP, recipients.GBP, minor, 'GBP'),
  })
  t.match((await send('/payments', gbp(9_900))).problem, NEEDED, '99 pounds are more than 100 euros')
  t.equal((await send('/payments', gbp(5_000))).status, 201, '50 are less')
  const schedule = (minor: number) => ({
    recipientId: recipients.EUR,
    sourceBalanceId: balances.EUR,
    amount: eur(minor),
    reference: 'Rent',
    frequency: 'monthly',
    startDate: new Date(world.now() + 5 * 24 * HOUR_MS).toISOString().slice(0, 10),
  })
  t.match((await send('/scheduled-payments', schedule(10_001))).problem, NEEDED)
  t.equal((await send('/scheduled-payments', schedule(10_000))).status, 201)
  const draft = (await client.createPayment(order(10_001, { draft: true }))).body
  const small = (await client.createPayment(order(100, { draft: true }))).body
  t.match((await send(`/payments/${draft.id}/submit`, {})).problem, NEEDED)
  t.match(await client.payment(draft.id), { status: 'draft' }, 'nothing has changed')
  t.equal((await send(`/payments/${small.id}/submit`, {})).status, 200)
  t.match(
    (await send(`/payments/${randomUUID()}/submit`, {})).problem,
    { status: 403, code: 'step-up-required' },
    'what cannot be compared needs the proof',
  )
  t.equal((await client.createPayment(order(10_001))).status, 201, 'keys prove nothing')
  await owner.stepUp('payment.above_threshold')
  t.equal((await pay(10_001)).status, 201)
  t.equal((await send(`/payments/${draft.id}/submit`, {})).status, 200)
  await client.paymentsSettled()
})

/** Balances that the operator's staff freeze, and money that they hold: on one node, and decided on another. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Balance } from '../../../lib/balances/balance-schema.ts'
import type { Hold } from '../../../lib/balances/hold-schema.ts'
import type { StaffHold } from '../../../lib/balances/staff-hold-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, transferBody, type World } from '../../support/world.ts'
import { setPolicy, tier } from '../approvals/people.ts'
import { checked, row, settled } from '../bulk-payments/submitting.ts'

const eur = (minor: number) => ({ amountMinor: String(minor), currency: 'EUR' })
const HOUR_MS = 3_600_000

async function staffOf(world: World) {
  const staff = await world.person('compliance').signIn()
  const move = (id: string, what: 'freeze' | 'unfreeze') =>
    staff.post<Balance>(`/balances/${id}/${what}`, { reason: 'Order 4711.' })
  const hold = (id: string, body: object, key: string = randomUUID()) =>
    staff.post<StaffHold>(`/balances/${id}/holds`, body, { 'idempotency-key': key })
  return { staff, move, hold }
}

t.test('a frozen balance takes credits and pays nothing, and is as before when the freeze ends', async (t) => {
  await using world = await createWorld()
  const { balances, recipients } = world.seeded
  const { staff, move } = await staffOf(world)
  const customer = await world.customer({
    balances: [
      { currency: 'EUR', amount: 50_000n },
      { currency: 'EUR', amount: 20_000n },
    ],
  })
  const [frozen, other] = customer.balanceIds as [string, string]
  const { client } = customer
  const pay = (minor = 100) => client.createPayment(paymentBody(frozen, customer.recipients.EUR, minor))
  // The actor of the balance has it in memory.
  t.equal((await pay()).status, 201)
  await client.paymentsSettled()

  const done = await move(frozen, 'freeze')
  t.match(done.body, { id: frozen, status: 'frozen' }, done.text)
  t.equal((await client.balance(frozen)).status, 'frozen')
  t.match((await pay()).problem, { errors: [{ field: '/sourceBalanceId', code: 'inactive' }] })
  t.match((await client.createTransfer(transferBody(frozen, other, 10))).problem, {
    errors: [{ field: '/fromBalanceId', code: 'inactive' }],
  })
  t.equal((await client.createTransfer(transferBody(other, frozen, 250))).status, 201, 'a credit passes')
  const credit = await client.post('/simulations/incoming-payments', { balanceId: frozen, amount: eur(700) })
  t.equal(credit.status, 202, credit.text)
  world.advance(3_000)
  await until('the incoming payment is credited', async () => {
    const { bookBalance } = await client.balance(frozen)
    return bookBalance.amountMinor === String(50_000 - 100 + 250 + 700)
  })
  t.match((await move(frozen, 'freeze')).problem, {
    code: 'invalid-transition',
    currentStatus: 'frozen',
    allowed: ['active'],
  })
  t.match((await move(frozen, 'unfreeze')).body, { status: 'active' })
  t.match((await move(frozen, 'unfreeze')).problem, { currentStatus: 'active', allowed: ['frozen'] })
  t.equal((await pay()).status, 201, 'it pays again')
  await client.paymentsSettled()

  t.equal((await staff.post(`/balances/${randomUUID()}/freeze`, { reason: 'x' })).status, 404)
  t.match((await staff.post(`/balances/${frozen}/freeze`, {})).problem, {
    errors: [{ field: '/reason', code: 'required' }],
  })
  const owner = await world.person('owner').signIn()
  t.equal((await owner.post(`/balances/${balances.EUR}/freeze`, { reason: 'x' })).status, 403, 'members do not')
  t.equal((await world.operator.post(`/balances/${balances.EUR}/freeze`, { reason: 'x' })).status, 403, 'nor do keys')
  t.strictSame(
    (
      await world.query<{ action: string }>('select action from audit_event where object_id = $1 order by id', [frozen])
    ).map(({ action }) => action),
    ['balance.frozen', 'balance.unfrozen'],
  )
  t.ok(recipients.EUR)
})

t.test('what waits for approval is not approved while its balance is frozen, and may be rejected', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances, recipients } = world.seeded
  const owner = await world.person('owner').signIn()
  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 0, null)] })
  const { move } = await staffOf(world)
  const approver = await world.person('approver').signIn()
  const wait = async () =>
    (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 500))).body.approvalId as string
  const [first, second] = [await wait(), await wait()]
  await setPolicy(t, owner, 'bulk_payment', { tiers: [tier(1, 0, null)] })
  const file = await checked(client, { name: 'Salaries', rows: [row(recipients.EUR, 11)] })
  await client.post(`/bulk-payments/${file.id}/submit`, undefined, randomUUID())
  const waiting = (await settled(client, file.id)).approvalId as string
  await move(balances.EUR, 'freeze')
  const decide = async (id: string, decision: 'approved' | 'rejected') => {
    await approver.stepUp('approval.decide', { type: 'approval', id })
    return await approver.post(`/approvals/${id}/decisions`, {
      decision,
      ...(decision === 'rejected' ? { comment: 'Not now.' } : {}),
    })
  }
  t.match((await decide(first, 'approved')).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'frozen',
    allowed: ['active'],
  })
  t.equal((await decide(second, 'rejected')).status, 200)
  t.match((await decide(waiting, 'approved')).problem, { code: 'invalid-transition', currentStatus: 'frozen' })
  await move(balances.EUR, 'unfreeze')
  t.equal((await decide(waiting, 'approved')).status, 200)
  t.equal((await decide(first, 'approved')).status, 200)
})

t.test('payments that wait for the bank stay in the queue while their balance is frozen', async (t) => {
  await using world = await createWorld()
  const { move } = await staffOf(world)
  const customer = await world.customer({
    balances: [
      { currency: 'EUR', amount: 50_000n },
      { currency: 'EUR', amount: 20_000n },
    ],
  })
  const [frozen, other] = customer.balanceIds as [string, string]
  const { client } = customer
  // The sandbox keeps them in the queue for a minute.
  const queued = async (balanceId: string) =>
    (
      await client.createPayment({
        ...paymentBody(balanceId, customer.recipients.EUR, 100),
        reference: 'SBX:QUEUE',
      })
    ).body.id
  const [waits, cancelled, goes] = [await queued(frozen), await queued(frozen), await queued(other)]
  t.match((await move(frozen, 'freeze')).body, { status: 'frozen' })
  t.match((await client.post(`/payments/${cancelled}/cancel`, {}, randomUUID())).body, { status: 'cancelled' })
  world.advance(61_000)
  // The queue takes the oldest first, so what has passed was read after what waits.
  await client.paymentReaching(goes, 'completed')
  const waiting = await client.payment(waits)
  t.match(waiting, { status: 'processing', processing: { status: 'queued' }, sentAt: null })
  t.match(
    await client.balance(frozen),
    { bookBalance: eur(50_000), availableBalance: eur(49_900) },
    'nothing has left, and the money is held',
  )
  t.match((await move(frozen, 'unfreeze')).body, { status: 'active' })
  await client.paymentReaching(waits, 'completed')
  t.match(await client.balance(frozen), { bookBalance: eur(49_900), availableBalance: eur(49_900) })
  await world.audit()
})

t.test('a freeze and a hold count at once for every node that has the balance in memory', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const { move, hold } = await staffOf(world)
  // Requests go to the nodes in turn, where there are two: each of them has the balance in memory.
  const payAtEach = async () => {
    const pay = () => client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))
    return [await pay(), await pay(), await pay()]
  }
  for (const paid of await payAtEach()) t.equal(paid.status, 201)
  await move(balances.EUR, 'freeze')
  for (const refused of await payAtEach())
    t.match(refused.problem, { errors: [{ field: '/sourceBalanceId', code: 'inactive' }] })
  await move(balances.EUR, 'unfreeze')
  for (const paid of await payAtEach()) t.equal(paid.status, 201)
  const { amountMinor } = (await client.balance(balances.EUR)).availableBalance
  const all = { subjectType: 'manual', amount: eur(Number(amountMinor)), reason: 'All of it.' }
  t.equal((await hold(balances.EUR, all)).status, 201)
  for (const refused of await payAtEach()) t.match(refused.problem, { code: 'insufficient-funds' })
  await client.paymentsSettled()
})

t.test('staff hold money for an order or by hand, release it, and a manual hold ends by itself', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const { staff, hold } = await staffOf(world)
  const available = async () => Number((await client.balance(balances.EUR)).availableBalance.amountMinor)
  const whole = await available()
  const key = randomUUID()
  const order = { subjectType: 'legal_order', amount: eur(4_000), reason: 'Court of Amsterdam, 4711.' }
  const placed = await hold(balances.EUR, order, key)
  t.equal(placed.status, 201, placed.text)
  const again = await hold(balances.EUR, order, key)
  t.strictSame([again.text, again.headers.get('idempotency-replayed')], [placed.text, 'true'], 'once')
  t.equal(again.headers.get('location'), placed.headers.get('location'))
  t.match((await staff.get((placed.headers.get('location') as string).slice(3))).text, /4711/, 'staff read it')
  t.equal(await available(), whole - 4_000)
  const shown = (await client.list<Hold>(`/balances/${balances.EUR}/holds`)).body.data
  t.match(shown, [
    {
      id: placed.body.id,
      subjectType: 'payment_review',
      subjectId: placed.body.id,
      description: 'Payment under review',
    },
  ])
  t.notMatch(JSON.stringify(shown), /4711|legal/)
  const expiresAt = new Date(world.now() + HOUR_MS).toISOString()
  const manual = (await hold(balances.EUR, { subjectType: 'manual', amount: eur(300), reason: 'Dispute.', expiresAt }))
    .body
  t.match((await client.list<Hold>(`/balances/${balances.EUR}/holds?filter[subjectType]=manual`)).body.data, [
    { id: manual.id, subjectType: 'manual', description: 'Reserved by the bank', expiresAt },
  ])
  const refused = async (body: object) => (await hold(balances.EUR, { ...order, ...body })).problem
  t.match(await refused({ amount: eur(whole) }), { code: 'insufficient-funds', available: eur(whole - 4_300) })
  t.match(await refused({ amount: { amountMinor: '1', currency: 'USD' } }), { errors: [{ code: 'currency_mismatch' }] })
  t.match(await refused({ expiresAt }), { errors: [{ field: '/expiresAt', code: 'not_applicable' }] })
  t.match(await refused({ subjectType: 'manual', expiresAt: '2020-01-01T00:00:00Z' }), {
    errors: [{ code: 'in_past' }],
  })

  const path = `/staff-holds/${placed.body.id}/release`
  t.match((await staff.post<StaffHold>(path, { reason: 'Lifted.' })).body, {
    status: 'released',
    releaseReason: 'Lifted.',
  })
  t.match((await staff.post(path, { reason: 'x' })).problem, { currentStatus: 'released', allowed: ['active'] })
  t.equal(await available(), whole - 300)
  world.advance(HOUR_MS + 1_000)
  await until('the manual hold ends', async () => (await available()) === whole)
  await staff.signIn()
  t.match((await staff.get<StaffHold>(`/staff-holds/${manual.id}`)).body, { status: 'expired', resolvedAt: String })
  t.match(
    (await client.list<Hold>(`/balances/${balances.EUR}/holds?filter[status]=released,expired`)).body.data.map(
      ({ status }) => status,
    ),
    ['expired', 'released'],
  )
})

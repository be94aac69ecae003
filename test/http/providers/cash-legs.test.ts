/** The cash of money that a bank takes in or pays out, while the balance of its customer sits at another connection. */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import type { ComplianceHold } from '../../../lib/compliance/compliance-hold-schema.ts'
import type { ProviderConnectionView } from '../../../lib/providers/connection-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'
import { setFourEyes } from '../compliance/staff.ts'
import { received, rowReaching } from '../incoming-payments/support.ts'
import { eur } from '../payments/platform-support.ts'
import { endDay } from '../reconciliation/support.ts'
import { cashAt, connectTo, legsOf, reconcileAt } from './cash-support.ts'
import { jobOf, migrate, PATH, proven, replace } from './migration-support.ts'

/** Amounts by which the sandbox bank fails a payment, sends one back that has arrived, and keeps one on its way. */
const FAILS = 1_301
const COMES_BACK = 1_401
const STAYS = 1_701

const homeOf = async (world: World) =>
  (
    await world.query<{ id: string }>('select connection_id as id from balance where id = $1', [
      world.seeded.balances.EUR,
    ])
  )[0]!.id

const pay = async ({ seeded: { client, balances, recipients } }: World, amount: number) =>
  (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, amount))).body

/** Checks that the audit passes, and that it fails while a statement has changed the cash orders. */
async function tamper(t: Test, world: World, [change, back]: readonly [string, string], check: RegExp) {
  await world.audit()
  await world.query(change)
  await t.rejects(world.audit(), check)
  await world.query(back)
}

t.test('the cash of a payment follows it to the connection by which it leaves', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const first = await homeOf(world)
  const own = await pay(world, 900)
  await client.paymentReaching(own.id, 'completed')
  const second = await connectTo(world, 'sandbox')
  const staff = await world.person('operator_admin').signIn()
  const rule = { priority: 1, connectionId: second, match: { currency: 'EUR' } }
  t.equal((await staff.post('/routing-rules', rule)).status, 201)
  const before = await cashAt(world, first)

  const [sent, failed, back, stays] = [
    await pay(world, 1_000),
    await pay(world, FAILS),
    await pay(world, COMES_BACK),
    await pay(world, STAYS),
  ]
  await client.paymentReaching(sent.id, 'completed')
  await client.paymentReaching(failed.id, 'failed')
  await client.paymentReaching(back.id, 'returned')
  t.strictSame(await legsOf(world, own.id), [], 'a payment by its own connection has none')
  t.strictSame(await legsOf(world, sent.id), [{ by: first, to: second, amount: 1_000 }])
  t.strictSame(await legsOf(world, failed.id), [], 'no cash left')
  t.strictSame(await legsOf(world, back.id), [
    { by: first, to: second, amount: COMES_BACK },
    { by: second, to: first, amount: COMES_BACK },
  ])
  t.strictSame(await legsOf(world, stays.id), [], 'the bank has not paid yet')
  t.equal((await cashAt(world, second)).books, 0, 'what it paid, it has got')
  t.equal((await cashAt(world, first)).books, before.books - 1_000)
  t.equal((await client.post(`/simulations/payments/${stays.id}/status`, { status: 'completed' })).status, 202)
  await client.paymentReaching(stays.id, 'completed')
  t.strictSame(await legsOf(world, stays.id), [{ by: first, to: second, amount: STAYS }])

  await until('the banks have booked all legs', async () => {
    const open = await world.query('select from cash_order where from_booked_at is null or to_booked_at is null')
    return open.length === 0
  })
  for (const id of [first, second])
    t.match((await staff.get<ProviderConnectionView>(`${PATH}/${id}`)).body, { inFlight: 0, cashToMove: [] })
  const day = endDay(world)
  for (const id of [first, second])
    t.match(await reconcileAt(world, id, day), { status: 'matched', unexplained: { amountMinor: '0' } })

  await t.test('the audit compares each leg with its money and its entry', async (t) => {
    const order = `update cash_order set amount = amount`
    await tamper(t, world, [`${order} + 1`, `${order} - 1`], /cash between connections/)
    const swap = 'update cash_order set from_connection_id = to_connection_id, to_connection_id = from_connection_id'
    await tamper(t, world, [swap, swap], /cash between connections.*money and its cash/s)
    const rename = (from: string, to: string) =>
      `update cash_order set subject_id = '${to}' where subject_id = '${from}'`
    await tamper(t, world, [rename(sent.id, failed.id), rename(failed.id, sent.id)], /money and its cash/)
    const take = `create table taken as select * from cash_order where subject_id = '${sent.id}'; delete from cash_order where subject_id = '${sent.id}'`
    await tamper(
      t,
      world,
      [take, 'insert into cash_order select * from taken; drop table taken'],
      /cash between connections.*money and its cash/s,
    )
    await world.audit()
  })
})

t.test('money that reaches the old connection of a balance that has moved', async (t) => {
  await using world = await createWorld()
  await setFourEyes(world, false)
  const { client, balances } = world.seeded
  const admin = await world.person('operator_admin').signIn()
  const second = await world.person('integration').signIn()
  const oldId = await homeOf(world)
  /** A payer pays by an account at a connection. */
  async function creditAt(connectionId: string, amount: number, payerName = 'Old Friend Ltd'): Promise<string> {
    const [id, reference, at] = [randomUUID(), randomUUID(), new Date(world.now())]
    const known = !payerName.includes('SBX:UNALLOCATED')
    const credit = {
      ...{ reference, amount: String(amount), currency: 'EUR', payerName, payerIdentifier: null, payerBankName: null },
      ...{ payerCountry: null, remittance: null, rail: 'sepa', endToEndId: null, uetr: null },
      valueDate: at.toISOString().slice(0, 10),
    }
    await world.query(
      `insert into sandbox_booking (id, connection_id, currency, reference, direction, amount, booked_at, code) values ($1, $2, 'EUR', $3, 'CRDT', $4, $5, 'RCDT')`,
      [id, connectionId, reference, amount, at],
    )
    await world.query(
      `insert into sandbox_message (id, shard, type, reference, body, due_at) select $1, shard, 'account.credited', $3, $4, $5 from balance where id = $2`,
      [
        ...[id, balances.EUR, reference],
        JSON.stringify({ connectionId, account: known ? balances.EUR : null, credit }),
        at,
      ],
    )
    return reference
  }
  const paid = await pay(world, 1_000)
  await client.paymentReaching(paid.id, 'completed')
  const recalled = await creditAt(oldId, 3_000)
  await received(client, recalled)
  const newId = await replace(admin)
  const jobId = await migrate([admin, second], oldId)
  await until('the balances have moved', async () => (await jobOf(admin, jobId)).status === 'succeeded')
  t.equal(await homeOf(world), newId)
  const left = (await cashAt(world, oldId)).books
  t.equal(left, 0, 'the balances took all there was')
  const leg = (amount: number) => [{ by: oldId, to: newId, amount }]

  const credited = await creditAt(oldId, 2_000)
  await received(client, credited)
  t.strictSame(await legsOf(world, credited), leg(2_000), 'a credit')
  const there = await creditAt(newId, 2_500)
  await received(client, there)
  t.strictSame(await legsOf(world, there), [], 'a credit at its own connection')

  t.equal((await client.post(`/simulations/payments/${paid.id}/return`, { reasonCode: 'AC04' })).status, 202)
  await client.paymentReaching(paid.id, 'returned')
  t.strictSame(await legsOf(world, paid.id), leg(1_000), 'a payment that came back')

  const staff = await world.person('compliance').signIn()
  const caseOf = async (id: string) =>
    (await staff.get<PageBody<ComplianceHold>>('/compliance-holds?limit=100&filter[status]=open')).body.data.find(
      ({ related }) => related.id === id,
    )!.id
  const held = await creditAt(oldId, 4_000, 'Shady SBX:HOLD Traders')
  await rowReaching(world, held, 'status', 'under_review')
  t.strictSame(await legsOf(world, held), [], 'money under review stays')
  t.equal(
    (await staff.post(`/compliance-holds/${await caseOf(held)}/release`, { reason: 'Another name.' })).status,
    200,
  )
  await received(client, held)
  t.strictSame(await legsOf(world, held), leg(4_000), 'a credit that was released')

  const lost = await creditAt(oldId, 5_000, 'Lost SBX:UNALLOCATED Ltd')
  await rowReaching(world, lost, 'suspense', 'open')
  const operations = await world.person('operations').signIn()
  const allocated = await operations.post(`/incoming-suspense/${lost}/allocate`, { balanceId: balances.EUR })
  t.equal(allocated.status, 200, allocated.text)
  t.strictSame(await legsOf(world, lost), leg(5_000), 'money whose owner was found')

  t.equal((await client.post(`/simulations/incoming-payments/${recalled}/recall`, {})).status, 202)
  const answer = { reason: 'A duplicate.', freezeFunds: false }
  t.equal((await staff.post(`/compliance-holds/${await caseOf(recalled)}/block`, answer)).status, 200)
  await rowReaching(world, recalled, 'return_state', 'settled')
  t.strictSame(await legsOf(world, recalled), [{ by: newId, to: oldId, amount: 3_000 }], 'a credit that goes back')

  t.equal((await cashAt(world, oldId)).books, left, 'nothing of it stays at the old connection')

  await t.test('the own money of the operator follows by another migration', async (t) => {
    await world.query(
      `update membership m set role = 'treasury' from platform_user u where u.id = m.user_id and u.email like 'compliance@%'`,
    )
    const treasurer = await world.person('compliance').signIn()
    const funding = { kind: 'house_funding', connectionId: oldId, amount: eur(7_500), reason: 'Wire of 3 May.' }
    const asked = await treasurer.post<{ id: string }>('/ledger/adjustments', funding, {
      'idempotency-key': randomUUID(),
    })
    t.equal(asked.status, 202, asked.text)
    t.equal((await admin.post(`/ledger/adjustments/${asked.body.id}/approve`)).status, 200)
    await world.query(
      `insert into sandbox_booking (id, connection_id, currency, reference, direction, amount, booked_at, code) values ($1, $2, 'EUR', $3, 'CRDT', 7500, $4, 'RCDT')`,
      [randomUUID(), oldId, asked.body.id, new Date(world.now())],
    )
    const refused = await proven(admin, `${PATH}/${oldId}/retire`)
    t.match(refused.problem, { status: 409, reasons: [{ tie: 'ledger', account: 'nostro', balance: eur(7_500) }] })
    t.match(refused.problem.detail, /money in EUR is left at the bank/)
    const again = await migrate([admin, second], oldId)
    await until('the rest has moved', async () => (await jobOf(admin, again)).status === 'succeeded')
    t.match(await jobOf(admin, again), { result: { counts: { balances: 0, EUROwnMinor: 7_500 } } })
    t.strictSame(await legsOf(world, oldId), leg(7_500))
  })
  await until('the banks have booked all legs', async () => {
    const open = await world.query('select from cash_order where from_booked_at is null or to_booked_at is null')
    return open.length === 0
  })
  const day = endDay(world)
  for (const id of [oldId, newId])
    t.match(await reconcileAt(world, id, day), { status: 'matched', unexplained: { amountMinor: '0' } })
  await admin.signIn()
  t.equal((await proven(admin, `${PATH}/${oldId}/retire`)).status, 200)
  const late = `update connection_move set moved_at = moved_at`
  await tamper(t, world, [`${late} + interval '1 day'`, `${late} - interval '1 day'`], /money and its cash/)
})

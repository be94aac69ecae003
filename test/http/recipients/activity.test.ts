/** When a recipient was last paid: filled beside the payments, shown, sorted and filtered by, and in nobody's way. */
import pg from 'pg'
import t from 'tap'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { Recipient } from '../../../lib/recipients/recipient-schema.ts'
import { createIdSource } from '../../../lib/base/ids.ts'
import { Database } from '../../../storage/db/database.ts'
import { followUpPayments } from '../../../storage/payments/payment-follow-up.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'

const read = (world: World, id: string) => world.seeded.client.get<Recipient>(`/recipients/${id}`)
const listed = async (world: World, query: Record<string, string>): Promise<string[]> =>
  (await world.seeded.client.list<Recipient>('/recipients', query)).body.data.map(({ id }) => id)

/** Pays a recipient and waits until that has completed; returns when. */
async function pay(world: World, balanceId: string, recipientId: string, currency = 'EUR'): Promise<string> {
  const { client } = world.seeded
  const made = await client.createPayment(paymentBody(balanceId, recipientId, 100, currency))
  if (made.status !== 201) throw new Error(made.text)
  await client.paymentsSettled()
  const { status, completedAt } = (await client.get<Payment>(`/payments/${made.body.id}`)).body
  if (status !== 'completed' || completedAt === null) throw new Error(`The payment is ${status}.`)
  return completedAt
}

const paidAt = (world: World, id: string, at: string) =>
  until(`${id} was last paid at ${at}`, async () => (await read(world, id)).body.lastPaidAt === at)

t.test('a completed payment is noted within seconds, and lists sort and filter by it', async (t) => {
  await using world = await createWorld()
  const {
    balances,
    recipients: { EUR, GBP, USD },
    client,
  } = world.seeded
  const before = await read(world, EUR)
  t.equal(before.body.lastPaidAt, null)
  const told = new pg.Client({ connectionString: world.databaseUrl })
  // It lives until the test is over, and the database of the test does not.
  told.on('error', () => undefined)
  t.teardown(() => told.end())
  await told.connect()
  const forgotten: string[] = []
  told.on('notification', ({ payload }) => forgotten.push(payload ?? ''))
  await told.query('listen recipient_changed')

  const first = await pay(world, balances.EUR, EUR)
  await paidAt(world, EUR, first)
  const after = await read(world, EUR)
  t.equal(
    after.headers.get('etag')?.split('-')[0],
    before.headers.get('etag')?.split('-')[0],
    'it is no change of the recipient',
  )
  t.strictSame({ ...after.body, lastPaidAt: null }, before.body)
  const changed = await client.send(`/v1/recipients/${EUR}`, {
    method: 'PATCH',
    body: JSON.stringify({ nickname: 'Amsti' }),
    headers: { 'content-type': 'application/json', 'if-match': before.headers.get('etag')! },
  })
  t.equal(changed.status, 200, "and nobody's own change is refused because of it")

  world.advance(60_000)
  const second = await pay(world, balances.GBP, GBP, 'GBP')
  await paidAt(world, GBP, second)
  const sorted = await listed(world, { sort: '-lastPaidAt' })
  t.strictSame(sorted.slice(0, 2), [GBP, EUR])
  t.ok(sorted.includes(USD), 'those never paid come last')
  t.strictSame(await listed(world, { 'filter[lastPaidFrom]': second }), [GBP])
  t.strictSame(await listed(world, { 'filter[lastPaidTo]': first }), [EUR])

  world.advance(60_000)
  const third = await pay(world, balances.EUR, EUR)
  await paidAt(world, EUR, third)
  t.strictSame((await listed(world, { sort: '-lastPaidAt' })).slice(0, 2), [EUR, GBP])
  t.notOk(forgotten.includes(GBP), 'no node forgets a recipient because it was paid')
})

t.test('what a node left behind when it died is noted by the next one', async (t) => {
  await using world = await createWorld()
  const {
    balances,
    recipients: { EUR },
  } = world.seeded
  const at = await pay(world, balances.EUR, EUR)
  await paidAt(world, EUR, at)
  // As when a node ends between a payment and the pass that would have noted it.
  const [place] = await world.query<{ position: string }>('select position::text from payment_follow_up')
  const later = await pay(world, balances.EUR, EUR)
  await paidAt(world, EUR, later)
  await world.service.close()
  await world.query('update recipient set last_paid_at = null')
  await world.query('update payment_follow_up set position = $1::text::xid8', [place!.position])
  await world.restart()
  await paidAt(world, EUR, later)
  t.pass('noted')
})

t.test('passes at the same time note each payment, whatever the order, and never the older one', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { EUR } = world.seeded.recipients
  const [recipient] = await world.query<{ customer_id: string }>('select customer_id from recipient where id = $1', [
    EUR,
  ])
  await world.query(`update recipient set last_paid_at = '2030-01-01T00:00:00Z' where id = $1`, [EUR])
  const made = await world.seeded.client.createPayment(paymentBody(world.seeded.balances.EUR, EUR, 100))
  await world.query(`update payment set completed_at = '2026-01-01T00:00:00Z' where id = $1`, [made.body.id])
  await world.query(
    `insert into outbox (id, created_at, customer_id, operator_id, shard, type, object, object_id)
    select gen_random_uuid(), now(), $1, gen_random_uuid(), 0, 'payment.completed', 'payment', $2`,
    [recipient!.customer_id, made.body.id],
  )
  const database = new Database(world.databaseUrl)
  const ids = createIdSource(world)
  await Promise.all([1, 2, 3].map(() => followUpPayments(database, ids, world.now())))
  t.strictSame(await followUpPayments(database, ids, world.now()), { more: false }, 'nothing is left')
  t.equal((await read(world, EUR)).body.lastPaidAt, '2030-01-01T00:00:00.000Z')
  // The books know of no such payment.
  await world.query('update payment set completed_at = null where id = $1', [made.body.id])
  await world.query(`delete from outbox where type = 'payment.completed'`)
  await database.close()
})

t.test('a payment right after is not made stale by it', async (t) => {
  await using world = await createWorld()
  const {
    client,
    balances,
    recipients: { EUR },
  } = world.seeded
  const versions = () => world.query('select version from recipient where id = $1', [EUR])
  const before = await versions()
  const stop = Date.now() + 3_000
  let made = 0
  // The passes of three seconds fall among these.
  while (Date.now() < stop) {
    const replies = await Promise.all([1, 2, 3, 4].map(() => client.createPayment(paymentBody(balances.EUR, EUR, 100))))
    for (const reply of replies) if (reply.status !== 201) t.fail(reply.text)
    made += replies.length
  }
  t.ok(made > 0)
  await client.paymentsSettled()
  const [last] = await world.query<{ at: string }>(
    `select to_char(max(completed_at) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from payment where recipient_id = $1`,
    [EUR],
  )
  await paidAt(world, EUR, last!.at)
  t.strictSame(await versions(), before)
})

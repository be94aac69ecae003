/** An occurrence is made once, whoever looks, and whoever dies in between. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createWorld, type World } from '../../support/world.ts'
import { until } from '../../support/until.ts'
import { act, create, inDays, occurrences, paymentsOf, reaching, read, runNow } from './support.ts'

/** A due occurrence as a node leaves it that dies before it has asked for the payment. */
async function leave(world: World, id: string): Promise<string> {
  const paymentId = randomUUID()
  await world.query(
    `insert into scheduled_occurrence (payment_id, scheduled_payment_id, customer_id, shard, number, index, planned_date, execution_date, status, taken_at, created_at)
      select $2, id, customer_id, shard, occurrences_begun + 1, next_index, next_planned_date, next_execution_date, 'due', $3, $3 from scheduled_payment where id = $1`,
    [id, paymentId, new Date(world.now())],
  )
  await world.query(
    'update scheduled_payment set occurrences_begun = occurrences_begun + 1, next_occurrence_at = $2, version = version + 1 where id = $1',
    [id, new Date(world.now())],
  )
  return paymentId
}

t.test('several nodes look at once, and many are due', async (t) => {
  await using first = await createWorld()
  // Nodes that know nothing of one another: each believes that every shard is its own. The last one has made the keys
  // that hold.
  await using second = await createWorld({ databaseUrl: first.databaseUrl })
  await using world = await createWorld({ databaseUrl: first.databaseUrl })
  t.equal(new Set([first.url, second.url, world.url]).size, 3)
  const made: string[] = []
  for (let count = 0; count < 12; count++)
    made.push(
      (
        await create(world, {
          frequency: 'once',
          startDate: inDays(world, 30),
          amount: { amountMinor: '100', currency: 'EUR' },
        })
      ).body.id,
    )
  await world.query('update scheduled_payment set next_occurrence_at = $1', [new Date(world.now())])
  for (const id of made) await reaching(world, id, 'completed', ({ status }) => status === 'completed')
  for (const id of made) {
    t.equal((await paymentsOf(world, id)).length, 1)
    t.match(await read(world, id), { occurrencesCreated: 1, consecutiveFailures: 0 })
  }
  await world.seeded.client.paymentsSettled()
})

t.test('many are made at the same moment, and none waits for a connection that another one holds', async (t) => {
  await using world = await createWorld()
  const replies = await Promise.all(Array.from({ length: 24 }, () => create(world, { startDate: inDays(world, 30) })))
  t.strictSame([...new Set(replies.map(({ status }) => status))], [201])
})

t.test('what a node left before it asked for the payment is asked for by the next', async (t) => {
  await using world = await createWorld()
  const made = (await create(world, { startDate: inDays(world, 30) })).body
  const paymentId = await leave(world, made.id)
  t.match((await runNow(world, made.id)).problem, { code: 'simulation-not-possible' }, 'one at a time')
  world.advance(61_000)
  await reaching(world, made.id, 'made', ({ occurrencesCreated }) => occurrencesCreated === 1)
  t.match(await paymentsOf(world, made.id), [{ id: paymentId }])
  t.match((await occurrences(world, made.id)).data, [{ number: 1, status: 'created', paymentId }])
})

t.test('what a node left after the payment was made is only noted', async (t) => {
  await using world = await createWorld()
  const made = (await create(world, { startDate: inDays(world, 30) })).body
  await runNow(world, made.id)
  const first = await reaching(world, made.id, 'made', ({ occurrencesCreated }) => occurrencesCreated === 1)
  const paymentId = first.lastPaymentId!
  // As if the node had died between the payment and the schedule. A day later its key is forgotten, too.
  await world.query(`update scheduled_occurrence set status = 'due' where payment_id = $1`, [paymentId])
  await world.query('delete from idempotency')
  await world.query(
    `update scheduled_payment set next_index = 0, next_planned_date = start_date, next_execution_date = start_date, occurrences_created = 0, last_payment_id = null,
    version = version + 1 where id = $1`,
    [made.id],
  )
  world.advance(61_000)
  const again = await reaching(world, made.id, 'noted', ({ occurrencesCreated }) => occurrencesCreated === 1)
  t.match(again, { lastPaymentId: paymentId, nextOccurrenceAt: first.nextOccurrenceAt, status: 'active' })
  t.equal((await paymentsOf(world, made.id)).length, 1)
})

t.test('what was left when its schedule was stopped is not made any more', async (t) => {
  await using world = await createWorld()
  const made = (await create(world, { startDate: inDays(world, 30) })).body
  const paymentId = await leave(world, made.id)
  await act(world, made.id, 'pause')
  world.advance(61_000)
  await until('it is skipped', async () => (await occurrences(world, made.id)).data[0]?.status === 'skipped')
  t.strictSame(await paymentsOf(world, made.id), [])
  t.match(await read(world, made.id), { status: 'paused', occurrencesCreated: 0, consecutiveFailures: 0 })
  t.strictSame(await world.query('select from payment where id = $1', [paymentId]), [])
})

t.test('what ends while no node follows is known when one does', async (t) => {
  await using world = await createWorld()
  const made = (await create(world, { reference: 'SBX:AC04' })).body
  await runNow(world, made.id)
  await reaching(world, made.id, 'made', ({ occurrencesCreated }) => occurrencesCreated === 1)
  await world.restart()
  world.advance(5_000)
  t.match(await reaching(world, made.id, 'one failure', ({ consecutiveFailures }) => consecutiveFailures === 1), {
    lastPaymentStatus: 'failed',
  })
})

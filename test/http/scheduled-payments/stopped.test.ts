/** A schedule that is stopped while it makes a payment: whoever was told so gets no payment afterwards. */
import pg from 'pg'
import t from 'tap'
import { createWorld, type World } from '../../support/world.ts'
import { until } from '../../support/until.ts'
import { act, create, inDays, occurrences, paymentsOf, reaching, read, runNow, statusEvents } from './support.ts'

/** Lets an occurrence become due and holds its payment up, as a node is that was not given the processor. */
async function heldUp(world: World, id: string, work: () => Promise<void>): Promise<void> {
  const lock = new pg.Client({ connectionString: world.databaseUrl })
  await lock.connect()
  try {
    await lock.query('begin')
    await lock.query('select from balance where id = $1 for update', [world.seeded.balances.EUR])
    const {
      rows: [own],
    } = await lock.query<{ pid: number }>('select pg_backend_pid() as pid')
    await runNow(world, id)
    await until(
      'its payment is asked for',
      async () =>
        (await world.query('select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))', [own!.pid])).length >
        0,
    )
    await work()
  } finally {
    await lock.end()
  }
}

t.test('cancelled, it makes no payment any more', async (t) => {
  await using world = await createWorld()
  const { id } = (await create(world, { startDate: inDays(world, 30) })).body
  await heldUp(world, id, async () => {
    t.match((await occurrences(world, id)).data, [{ number: 1, status: 'due' }])
    t.match((await act(world, id, 'cancel')).body, { status: 'cancelled' })
  })
  await until('it is over', async () => (await occurrences(world, id)).data[0]?.status === 'skipped')
  t.strictSame(await paymentsOf(world, id), [])
  t.match(await read(world, id), {
    status: 'cancelled',
    occurrencesCreated: 0,
    consecutiveFailures: 0,
    lastPaymentId: null,
  })
  t.strictSame(await statusEvents(world, id), ['none active', 'active cancelled'])
})

t.test('paused, it passes that one over and goes on with the next', async (t) => {
  await using world = await createWorld()
  const { id } = (await create(world, { startDate: inDays(world, 30) })).body
  await heldUp(world, id, async () => {
    t.match((await act(world, id, 'pause')).body, { status: 'paused' })
  })
  await until('it is over', async () => (await occurrences(world, id)).data[0]?.status === 'skipped')
  t.strictSame(await paymentsOf(world, id), [])
  t.match((await act(world, id, 'resume')).body, { status: 'active', consecutiveFailures: 0 })
  await runNow(world, id)
  await reaching(world, id, 'made', ({ occurrencesCreated }) => occurrencesCreated === 1)
  t.match((await occurrences(world, id)).data, [
    { number: 2, status: 'created' },
    { number: 1, status: 'skipped', paymentId: null, refusal: null },
  ])
  await world.seeded.client.paymentsSettled()
})

/** The state that a node finds when it starts: rows from clocks that were ahead, and its own clock. */
import t from 'tap'
import { systemClock } from '../../../lib/base/clock.ts'
import { createWorld, paymentBody } from '../../support/world.ts'

const DAY_MS = 86_400_000

t.test('a row dated eight days ahead keeps no node from starting', async (t) => {
  await using world = await createWorld()
  const ahead = new Date(world.now() + 8 * DAY_MS)
  await world.query(
    `insert into outbox (id, created_at, operator_id, shard, type, object, object_id, status) values (gen_random_uuid(), $1, gen_random_uuid(), 0, 'x', 'x', gen_random_uuid(), 'x')`,
    [ahead],
  )
  world.advance(DAY_MS)
  await world.restart()
  const { client, balances, recipients } = world.seeded
  t.equal((await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 1_250))).status, 201)
  const day = ahead.toISOString().slice(0, 10)
  t.strictSame(await world.query(`select tableoid::regclass::text as table from outbox where type = 'x'`), [
    { table: `outbox_${day.replaceAll('-', '')}` },
  ])
  const told = world.logged
    .map((line) => JSON.parse(line) as { readonly msg: string })
    .filter(({ msg }) => msg.startsWith('rows were dated ahead'))
  t.match(told, [{ table: 'outbox', day, rows: 1 }], 'said once')
})

t.test('a node whose clock is far from that of the database does not start', async (t) => {
  const at = (offMs: number) => createWorld({ overrides: { wallClock: { now: () => systemClock.now() + offMs } } })
  await t.rejects(at(60_000), {
    name: 'StartError',
    message: /^The clock of this machine is 60 s ahead of that of the database, .* set both by NTP\.$/,
  })
  await t.rejects(at(-60_000), { name: 'StartError', message: /is 60 s behind that/ })
  await using world = await at(1_000)
  t.equal((await world.seeded.client.get('/balances')).status, 200, 'a second is tolerated')
})

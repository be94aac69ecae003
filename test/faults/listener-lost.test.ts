/** A node hears of changes on one connection; when that is cut, no change made meanwhile is lost. */
import t from 'tap'
import { quote } from '../http/exchange/support.ts'
import { BODY, keyMaker, statusOf, type Made } from '../http/identity/keys.ts'
import { until } from '../support/until.ts'
import { createWorld, NODES, paymentBody } from '../support/world.ts'

const LISTENERS = `select pid from pg_stat_activity where application_name = 'vostro listener' and datname = current_database()`
const CUT = `with cut as materialized (select pg_terminate_backend(pid) from (${LISTENERS}) l) select count(*)::int as cut from cut`

t.test('a node has one listener, and misses no change on any channel while it is cut', async (t) => {
  await using world = await createWorld()
  const owner = await keyMaker(world)
  const made = (await owner.post<Made>('/api-keys', BODY)).body
  const { client, balances, recipients } = world.seeded
  const pay = () => client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))
  t.equal((await world.query(LISTENERS)).length, NODES, 'one connection a node')
  t.equal(
    (
      await world.query(`select from pg_stat_activity where query ilike '%listen %' and datname = current_database()
      and application_name <> 'vostro listener' and pid <> pg_backend_pid()`)
    ).length,
    0,
    'and no other listens',
  )

  /** Fills the caches, cuts the listeners, makes the change, and looks at what the node does. */
  const missed = async (what: string, change: string, values: readonly unknown[], seen: () => Promise<boolean>) => {
    t.equal(await seen(), false, what)
    t.equal((await world.query<{ cut: number }>(CUT))[0]?.cut, NODES, what)
    await world.query(change, values)
    await until(what, seen)
    await until('the listeners are back', async () => (await world.query(LISTENERS)).length === NODES)
  }
  await missed(
    'a key is revoked',
    `update api_key set status = 'revoked' where id = $1`,
    [made.id],
    async () => (await statusOf(world, made.secret, owner.tenantId)) === 401,
  )
  await missed(
    'a customer may no longer buy pounds',
    `insert into setting (owner_id, name, version, value, updated_by, updated_at) values ($1, 'currencies', 1, '{"enabled": ["EUR", "USD"]}', $1, now())`,
    [client.tenantId],
    async () => (await quote(client, { buyCurrency: 'GBP' })).status === 422,
  )
  await missed(
    'an operator switches exchanges at spot off',
    `update operator set features = features || '{"exchange.spot": false}'`,
    [],
    async () => (await quote(client)).status === 404,
  )
  await missed(
    'a recipient is archived',
    `update recipient set status = 'inactive' where id = $1`,
    [recipients.EUR],
    async () => (await pay()).status === 422,
  )
  await client.paymentsSettled()
})

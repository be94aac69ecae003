import t from 'tap'
import pg from 'pg'
import { PgListener } from '../../../storage/db/pg-listener.ts'
import { createEmptyDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

const ignore = () => undefined

async function createNodes(url: string, names: readonly string[]) {
  const heard: string[] = []
  const nodes = names.map((name) => {
    const listener = new PgListener({ url, onError: ignore })
    const gaps = () => heard.push(`${name} gap`)
    const keys = listener.subscribe('key_changed', {
      onMessage: (payload) => heard.push(`${name} key ${payload}`),
      onGap: gaps,
      confirms: true,
    })
    listener.subscribe('payment_waits', {
      onMessage: (payload) => heard.push(`${name} payment ${payload}`),
      onGap: gaps,
    })
    return { listener, keys }
  })
  for (const { listener } of nodes) await listener.start()
  heard.length = 0
  return {
    nodes,
    heard,
    [Symbol.asyncDispose]: async () => void (await Promise.all(nodes.map(({ listener }) => listener.stop()))),
  }
}

async function createSender(url: string) {
  const client = new pg.Client({ connectionString: url })
  client.on('error', ignore)
  await client.connect()
  return {
    send: (channel: string, payload: string) => client.query('select pg_notify($1, $2)', [channel, payload]),
    /** Sends messages in one transaction, so that they arrive together. */
    sendAll: (channel: string, payloads: readonly string[]) =>
      client.query('select pg_notify($1, payload) from unnest($2::text[]) payload', [channel, payloads]),
    connections: async () =>
      (
        await client.query<{ pid: number }>(
          "select pid from pg_stat_activity where application_name = 'vostro listener' and datname = current_database() order by pid",
        )
      ).rows.map(({ pid }) => pid),
    kill: (pid: number) => client.query('select pg_terminate_backend($1)', [pid]),
    [Symbol.asyncDispose]: () => client.end(),
  }
}

t.test('one connection a node serves all channels', async (t) => {
  await using database = await createEmptyDatabase()
  await using sender = await createSender(database.url)
  await using two = await createNodes(database.url, ['a', 'b'])
  await sender.send('key_changed', '1')
  await sender.send('payment_waits', '7')
  await sender.send('other', '9')
  await until('both have heard both', async () => two.heard.length >= 4)
  t.strictSame([...two.heard].sort(), ['a key 1', 'a payment 7', 'b key 1', 'b payment 7'])
  t.equal((await sender.connections()).length, 2)
})

t.test('a sender waits until every other node has acted', async (t) => {
  await using database = await createEmptyDatabase()
  await using sender = await createSender(database.url)
  await using three = await createNodes(database.url, ['a', 'b', 'c'])
  await sender.send('key_changed', '1')
  t.equal(await three.nodes[0]!.keys.heard('1', 10_000), true)
  for (const name of ['b', 'c']) t.ok(three.heard.includes(`${name} key 1`), `${name} has acted before the wait ended`)
  t.equal(await three.nodes[0]!.keys.heard('2', 50), false, 'a message that was never sent is confirmed by no node')
  await sender.send('payment_waits', '3')
  await until('all have heard it', async () => three.heard.filter((each) => each.endsWith('payment 3')).length === 3)
  t.equal(await three.nodes[0]!.keys.heard('3', 50), false, 'a channel without confirmations confirms nothing')
})

t.test('statements of a connection run one after the other, however many messages arrive at once', async (t) => {
  await using database = await createEmptyDatabase()
  await using sender = await createSender(database.url)
  await using two = await createNodes(database.url, ['a', 'b'])
  const warnings: string[] = []
  const note = (warning: Error) => warnings.push(warning.message)
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  const payloads = Array.from({ length: 50 }, (_, nth) => String(nth))
  await sender.sendAll('key_changed', payloads)
  const { keys } = two.nodes[0]!
  const confirmed = await Promise.all(payloads.map((payload) => keys.heard(payload, 10_000)))
  t.ok(confirmed.every(Boolean), 'each message is confirmed')
  t.equal(two.heard.length, 2 * payloads.length, 'and each node has acted once')
  t.strictSame(warnings, [], 'the driver warns of a statement that is sent while others wait')
})

t.test('after a lost connection every channel is told of the gap, and listens again', async (t) => {
  await using database = await createEmptyDatabase()
  await using sender = await createSender(database.url)
  await using one = await createNodes(database.url, ['a'])
  const [pid] = await sender.connections()
  await sender.kill(pid!)
  await until('it is back', async () => one.heard.length >= 2)
  t.strictSame(one.heard, ['a gap', 'a gap'])
  t.not((await sender.connections())[0], pid)
  await sender.send('payment_waits', '8')
  await until('it has heard', async () => one.heard.length >= 3)
  t.equal(one.heard[2], 'a payment 8')
})

t.test('a channel has one subscriber, which comes before the start', async (t) => {
  await using database = await createEmptyDatabase()
  await using one = await createNodes(database.url, ['a'])
  const { listener } = one.nodes[0]!
  t.throws(() => listener.subscribe('later', { onMessage: ignore, onGap: ignore }), /has started/)
  const fresh = new PgListener({ url: database.url, onError: ignore })
  fresh.subscribe('key_changed', { onMessage: ignore, onGap: ignore })
  t.throws(() => fresh.subscribe('key_changed', { onMessage: ignore, onGap: ignore }), /has a subscriber/)
  await using sender = await createSender(database.url)
  await new PgListener({ url: database.url, onError: ignore }).start()
  t.equal((await sender.connections()).length, 1, 'without a subscriber no connection is opened')
})

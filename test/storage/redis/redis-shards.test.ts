import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { basename } from 'node:path'

import { Redis } from 'ioredis'
import t from 'tap'
import type { Test } from 'tap'

import { InProcessShards } from '../../../actors/runtime/in-process-shards.ts'
import { ManualClock, systemClock, type Clock } from '../../../lib/base/clock.ts'
import { StartError } from '../../../lib/base/errors.ts'
import { CLOCK_DIFFERENCE_MAX_MS, NodeProof } from '../../../lib/security/node-proof.ts'
import { SHARD_COUNT } from '../../../lib/shards/shard.ts'
import { RedisShards } from '../../../storage/redis/redis-shards.ts'
import type { RedisShardsSettings } from '../../../storage/redis/redis-shards-options.ts'
import {
  GAP_MAX_MS,
  LEASE_MS,
  NodeProcess,
  settled,
  testLeases,
  TRIALS_MAX,
  until,
  watchGaps,
  watchOverlaps,
} from '../../support/leases-suite.ts'
import type { LeasesHarness, TestCluster, TestNode } from '../../support/leases-suite.ts'
import { ensureRedisServer } from '../../support/redis.ts'

const NODE_SECRET = 'a secret that all nodes know, 32 characters'
const ALL_SHARDS = Array.from({ length: SHARD_COUNT }, (_, shard) => shard)
/** How late, at worst, a test sees what happened at a deadline, on a machine that is busy with other tests. */
const LATE_MS = 500

/** Two commands that are not answered and what is under way, well below the ten seconds that a node has to stop. */
const STOP_MAX_MS = 4_000

interface Line {
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
}

// Most of these tests wait for Redis's clock, not for the processor.
t.jobs = 4

/** Every cluster has a namespace of its own. */
let clusters = 0

const shared = await ensureRedisServer()
t.teardown(() => shared.stop())

t.test('one node in process', async (t) => {
  testLeases(t, {
    nodesMax: 1,
    open: () => ({
      node: () => ({ shards: new InProcessShards('alone'), nodeUrl: 'http://alone.example' }),
      process: async () => {
        throw new Error('it has no neighbours')
      },
    }),
  })
})

t.test('nodes that share a Redis', { buffered: true }, async (t) => {
  testLeases(t, redisHarness(shared.url))
})

t.test('clusters of different namespaces do not see each other', { buffered: true }, async (t) => {
  const nodes = [openCluster(t, shared.url).node(), openCluster(t, shared.url).node()]
  await Promise.all(nodes.map(({ shards }) => shards.start()))
  await until('each has all', () => nodes.every(({ shards }) => shards.owned()?.length === SHARD_COUNT))
  t.ok(nodes.every(({ shards }) => shards.state().nodes === 1))
})

t.test('a Redis that loses its memory is told again, and no shard moves', { buffered: true }, async (t) => {
  const server = await ownServer(t)
  const nodes = await startedNodes(t, server.url, 3)
  const overlaps = watchOverlaps(t, nodes)
  let before = nodes.map(({ shards }) => shards.owned())
  const changed = await changesBy(nodes, async () => {
    before = nodes.map(({ shards }) => shards.owned())
    await server.command('flushall')
    await elapse(LEASE_MS + LATE_MS)
  })
  t.ok(settled(nodes))
  t.equal(changed, 0)
  t.strictSame(
    nodes.map(({ shards }) => shards.owned()),
    before,
  )
  t.strictSame(overlaps(), [])
})

t.test('a Redis that stalls for half a lease costs nothing', { buffered: true }, async (t) => {
  const server = await ownServer(t)
  const nodes = await startedNodes(t, server.url, 2)
  const changed = await changesBy(nodes, async () => {
    server.signal('SIGSTOP')
    await elapse(LEASE_MS / 2)
    server.signal('SIGCONT')
    await until('they know of each other again', () => settled(nodes))
    await elapse(LEASE_MS)
  })
  t.equal(changed, 0)
})

t.test('a node stops in time although Redis hangs', { buffered: true }, async (t) => {
  const server = await ownServer(t)
  const [node] = await startedNodes(t, server.url, 1)
  server.signal('SIGSTOP')
  const started = performance.now()
  await node!.shards.stop()
  t.ok(performance.now() - started < STOP_MAX_MS)
  t.strictSame(node!.shards.owned(), [])
})

t.test(
  'without Redis leases end, and with a new one everything settles again; the log has a line for each',
  { buffered: true },
  async (t) => {
    const server = await ownServer(t)
    const lines: Line[] = []
    const cluster = openCluster(t, server.url, { lines })
    const nodes = [cluster.node(), cluster.node()]
    const overlaps = watchOverlaps(t, nodes)
    await Promise.all(nodes.map(({ shards }) => shards.start()))
    await until('two nodes settle', () => settled(nodes))

    await server.kill()
    t.ok(
      nodes.every(({ shards }) => shards.owned()?.length === SHARD_COUNT / 2),
      'what holds is kept',
    )
    const changes = countChanges(nodes)
    await until('all leases end', () => nodes.every(({ shards }) => shards.owned()?.length === 0), LEASE_MS + LATE_MS)
    await until('listeners hear of it', () => changes() === SHARD_COUNT)
    // The last heartbeat's view of the others is a little younger than the last extension.
    await until('the others are unknown', () =>
      nodes.every(({ shards }) => shards.homeOf(0).kind === 'nowhere' && shards.state().nodes === 1),
    )
    await elapse(LEASE_MS / 2)
    t.strictSame(
      lines.map(({ level }) => level),
      ['warn', 'warn'],
    )

    await server.start()
    await until('two nodes settle again', () => settled(nodes))
    t.strictSame(
      lines.map(({ level }) => level),
      ['warn', 'warn', 'info', 'info'],
    )
    t.strictSame(overlaps(), [])
  },
)

const MOVE_KEYS = `
  for _, key in ipairs(redis.call('keys', '*')) do
    if string.sub(key, -6) == ':beats' then redis.call('hincrby', key, 'at', -ARGV[1]) end
    redis.call('pexpire', key, redis.call('pttl', key) - ARGV[1])
  end`

for (const [what, hours] of [
  ['back', -1],
  ['forward', 1],
] as const) {
  t.test(
    `a clock of Redis set ${what} by an hour moves no shard and keeps no dead lease`,
    { buffered: true },
    async (t) => {
      const server = await ownServer(t)
      const cluster = openCluster(t, server.url)
      const nodes = [cluster.node(), cluster.node()]
      await Promise.all(nodes.map(({ shards }) => shards.start()))
      const victim = await cluster.process()
      await until('three nodes settle', () => settled([...nodes, victim]))
      const overlaps = watchOverlaps(t, nodes)
      // A server's clock cannot be moved by its clients: its keys are moved against it instead, all in one moment.
      const changed = await changesBy(nodes, async () => {
        await server.command('eval', MOVE_KEYS, '0', String(hours * 3_600_000))
        await elapse(LEASE_MS / 2)
      }, [victim])
      t.ok(settled([...nodes, victim]))
      t.equal(changed, 0)

      victim.kill('SIGKILL')
      await until('the survivors have all', () => settled(nodes))
      t.strictSame(overlaps(), [])
    },
  )
}

t.test('a lease that no living node explains ends within the time of one', { buffered: true }, async (t) => {
  const server = await ownServer(t)
  const cluster = openCluster(t, server.url)
  // As left behind by a node that died just before Redis's clock was set back.
  await server.command('set', `{vostro:${cluster.namespace}}:lease:7`, 'nobody', 'PX', '3600000')
  const { shards } = cluster.node()
  await shards.start()
  await until('the node owns all', () => shards.owns(7))
  t.equal(shards.owned()?.length, SHARD_COUNT)
})

const ALL_BITS = Buffer.alloc(SHARD_COUNT / 8, 255).toString('base64')

/** Writes an entry of a node into Redis, as whoever can write there may, and lets it look alive for good. */
async function writeEntry(client: Redis, namespace: string, key: string, entry: string): Promise<void> {
  await client.zadd(`{vostro:${namespace}}:seen`, '9'.repeat(12), key)
  await client.hset(`{vostro:${namespace}}:members`, key, entry)
}

t.test(
  'entries that were made up, changed or moved in Redis are nobody: no shard moves and nothing is sent there',
  { buffered: true },
  async (t) => {
    const server = await ownServer(t)
    const lines: Line[] = []
    const cluster = openCluster(t, server.url, { lines })
    const nodes = [cluster.node(), cluster.node()]
    await Promise.all(nodes.map(({ shards }) => shards.start()))
    await until('two nodes settle', () => settled(nodes))
    const client = new Redis(server.url)
    t.teardown(() => client.disconnect())
    const own = await client.hgetall(`{vostro:${cluster.namespace}}:members`)
    const [, entry = ''] = Object.entries(own)[0]!
    const proof = new NodeProof('another secret, also of 32 characters')
    const told = `${ALL_BITS} http://evil.example `
    const forged: Record<string, string> = {
      json: JSON.stringify({ url: 'http://evil.example', held: ALL_BITS }),
      plain: `${told}${Date.now()} `,
      otherSecret: `${told}${Date.now()} ${proof.sign('member', [`{vostro:${cluster.namespace}}`, 'otherSecret', told, `${Date.now()}`])}`,
      moved: entry,
      elsewhere: entry.replace(/http:\/\/\S+/, 'http://evil.example'),
      garbage: '{',
      long: 'x'.repeat(1_000_000),
      empty: '',
    }
    const changed = await changesBy(nodes, async () => {
      for (const [key, text] of Object.entries(forged)) await writeEntry(client, cluster.namespace, key, text)
      await elapse(LEASE_MS + LATE_MS)
    })
    t.ok(settled(nodes), 'the two have everything between them')
    t.equal(changed, 0)
    t.ok(
      nodes.every(({ shards }) =>
        ALL_SHARDS.every((shard) => JSON.stringify(shards.homeOf(shard)).includes('evil') === false),
      ),
    )
    t.strictSame(
      lines.map(({ level }) => level),
      ['error', 'error'],
      'each node has said so once',
    )
    t.match(lines[0]!.message, /not signed with this NODE_SECRET/)

    // The address of a node that lives: its own next word puts it right.
    const [key = ''] = Object.keys(own)
    await writeEntry(client, cluster.namespace, key, own[key]!.replace(/http:\/\/\S+/, 'http://evil.example'))
    await until('the changed entry is told anew', () => settled(nodes))
  },
)

t.test('an entry that was kept is believed no longer than clocks may differ', { buffered: true }, async (t) => {
  const server = await ownServer(t)
  const lines: Line[] = []
  const clock = new ManualClock(Date.UTC(2026, 0, 2))
  const cluster = openCluster(t, server.url, { lines, clock })
  const [stays, leaves] = [cluster.node(), cluster.node()]
  await Promise.all([stays, leaves].map(({ shards }) => shards.start()))
  await until('two nodes settle', () => settled([stays, leaves]))
  const client = new Redis(server.url)
  t.teardown(() => client.disconnect())
  const kept = Object.entries(await client.hgetall(`{vostro:${cluster.namespace}}:members`)).find(([, entry]) =>
    entry.includes(leaves.nodeUrl),
  )!
  await leaves.shards.stop()
  await until('one has all', () => settled([stays]))
  clock.advance(CLOCK_DIFFERENCE_MAX_MS + 1)
  const changed = await changesBy([stays], async () => {
    await writeEntry(client, cluster.namespace, ...kept)
    await elapse(LEASE_MS)
  })
  t.ok(settled([stays]))
  t.equal(changed, 0)
  t.match(
    lines.map(({ message }) => message),
    [/signed at another time/],
  )
})

for (const [apartMs, meets] of [
  [7_000, true],
  [15_000, false],
] as const) {
  t.test(
    `clocks of nodes that are ${apartMs} ms apart: ${meets ? 'the nodes meet' : 'each passes the other over and says so'}`,
    { buffered: true },
    async (t) => {
      const lines: Line[] = []
      const cluster = openCluster(t, shared.url, { lines })
      const nodes = [cluster.node(), cluster.node({ now: () => Date.now() + apartMs })]
      await Promise.all(nodes.map(({ shards }) => shards.start()))
      if (meets) {
        await until('two nodes settle', () => settled(nodes))
        t.strictSame(lines, [])
      } else {
        await until('both have said so', () => lines.length === 2)
        t.ok(lines.every(({ level, message }) => level === 'error' && /clocks of the nodes differ/.test(message)))
        t.ok(
          nodes.every(
            ({ shards }) =>
              shards.state().nodes === 1 && ALL_SHARDS.every((shard) => shards.homeOf(shard).kind !== 'there'),
          ),
        )
      }
    },
  )
}

t.test(
  'leases that were forged in Redis cost time: no node owns longer than its own lease, and everything settles when it stops',
  { buffered: true },
  async (t) => {
    const server = await ownServer(t)
    const cluster = openCluster(t, server.url)
    const nodes = [cluster.node(), cluster.node()]
    await Promise.all(nodes.map(({ shards }) => shards.start()))
    await until('two nodes settle', () => settled(nodes))
    const lease = (shard: number) => `{vostro:${cluster.namespace}}:lease:${shard}`
    for (const shard of ALL_SHARDS) await server.command('set', lease(shard), 'forged')
    await until(
      'nobody owns what is leased to nobody',
      () => nodes.every(({ shards }) => shards.owned()?.length === 0),
      LEASE_MS + LATE_MS,
    )
    // CURTAIL gives even a lease without an end the time of one.
    await until('two nodes settle again', () => settled(nodes), 3 * LEASE_MS)
    t.pass()
  },
)

t.test('a node that cannot reach Redis does not start, and says why', { buffered: true }, async (t) => {
  const { shards } = openCluster(t, 'redis://me:s3cret@127.0.0.1:1', { settings: { startMaxMs: LATE_MS } }).node()
  const error: unknown = await shards.start().then(
    () => null,
    (reason) => reason,
  )
  t.ok(error instanceof StartError)
  t.match((error as Error).message, /REDIS_URL/)
  t.match((error as Error).message, /ECONNREFUSED/)
  t.notMatch((error as Error).message, /s3cret/)
})

t.test('nodes meet in a Redis Cluster, also after its server restarted', { buffered: true }, async (t) => {
  const server = await ownServer(t, ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'])
  await server.command('cluster', 'addslotsrange', '0', '16383')
  const nodes = await startedNodes(t, server.url.replace('redis:', 'redis+cluster:'), 2)
  await server.kill()
  await until('all leases end', () => nodes.every(({ shards }) => shards.owned()?.length === 0))
  await server.start()
  await until('two nodes settle again', () => settled(nodes))
  t.pass()
})

function redisHarness(redisUrl: string): LeasesHarness {
  return { nodesMax: 4, open: (test) => openCluster(test, redisUrl) }
}

function openCluster(
  test: Test,
  redisUrl: string,
  {
    lines = [],
    settings = {},
    clock = systemClock,
  }: { readonly lines?: Line[]; readonly settings?: Partial<RedisShardsSettings>; readonly clock?: Clock } = {},
): TestCluster & { readonly namespace: string; node(clock?: Clock): TestNode } {
  const namespace = `test-${process.pid}-${++clusters}`
  let nodes = 0
  const options = () => {
    const nodeId = `node-${++nodes}`
    return { redisUrl, namespace, nodeId, nodeUrl: `http://${nodeId}.example`, nodeSecret: NODE_SECRET, settings }
  }
  const log = {
    info: (_: object, message: string) => void lines.push({ level: 'info', message }),
    warn: (_: object, message: string) => void lines.push({ level: 'warn', message }),
    error: (_: object, message: string) => void lines.push({ level: 'error', message }),
  }
  return {
    namespace,
    node(own: Clock = clock) {
      const { nodeUrl, ...rest } = options()
      const shards = new RedisShards({ ...rest, nodeUrl, clock: own, log })
      test.teardown(() => shards.stop())
      return { shards, nodeUrl }
    },
    async process() {
      const child = new NodeProcess(options())
      test.teardown(() => {
        child.kill('SIGKILL')
        return child.ended()
      })
      await child.started()
      return child
    },
  }
}

async function startedNodes(test: Test, redisUrl: string, count: number): Promise<readonly TestNode[]> {
  const cluster = openCluster(test, redisUrl)
  const nodes = Array.from({ length: count }, () => cluster.node())
  await Promise.all(nodes.map(({ shards }) => shards.start()))
  await until(`${count} nodes settle`, () => settled(nodes))
  return nodes
}

/** How many shards came or went, at any of the nodes, since now. */
function countChanges(nodes: readonly TestNode[]): () => number {
  let count = 0
  for (const { shards } of nodes) shards.onChange(({ gained, lost }) => (count += gained.length + lost.length))
  return () => count
}

/**
 * Lets something happen by which no shard may come or go, and waits until the nodes and others (`more`) are settled.
 * A process that the machine keeps from running loses its leases by that: such a trial proves nothing, and is repeated.
 *
 * @returns how many shards came or went
 */
async function changesBy(
  nodes: readonly TestNode[],
  happen: () => Promise<void>,
  more: readonly NodeProcess[] = [],
): Promise<number> {
  const changes = countChanges(nodes)
  for (let trial = 1; ; trial++) {
    await until('the nodes are settled', () => settled([...nodes, ...more]))
    const before = changes()
    const longestGap = watchGaps()
    await happen()
    const stalledMs = longestGap()
    await until('the nodes are settled still', () => settled([...nodes, ...more]))
    const changed = changes() - before
    if (stalledMs < GAP_MAX_MS || changed === 0 || trial === TRIALS_MAX) return changed
  }
}

function elapse(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** A Redis that a test may break: the same program as the shared one, on a port of its own. */
async function ownServer(test: Test, extra: readonly string[] = []) {
  const executable = await executableOf(shared.url)
  const port = await freePort()
  const cwd = test.testdir()
  const url = `redis://127.0.0.1:${port}`
  let child = launch()
  const client = new Redis(url, { maxRetriesPerRequest: null })
  client.on('error', () => undefined)
  test.teardown(async () => {
    client.disconnect()
    await kill()
  })

  function launch() {
    const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...extra]
    return spawn(executable, settings, { stdio: ['ignore', 'ignore', 'inherit'], cwd })
  }
  async function kill(): Promise<void> {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  await client.ping()
  return {
    url,
    kill,
    signal: (name: 'SIGSTOP' | 'SIGCONT') => child.kill(name),
    async start(): Promise<void> {
      child = launch()
      await client.ping()
    },
    command: (name: string, ...args: string[]): Promise<unknown> => client.call(name, ...args),
  }
}

async function executableOf(url: string): Promise<string> {
  const client = new Redis(url)
  const path = /^executable:(.+)$/m.exec((await client.info('server')).replaceAll('\r', ''))?.[1] ?? ''
  client.disconnect()
  // A server that was found on the PATH reports its working directory as its own.
  return existsSync(path) ? path : basename(path)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

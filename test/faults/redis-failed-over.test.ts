import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { Redis } from 'ioredis'
import t from 'tap'

import { ClusterRedis, freePort, LEASE_MS, redisProgram } from '../support/cluster.ts'
import { ensureRedisServer } from '../support/redis.ts'
import { trial } from '../support/trial.ts'
import { until } from '../support/until.ts'

/**
 * Sentinel takes half a second to miss the master, and two or three to promote the replica; where processors are short
 * it tries again after six.
 */
const HOME_MS = 60_000

t.test(
  'the Redis master dies and its replica is promoted: homes settle by themselves, and no money changes',
  async (t) => {
    await (await ensureRedisServer()).stop()
    const program = await redisProgram()
    const directory = t.testdir()
    const open = async (args: readonly string[]) => {
      const redis = new ClusterRedis({ port: await freePort(), program, directory, args })
      t.teardown(() => redis.stop())
      await redis.start()
      return redis
    }
    const master = await open([])
    await open(['--replicaof', `127.0.0.1 ${master.port}`])
    const file = join(directory, 'sentinel.conf')
    await writeFile(
      file,
      [
        `sentinel monitor vostro 127.0.0.1 ${master.port} 1`,
        'sentinel down-after-milliseconds vostro 500',
        'sentinel failover-timeout vostro 3000',
        '',
      ].join('\n'),
    )
    const sentinel = await open([file, '--sentinel'])
    const asking = new Redis(sentinel.url)
    t.teardown(() => asking.disconnect())
    await until(
      'Sentinel knows of the replica',
      async () => ((await asking.call('sentinel', 'replicas', 'vostro')) as unknown[]).length === 1,
    )
    await trial(
      t,
      { nodes: 2, redis: false, env: { REDIS_URL: `redis+sentinel://127.0.0.1:${sentinel.port}/vostro` } },
      async ({ cluster, answers }) => {
        t.equal((await cluster.nodes[0]!.shards())?.held, 128)
        await master.stop()
        // By now every lease of before has ended.
        await pause(2 * LEASE_MS)
        await cluster.settled(HOME_MS)
        await answers()
        t.equal((await cluster.nodes[0]!.shards())?.held, 128)
      },
    )
  },
)

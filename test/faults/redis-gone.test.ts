import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'

import { trial } from '../support/trial.ts'

t.test('Redis is wiped, restarted, and gone for 20 s: at worst 503 with Retry-After, and no restart of ours', async t => {
  await trial(t, { nodes: 2 }, async ({ cluster, clients, answers }) => {
    const redis = cluster.redis!
    await redis.wipe()
    await answers()
    await cluster.settled()
    await redis.stop()
    await redis.start()
    await answers()
    await cluster.settled()
    const { calls } = clients.counts
    await redis.stop()
    await pause(20_000)
    const meanwhile = clients.history.calls.slice(calls)
    t.ok(meanwhile.some(({ status }) => status === 503), 'commands were turned away')
    t.ok(meanwhile.every(({ status, retryAfter }) => status !== 503 || retryAfter), 'and told when to come back')
    await redis.start()
    await answers()
    await cluster.settled()
  })
})

t.test('a single node knows of no Redis and needs none', async t => {
  await trial(t, { nodes: 1, redis: false }, async ({ answers }) => { await answers(100) })
})

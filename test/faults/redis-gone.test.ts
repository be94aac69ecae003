import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'

import { LEASE_MS } from '../support/cluster.ts'
import { trial } from '../support/trial.ts'

t.test(
  'Redis is wiped, restarted, and gone for three leases: at worst 503 with Retry-After, and no restart of ours',
  async (t) => {
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
      await pause(3 * LEASE_MS)
      const meanwhile = clients.history.calls.slice(calls)
      t.ok(
        meanwhile.some(({ status }) => status === 503),
        'commands were turned away',
      )
      t.ok(
        meanwhile.every(({ status, retryAfter }) => status !== 503 || retryAfter),
        'and told when to come back',
      )
      // Two faults at once may both start it, and a later fault stops it again.
      await Promise.all([redis.start(), redis.start()])
      await answers()
      await cluster.settled()
      await redis.stop()
      await redis.start()
      await answers()
      await cluster.settled()
    })
  },
)

import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'

import { LEASE_MS } from '../support/cluster.ts'
import { trial } from '../support/trial.ts'

/** Within 5 s, and something for a machine that does other things too. */
const HOME_MS = 8_000

t.test('one node stalls for three leases and comes back, another is killed, Redis is wiped meanwhile', async (t) => {
  await trial(t, { nodes: 3 }, async ({ cluster, answers }) => {
    const [stalled, killed] = cluster.nodes
    const back = stalled!.stall(3 * LEASE_MS)
    await cluster.settled(HOME_MS)
    t.pass('the others have the shards of the one that stalls')
    await answers()
    await killed!.kill()
    await cluster.redis!.wipe()
    await cluster.settled(HOME_MS)
    t.pass('and those of the one that was killed, although Redis has forgotten everything')
    await answers()
    await back
    await answers()
    await killed!.start()
    await cluster.settled()
    // The stalled node has sent its remaining messages by now.
    await pause(500)
  })
})

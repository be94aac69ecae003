import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'

import { LEASE_MS } from '../support/cluster.ts'
import { trial } from '../support/trial.ts'

/** Within 5 s, and something for a machine that does other things too; the node that stalls is back soon after. */
const HOME_MS = 8_000
/** On a machine that does much else the others may be too late; then it stalls again. */
const STALLS_MAX = 3

t.test('one node stalls for three leases and comes back, another is killed, Redis is wiped meanwhile', async (t) => {
  await trial(t, { nodes: 3 }, async ({ cluster, answers }) => {
    const [stalled, killed] = cluster.nodes
    let back = Promise.resolve()
    let haveHomes = false
    for (let stall = 1; stall <= STALLS_MAX && !haveHomes; stall++) {
      await back
      await cluster.settled()
      back = stalled!.stall(3 * LEASE_MS)
      haveHomes = await cluster.settled(HOME_MS).then(
        () => true,
        () => false,
      )
    }
    t.ok(haveHomes, 'the others have the shards of the one that stalls')
    await answers()
    await killed!.kill()
    await cluster.redis!.wipe()
    await cluster.settled()
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

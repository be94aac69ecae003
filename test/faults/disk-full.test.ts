import t from 'tap'

import type { SmallDisk } from '../support/cluster.ts'
import { trial } from '../support/trial.ts'
import { until } from '../support/until.ts'

/** Refused commands before there is room again: about a second of all clients. */
const REFUSALS = 50

t.test('the disk is full: refused cleanly, nothing half written, and on when there is room again', async (t) => {
  let disk: SmallDisk | string = 'not tried'
  await trial(
    t,
    {
      nodes: 1,
      redis: false,
      before: async (cluster) => {
        disk = await cluster.smallDisk()
      },
    },
    async ({ clients, answers }) => {
      if (typeof disk === 'string') {
        t.comment(`not filled: ${disk}`)
        return
      }
      const { calls } = clients.counts
      await disk.fill()
      // More than the commands that were under way when the disk became full.
      await until(
        'commands are turned away again and again',
        () => clients.history.calls.slice(calls).filter(({ status }) => status === 503).length >= REFUSALS,
      )
      await disk.free()
      await answers(100)
    },
  )
})

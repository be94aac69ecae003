import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'

import type { SmallDisk } from '../support/cluster.ts'
import { trial } from '../support/trial.ts'
import { until } from '../support/until.ts'

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
      await until('somebody is turned away', () =>
        clients.history.calls.slice(calls).some(({ status }) => status === 503),
      )
      await pause(3_000)
      await disk.free()
      await answers(100)
    },
  )
})

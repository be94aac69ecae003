import t from 'tap'

import { trial } from '../support/trial.ts'

t.test('two nodes without leases write to the same customers: the fences keep the money right', async (t) => {
  await trial(t, { nodes: 2, env: { LEASES: 'off' } }, async ({ cluster, answers }) => {
    await answers(300)
    await cluster.nodes[0]!.kill()
    await answers()
    await cluster.nodes[0]!.start()
    await cluster.nodes[1]!.stall(2_000)
    await answers()
  })
})

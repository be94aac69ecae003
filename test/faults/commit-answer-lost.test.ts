import t from 'tap'

import { trial } from '../support/trial.ts'
import { until } from '../support/until.ts'

t.test(
  'answers to COMMIT are lost, and a node is cut off from Postgres: looked up by their keys, never done again',
  async (t) => {
    await trial(t, { nodes: 2 }, async ({ cluster, answers }) => {
      for (const { wire } of [...cluster.nodes, ...cluster.nodes]) {
        const before = wire.lost
        wire.loseCommitAnswers(4)
        await until('four answers are lost', () => wire.lost >= before + 4)
        wire.mend()
        await answers()
      }
      const { wire } = cluster.nodes[0]!
      wire.cut()
      await until(
        'a node without its database says that it is not ready',
        async () => (await cluster.nodes[0]!.shards())?.status === 503,
      )
      t.equal((await cluster.nodes[0]!.shards())?.status, 503, 'and goes on saying so')
      wire.mend()
      await answers()
      await cluster.settled()
    })
  },
)

import t from 'tap'

import { trial } from '../support/trial.ts'

t.test('Postgres crashes, and sessions are terminated, under two nodes', async (t) => {
  await trial(t, { nodes: 2 }, async ({ cluster, answers }) => {
    for (let round = 0; round < 2; round++) {
      await cluster.crashPostgres()
      await cluster.settled()
      await answers()
      t.ok((await cluster.terminateBackends()) >= 4, 'the sessions of both nodes are cut')
      await answers()
    }
  })
})

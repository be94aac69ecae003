/** P12: two nodes on one Postgres and one Redis. Requests come to both; each is done where its customer is at home. */
import { alternate } from '../measurement.ts'
import { judge, type Scenario } from '../scenario.ts'
import { paymentOperation, startNodes, startService } from '../subject.ts'

const NODES = 2
const CONNECTIONS = 64

export const p12: Scenario = {
  id: 'P12',
  title: 'two nodes, requests sprayed at both, 1 000 balances',
  async run(bench) {
    await using one = await startService(bench, { dispatch: false, name: 'one node' })
    await using two = await startNodes(bench, NODES)
    const load = { operations: bench.databases.payers.map(paymentOperation), connections: CONNECTIONS }
    const measured = await alternate(bench.seconds, {
      one: (seconds) => one.measure({ ...load, seconds }),
      two: (seconds) => two.measure({ ...load, seconds }),
    })
    const failures = measured.one.failures + measured.two.failures
    return [
      judge({
        id: 'P12',
        scenario: p12.title,
        value: measured.two.rate,
        unit: 'payments/s',
        p50Ms: measured.two.p50Ms,
        p99Ms: measured.two.p99Ms,
        baselines: { oneNode: measured.one.rate },
        targets: [{ baseline: 'oneNode', times: 0.9, direction: 'atLeast' }],
        conditions: [
          { name: 'no failed request', holds: failures === 0, found: `${failures}` },
          ...(await two.conditions()),
          ...(await one.conditions()),
        ],
      }),
    ]
  },
}

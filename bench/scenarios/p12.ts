/** P12: two nodes on one Postgres and one Redis. Requests come to both; each is done where its customer is at home. */
import { alternate } from '../measurement.ts'
import { judge, type Scenario } from '../scenario.ts'
import { measureFresh, paymentOperation, startNodes, startService, type Subject } from '../subject.ts'

const NODES = 2
const CONNECTIONS = 64

export const p12: Scenario = {
  id: 'P12',
  title: 'two nodes, requests sprayed at both, 1 000 balances',
  async run(bench) {
    const load = { operations: bench.databases.payers.map(paymentOperation), connections: CONNECTIONS }
    const measured = (start: () => Promise<Subject>) => (seconds: number) =>
      measureFresh(start, (subject) => subject.measure({ ...load, seconds }))
    const { one, two } = await alternate(bench.seconds, {
      one: measured(() => startService(bench, { dispatch: false, name: 'one node' })),
      two: measured(() => startNodes(bench, NODES)),
    })
    const failures = one.failures + two.failures
    return [
      judge({
        id: 'P12',
        scenario: p12.title,
        value: two.rate,
        unit: 'payments/s',
        p50Ms: two.p50Ms,
        p99Ms: two.p99Ms,
        baselines: { oneNode: one.rate },
        figures: { own: two.rates, oneNode: one.rates },
        targets: [{ baseline: 'oneNode', times: 0.9, direction: 'atLeast' }],
        conditions: [
          { name: 'no failed request', holds: failures === 0, found: `${failures}` },
          ...two.conditions,
          ...one.conditions,
        ],
      }),
    ]
  },
}

/**
 * P3: latency under a steady load. Each side gets requests at half of the rate that it reached over a thousand
 * balances, whatever it does with them, so the service has to be as quick as the baseline at several times its load.
 */
import { alternate } from '../measurement.ts'
import { judge, type Bench, type Scenario } from '../scenario.ts'
import {
  measureFresh,
  paymentOperation,
  startRowLock,
  startService,
  type Measurement,
  type Subject,
} from '../subject.ts'

/** Enough that a request never waits for a connection while the server keeps up. */
const CONNECTIONS = 128
/** P2's: a peak is measured with as many connections as there. */
const PEAK_CONNECTIONS = 64

export const p3: Scenario = {
  id: 'P3',
  title: 'open loop at half of its peak, 1 000 balances: p99',
  async run(bench) {
    const measured = (start: () => Promise<Subject>) => (seconds: number) =>
      measureFresh(start, (subject) => atHalf(bench, subject, seconds))
    const { rowLock, service } = await alternate(bench.seconds, {
      rowLock: measured(() => startRowLock(bench)),
      service: measured(() => startService(bench, { dispatch: false })),
    })
    return [
      judge({
        id: 'P3',
        scenario: `${p3.title} at ${service.rate.toFixed(0)}/s against ${rowLock.rate.toFixed(0)}/s`,
        value: service.p99Ms,
        unit: 'ms',
        p50Ms: service.p50Ms,
        p99Ms: service.p99Ms,
        baselines: { rowLock: rowLock.p99Ms },
        figures: { own: service.p99s, rowLock: rowLock.p99s },
        targets: [{ baseline: 'rowLock', times: 1, direction: 'atMost' }],
        conditions: [
          { name: 'no failed request', holds: service.failures === 0, found: `${service.failures}` },
          ...service.conditions,
        ],
      }),
    ]
  },
}

/**
 * Half of the rate that the very process has just reached, which is warm then: its first seconds are its compiler's.
 * What the peak has left to its followers is done before, as it would not be there under a steady load.
 */
async function atHalf(bench: Bench, subject: Subject, seconds: number): Promise<Measurement> {
  const operations = bench.databases.payers.map(paymentOperation)
  const { rate } = await subject.measure({ operations, connections: PEAK_CONNECTIONS, seconds })
  await subject.rest()
  return await subject.measure({ operations, connections: CONNECTIONS, seconds, arrivalsPerSecond: rate / 2 })
}

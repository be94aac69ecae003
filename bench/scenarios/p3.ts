/**
 * P3: latency under a steady load. Each side gets requests at half of the rate that it reached over a thousand
 * balances, whatever it does with them, so the service has to be as quick as the baseline at several times its load.
 */
import { alternate } from '../measurement.ts'
import { judge, type Bench, type Scenario } from '../scenario.ts'
import { paymentOperation, startRowLock, startService, type Subject } from '../subject.ts'

/** Enough that a request never waits for a connection while the server keeps up. */
const CONNECTIONS = 128
/** P2's: a peak is measured with as many connections as there. */
const PEAK_CONNECTIONS = 64

export const p3: Scenario = {
  id: 'P3',
  title: 'open loop at half of its peak, 1 000 balances: p99',
  async run(bench) {
    await using rowLock = await startRowLock(bench)
    await using service = await startService(bench, { dispatch: false })
    const rowLockRate = (await peak(bench, rowLock)) / 2
    const serviceRate = (await peak(bench, service)) / 2
    const load = { operations: bench.databases.payers.map(paymentOperation), connections: CONNECTIONS }
    const measured = await alternate(bench.seconds, {
      rowLock: (seconds) => rowLock.measure({ ...load, seconds, arrivalsPerSecond: rowLockRate }),
      service: (seconds) => service.measure({ ...load, seconds, arrivalsPerSecond: serviceRate }),
    })
    return [
      judge({
        id: 'P3',
        scenario: `${p3.title} at ${serviceRate.toFixed(0)}/s against ${rowLockRate.toFixed(0)}/s`,
        value: measured.service.p99Ms,
        unit: 'ms',
        p50Ms: measured.service.p50Ms,
        p99Ms: measured.service.p99Ms,
        baselines: { rowLock: measured.rowLock.p99Ms },
        targets: [{ baseline: 'rowLock', times: 1, direction: 'atMost' }],
        conditions: [
          { name: 'no failed request', holds: measured.service.failures === 0, found: `${measured.service.failures}` },
          ...(await service.conditions()),
        ],
      }),
    ]
  },
}

/**
 * Measured on the very processes whose latency is asked for, which are warm then: their first seconds are their
 * compiler's.
 */
async function peak(bench: Bench, subject: Subject): Promise<number> {
  const { rate } = await subject.measure({
    operations: bench.databases.payers.map(paymentOperation),
    connections: PEAK_CONNECTIONS,
    seconds: bench.seconds / 2,
  })
  return rate
}

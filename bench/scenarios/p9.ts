/** P9: P2 on a ledger with a past. What is written must not grow slower with what was written before. */
import { loadHistory } from '../history.ts'
import { alternate } from '../measurement.ts'
import { judge, type Scenario } from '../scenario.ts'
import { measureFresh, paymentOperation, startService } from '../subject.ts'

const LINES = 10_000_000
const CONNECTIONS = 64

export const p9: Scenario = {
  id: 'P9',
  title: 'POST /payments, 1 000 balances, on 10 million journal lines',
  async run(bench) {
    await using database = await bench.databases.clone('full')
    const lines = await loadHistory(database, { lines: LINES * bench.scale }, bench.log)
    const load = { operations: bench.databases.payers.map(paymentOperation), connections: CONNECTIONS }
    const { empty, full } = await alternate(bench.seconds, {
      empty: (seconds) =>
        measureFresh(
          () => startService(bench, { dispatch: false, name: 'empty' }),
          (subject) => subject.measure({ ...load, seconds }),
        ),
      full: (seconds) =>
        measureFresh(
          () => startService(bench, { dispatch: false, name: 'full', database }),
          async (subject) => {
            const measured = await subject.measure({ ...load, seconds })
            // The next process stands on the same database, and shall not have to do the rest.
            await subject.rest()
            return measured
          },
        ),
    })
    const failures = full.failures + empty.failures
    return [
      judge({
        id: 'P9',
        scenario: `POST /payments, 1 000 balances, on ${lines} journal lines`,
        value: full.rate,
        unit: 'payments/s',
        p50Ms: full.p50Ms,
        p99Ms: full.p99Ms,
        baselines: { emptyLedger: empty.rate },
        figures: { own: full.rates, emptyLedger: empty.rates },
        targets: [{ baseline: 'emptyLedger', times: 0.9, direction: 'atLeast' }],
        conditions: [
          { name: 'no failed request', holds: failures === 0, found: `${failures}` },
          ...full.conditions,
          ...empty.conditions,
        ],
      }),
    ]
  },
}

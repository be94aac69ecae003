/** P9: P2 on a ledger with a past. What is written must not grow slower with what was written before. */
import { loadHistory } from '../history.ts'
import { alternate } from '../measurement.ts'
import { judge, type Scenario } from '../scenario.ts'
import { paymentOperation, startService } from '../subject.ts'

const LINES = 10_000_000
const CONNECTIONS = 64

export const p9: Scenario = {
  id: 'P9',
  title: 'POST /payments, 1 000 balances, on 10 million journal lines',
  async run(bench) {
    let lines = 0
    await using full = await startService(bench, {
      dispatch: false,
      name: 'full',
      prepare: async (database) => {
        lines = await loadHistory(database, { lines: LINES * bench.scale }, bench.log)
      },
    })
    await using empty = await startService(bench, { dispatch: false, name: 'empty' })
    const load = { operations: bench.databases.payers.map(paymentOperation), connections: CONNECTIONS }
    const measured = await alternate(bench.seconds, {
      empty: (seconds) => empty.measure({ ...load, seconds }),
      full: (seconds) => full.measure({ ...load, seconds }),
    })
    const failures = measured.full.failures + measured.empty.failures
    return [
      judge({
        id: 'P9',
        scenario: `POST /payments, 1 000 balances, on ${lines} journal lines`,
        value: measured.full.rate,
        unit: 'payments/s',
        p50Ms: measured.full.p50Ms,
        p99Ms: measured.full.p99Ms,
        baselines: { emptyLedger: measured.empty.rate },
        targets: [{ baseline: 'emptyLedger', times: 0.9, direction: 'atLeast' }],
        conditions: [
          { name: 'no failed request', holds: failures === 0, found: `${failures}` },
          ...(await full.conditions()),
          ...(await empty.conditions()),
        ],
      }),
    ]
  },
}

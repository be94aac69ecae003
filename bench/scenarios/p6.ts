/**
 * P6: what treasury systems poll all day. A balance with and without a tag that still holds, and a journal page of 25,
 * each against the bare server's GET; then a thousand pollers beside a load of payments, none of whom may be turned
 * away.
 */
import { loadHistory } from '../history.ts'
import type { Payer } from '../database.ts'
import type { Operation } from '../load-plan.ts'
import { alternate } from '../measurement.ts'
import { judge, type Result, type Scenario } from '../scenario.ts'
import { paymentOperation, startBare, startService, type Subject } from '../subject.ts'

const CONNECTIONS = 64
/** More than a page for each of a thousand balances. */
const LINES = 40_000
const POLLERS = 1_000
/** Of ten arrivals six read a balance, two a journal page, and two pay. */
const ARRIVALS_PER_SECOND = 1_000

const headersOf = ({ customerId, apiKey }: Payer) => ({ Authorization: `Bearer ${apiKey}`, 'X-Tenant-Id': customerId })

const balanceOperation = (payer: Payer): Operation => [
  { method: 'GET', path: `/v1/balances/${payer.balanceId}`, headers: headersOf(payer), expect: 200 },
]
const journalOperation = (payer: Payer): Operation => [
  { method: 'GET', path: `/v1/balances/${payer.balanceId}/journal`, headers: headersOf(payer), expect: 200 },
]

/** Reads of balances whose tags still hold: nobody may write meanwhile. */
async function unchangedOperations({ url }: Subject, payers: readonly Payer[]): Promise<Operation[]> {
  return await Promise.all(
    payers.map(async (payer): Promise<Operation> => {
      const path = `/v1/balances/${payer.balanceId}`
      const answer = await fetch(`${url}${path}`, { headers: headersOf(payer) })
      await answer.arrayBuffer()
      return [
        {
          method: 'GET',
          path,
          headers: { ...headersOf(payer), 'If-None-Match': answer.headers.get('etag') as string },
          expect: 304,
        },
      ]
    }),
  )
}

export const p6: Scenario = {
  id: 'P6',
  title: 'polling: balances and journals',
  async run(bench) {
    const { payers } = bench.databases
    await using bare = await startBare(bench)
    await using service = await startService(bench, {
      dispatch: false,
      prepare: async (database) => {
        await loadHistory(database, { lines: LINES * Math.max(bench.scale, 0.25) }, bench.log)
      },
    })
    const bareGet: Operation = [{ method: 'GET', path: `/v1/balances/${payers[0]!.balanceId}`, expect: 200 }]

    async function compare(variant: string, operations: readonly Operation[], times: number): Promise<Result> {
      const measured = await alternate(bench.seconds, {
        bare: (seconds) => bare.measure({ operations: [bareGet], connections: CONNECTIONS, seconds }),
        service: (seconds) => service.measure({ operations, connections: CONNECTIONS, seconds }),
      })
      const failures = measured.service.failures + measured.bare.failures
      return judge({
        id: 'P6',
        scenario: variant,
        value: measured.service.rate,
        unit: 'requests/s',
        p50Ms: measured.service.p50Ms,
        p99Ms: measured.service.p99Ms,
        baselines: { bare: measured.bare.rate },
        targets: [{ baseline: 'bare', times, direction: 'atLeast' }],
        conditions: [{ name: 'no failed request', holds: failures === 0, found: `${failures}` }],
      })
    }

    const results = [
      await compare('GET a balance, 200', payers.map(balanceOperation), 0.5),
      await compare('GET a balance, 304', await unchangedOperations(service, payers), 0.5),
      await compare('GET a journal page of 25', payers.map(journalOperation), 0.2),
    ]
    const poll = [
      ...Array.from({ length: 3 }, () => payers.map(balanceOperation)).flat(),
      ...payers.map(journalOperation),
      ...payers.map(paymentOperation),
    ]
    const beside = await service.measure({
      operations: poll,
      connections: POLLERS,
      arrivalsPerSecond: ARRIVALS_PER_SECOND,
      seconds: bench.seconds,
    })
    results.push(
      judge({
        id: 'P6',
        scenario: `${POLLERS} pollers, ${ARRIVALS_PER_SECOND} requests/s, a fifth of them payments`,
        value: beside.rate,
        unit: 'requests/s',
        p50Ms: beside.p50Ms,
        p99Ms: beside.p99Ms,
        baselines: {},
        targets: [],
        conditions: [
          { name: 'no failed request', holds: beside.failures === 0, found: `${beside.failures}` },
          ...(await service.conditions()),
        ],
      }),
    )
    return results
  },
}

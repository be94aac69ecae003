/**
 * P6: what treasury systems poll all day. A balance with and without a tag that still holds, and a journal page of 25,
 * each against the bare server's GET; then a thousand pollers beside a load of payments, none of whom may be turned
 * away.
 */
import { loadHistory } from '../history.ts'
import type { Payer } from '../database.ts'
import type { Operation } from '../load-plan.ts'
import { alternate } from '../measurement.ts'
import { judge, type Bench, type Result, type Scenario } from '../scenario.ts'
import { measureFresh, paymentOperation, startBare, startService, type Subject } from '../subject.ts'

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
  const operations: Operation[] = []
  // One after the other: a service that has just started turns away what it cannot do at once.
  for (const payer of payers) {
    const path = `/v1/balances/${payer.balanceId}`
    const answer = await fetch(`${url}${path}`, { headers: headersOf(payer) })
    await answer.arrayBuffer()
    const tag = answer.headers.get('etag')
    if (tag === null) throw new Error(`A balance has no tag: ${answer.status}.`)
    operations.push([{ method: 'GET', path, headers: { ...headersOf(payer), 'If-None-Match': tag }, expect: 304 }])
  }
  return operations
}

export const p6: Scenario = {
  id: 'P6',
  title: 'polling: balances and journals',
  async run(bench) {
    const { payers } = bench.databases
    await using database = await bench.databases.clone('polled')
    await loadHistory(database, { lines: LINES * Math.max(bench.scale, 0.25) }, bench.log)
    const start = () => startService(bench, { dispatch: false, database })
    const bareGet: Operation = [{ method: 'GET', path: `/v1/balances/${payers[0]!.balanceId}`, expect: 200 }]

    async function compare(
      variant: string,
      operationsFor: (subject: Subject) => readonly Operation[] | Promise<readonly Operation[]>,
      times: number,
    ): Promise<Result> {
      const { bare, service } = await alternate(bench.seconds, {
        bare: (seconds) =>
          measureFresh(
            () => startBare(bench),
            (subject) => subject.measure({ operations: [bareGet], connections: CONNECTIONS, seconds }),
          ),
        service: (seconds) =>
          measureFresh(start, async (subject) =>
            subject.measure({ operations: await operationsFor(subject), connections: CONNECTIONS, seconds }),
          ),
      })
      const failures = service.failures + bare.failures
      return judge({
        id: 'P6',
        scenario: variant,
        value: service.rate,
        unit: 'requests/s',
        p50Ms: service.p50Ms,
        p99Ms: service.p99Ms,
        baselines: { bare: bare.rate },
        figures: { own: service.rates, bare: bare.rates },
        targets: [{ baseline: 'bare', times, direction: 'atLeast' }],
        conditions: [{ name: 'no failed request', holds: failures === 0, found: `${failures}` }],
      })
    }

    return [
      await compare('GET a balance, 200', () => payers.map(balanceOperation), 0.5),
      await compare('GET a balance, 304', (subject) => unchangedOperations(subject, payers), 0.5),
      await compare('GET a journal page of 25', () => payers.map(journalOperation), 0.2),
      await besidePayments(bench, start),
    ]
  },
}

async function besidePayments(bench: Bench, start: () => Promise<Subject>): Promise<Result> {
  const { payers } = bench.databases
  const operations = [
    ...Array.from({ length: 3 }, () => payers.map(balanceOperation)).flat(),
    ...payers.map(journalOperation),
    ...payers.map(paymentOperation),
  ]
  const { beside } = await alternate(bench.seconds, {
    beside: (seconds) =>
      measureFresh(start, async (subject) => {
        const load = { operations, connections: POLLERS, arrivalsPerSecond: ARRIVALS_PER_SECOND, seconds }
        const measured = await subject.measure(load)
        // The next process stands on the same database, and shall not have to do the rest.
        await subject.rest()
        return measured
      }),
  })
  return judge({
    id: 'P6',
    scenario: `${POLLERS} pollers, ${ARRIVALS_PER_SECOND} requests/s, a fifth of them payments`,
    value: beside.rate,
    unit: 'requests/s',
    p50Ms: beside.p50Ms,
    p99Ms: beside.p99Ms,
    baselines: {},
    figures: { own: beside.rates },
    targets: [],
    conditions: [
      { name: 'no failed request', holds: beside.failures === 0, found: `${beside.failures}` },
      ...beside.conditions,
    ],
  })
}

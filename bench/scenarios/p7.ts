/**
 * P7: a quote, and the exchange that uses it, one after the other: from a thousand balances of a hundred customers, and
 * all from one balance. What the partner makes of the exchanges comes seconds later and is not waited for; like the
 * payments of P1 and P2 they are left with it.
 *
 * Two requests are counted as one pair, and held against single requests of the bare server.
 */
import type { Payer } from '../database.ts'
import { CAPTURED_ID, FRESH_KEY, type Operation } from '../load-plan.ts'
import { alternate } from '../measurement.ts'
import { judge, type Bench, type Condition, type Result, type Scenario } from '../scenario.ts'
import { cleanAudit, measureFresh, paymentOperation, startBare, startService, type Subject } from '../subject.ts'

const CONNECTIONS = 64

export const p7: Scenario = {
  id: 'P7',
  title: 'quote and exchange, 64 connections',
  run: async (bench) => [
    await exchange(bench, `${p7.title}, 1 000 balances`, bench.databases.payers),
    await exchange(bench, `${p7.title}, one balance`, bench.databases.payers.slice(0, 1)),
  ],
}

async function exchange(bench: Bench, scenario: string, payers: readonly Payer[]): Promise<Result> {
  const { bare, service } = await alternate(bench.seconds, {
    bare: (seconds) =>
      measureFresh(
        () => startBare(bench),
        (subject) => subject.measure({ operations: payers.map(paymentOperation), connections: CONNECTIONS, seconds }),
      ),
    service: (seconds) =>
      measureFresh(
        () => startService(bench, { dispatch: false }),
        (subject) => subject.measure({ operations: payers.map(exchangeOperation), connections: CONNECTIONS, seconds }),
        booked,
      ),
  })
  const failures = service.failures + bare.failures
  return judge({
    id: 'P7',
    scenario,
    value: service.rate,
    unit: 'pairs/s',
    p50Ms: service.p50Ms,
    p99Ms: service.p99Ms,
    baselines: { bare: bare.rate },
    figures: { own: service.rates, bare: bare.rates },
    targets: [{ baseline: 'bare', times: 0.12, direction: 'atLeast' }],
    conditions: [{ name: 'no failed request', holds: failures === 0, found: `${failures}` }, ...service.conditions],
  })
}

/** `POST /exchanges/quotes` of a small amount, and `POST /exchanges` with its answer. */
export function exchangeOperation({ customerId, apiKey, balanceId, dollarBalanceId }: Payer): Operation {
  const headers = { Authorization: `Bearer ${apiKey}`, 'X-Tenant-Id': customerId }
  return [
    {
      method: 'POST',
      path: '/v1/exchanges/quotes',
      headers,
      expect: 201,
      capture: true,
      body: JSON.stringify({
        sellCurrency: 'EUR',
        buyCurrency: 'USD',
        amount: { amountMinor: '10000', currency: 'EUR' },
        fixedSide: 'sell',
      }),
    },
    {
      method: 'POST',
      path: '/v1/exchanges',
      headers: { ...headers, 'Idempotency-Key': FRESH_KEY },
      expect: 201,
      body: JSON.stringify({ quoteId: CAPTURED_ID, sellBalanceId: balanceId, buyBalanceId: dollarBalanceId }),
    },
  ]
}

/** Clean books, a quote or an exchange for every 201, and for every exchange its money. */
async function booked(service: Subject): Promise<Condition[]> {
  const [row] = await service.database!.query<{ quotes: number; exchanges: number; booked: number }>(
    `select (select count(*)::int from quote) as quotes, (select count(*)::int from exchange) as exchanges,
      (select count(distinct source_id)::int from posting where rule = 'L30') as booked`,
  )
  const { quotes, exchanges, booked } = row!
  return [
    await cleanAudit('service', service.database!),
    {
      name: 'a row for every 201',
      holds: quotes + exchanges >= service.accepted && quotes >= exchanges && exchanges === booked,
      found: `${quotes} quotes, ${exchanges} exchanges, ${booked} of them booked, ${service.accepted} answers`,
    },
  ]
}

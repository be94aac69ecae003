/**
 * P10: memory. A payment from every one of a hundred thousand balances, one after the other, so that each of them comes
 * to life in the node; then nothing, until those that nobody asks for have been forgotten.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import { systemClock } from '../../lib/base/clock.ts'
import { createIdSource } from '../../lib/base/ids.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { Database } from '../../storage/db/database.ts'
import { createSandboxCustomers, type CreatedCustomer } from '../../storage/seed/seed-customers.ts'
import type { BenchDatabase } from '../database.ts'
import { median, mergeConditions, ROUNDS } from '../measurement.ts'
import { judge, type Bench, type Condition, type Scenario } from '../scenario.ts'
import { cleanAudit, freePort, paymentOperation, startService } from '../subject.ts'

const BALANCES = 100_000
const BALANCES_PER_CUSTOMER = 100
const RESIDENT_MAX_MB = 600
const CONCURRENCY = 64
/**
 * Before anything is touched the service runs under load for a moment, or its first memory would be a cold process's.
 */
const HEAT_CONNECTIONS = 64
/** Forgetting takes the idle time and a look, and giving memory back takes the engine a while after it. */
const PASSIVATION_MS = LIMITS.activationIdleMs * 1.5
/** Of what touching added, so much may stay: heaps keep some room. */
const KEPT_MAX = 0.5
const LOOK_MS = 200
/** Customers made in one transaction. */
const TOGETHER = 50

export const p10: Scenario = {
  id: 'P10',
  title: '100 000 balances touched: resident memory',
  async run(bench) {
    const count = Math.max(BALANCES_PER_CUSTOMER, Math.round(BALANCES * bench.scale))
    await using database = await bench.databases.clone('memory')
    const customers = await makeCustomers(database, count / BALANCES_PER_CUSTOMER)
    const rounds: Memory[] = []
    for (let round = 0; round < ROUNDS; round++) rounds.push(await touched(bench, database, customers))
    const most = rounds.map((round) => round.most)
    return [
      judge({
        id: 'P10',
        scenario: `${count} balances touched: resident memory`,
        value: median(most),
        unit: 'MB',
        p50Ms: null,
        p99Ms: null,
        baselines: {},
        figures: { own: { each: most, cpu: null } },
        targets: [],
        conditions: [
          { name: '≤ 600 MB', holds: median(most) <= RESIDENT_MAX_MB, found: `${median(most).toFixed(0)} MB` },
          ...mergeConditions(rounds.map(({ conditions }) => conditions)),
        ],
      }),
    ]
  },
}

/** What a process came to. */
interface Memory {
  readonly most: number
  readonly conditions: readonly Condition[]
}

/** A fresh process, and its memory before every balance was touched, then, and when they were forgotten. */
async function touched(bench: Bench, database: BenchDatabase, customers: readonly CreatedCustomer[]): Promise<Memory> {
  const metricsPort = await freePort()
  await using service = await startService(bench, { dispatch: false, metricsPort, database })
  await service.heat({ operations: bench.databases.payers.map(paymentOperation), connections: HEAT_CONNECTIONS })
  const before = service.residentMb()
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, service.residentMb())
  }, LOOK_MS)
  const begin = performance.now()
  const failures = await touchAll(service.url, customers)
  bench.log(
    `  balances touched in ${((performance.now() - begin) / 1000).toFixed(0)} s: ${before.toFixed(0)} MB before, at most ${most.toFixed(0)} MB`,
  )
  const alive = await actors(metricsPort)
  await pause(PASSIVATION_MS)
  clearInterval(watch)
  const [after, left] = [service.residentMb(), await actors(metricsPort)]
  bench.log(
    `  after ${PASSIVATION_MS / 1000} s of rest: ${after.toFixed(0)} MB, ${left} balances in memory of ${alive}`,
  )
  return {
    most,
    conditions: [
      {
        name: 'back down after passivation',
        holds: left === 0 && after <= before + (most - before) * KEPT_MAX,
        found: `${before.toFixed(0)} MB before, ${most.toFixed(0)} MB at most, ${after.toFixed(0)} MB after; ${left} balances left in memory`,
      },
      { name: 'no failed request', holds: failures === 0, found: `${failures}` },
      await cleanAudit('service', database),
    ],
  }
}

async function makeCustomers({ url, query }: BenchDatabase, count: number): Promise<CreatedCustomer[]> {
  const [operator] = await query<{ operatorId: string; connectionId: string }>(
    'select operator_id as "operatorId", id as "connectionId" from provider_connection order by id limit 1',
  )
  const database = new Database(url, 1)
  try {
    const world = { database, clock: systemClock, ids: createIdSource(systemClock), ...operator! }
    const made: CreatedCustomer[] = []
    for (let from = 0; from < count; from += TOGETHER) {
      made.push(
        ...(await createSandboxCustomers(
          world,
          Array.from({ length: Math.min(TOGETHER, count - from) }, (_, nth) => ({
            legalName: `Memory ${from + nth} Ltd`,
            number: `MEMORY-${from + nth}`,
            recipients: true,
            balances: Array.from({ length: BALANCES_PER_CUSTOMER }, (__, own) => ({
              currency: 'EUR' as const,
              amount: 10_000n,
              name: `Balance ${own + 1}`,
            })),
          })),
        )),
      )
    }
    return made
  } finally {
    await database.close()
  }
}

/** A payment from each. @returns how many were not accepted */
async function touchAll(url: string, customers: readonly CreatedCustomer[]): Promise<number> {
  const pool = new Pool(url, { connections: CONCURRENCY })
  const work = customers.flatMap((customer) => customer.balanceIds.map((balanceId) => ({ customer, balanceId })))
  let next = 0
  let failures = 0
  try {
    await Promise.all(
      Array.from({ length: CONCURRENCY }, async () => {
        while (next < work.length) {
          const { customer, balanceId } = work[next++]!
          const { statusCode, body } = await pool.request({
            method: 'POST',
            path: '/v1/payments',
            headers: {
              authorization: `Bearer ${customer.apiKey}`,
              'x-tenant-id': customer.id,
              'idempotency-key': randomUUID(),
              'content-type': 'application/json',
            },
            body: JSON.stringify({
              sourceBalanceId: balanceId,
              recipientId: customer.recipients!.EUR,
              amount: { amountMinor: '100', currency: 'EUR' },
              reference: 'Invoice 42',
            }),
          })
          await body.dump()
          if (statusCode !== 201) failures += 1
        }
      }),
    )
  } finally {
    await pool.close()
  }
  return failures
}

/** Balances in the node's memory, by its own word. */
async function actors(metricsPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  return Number(/^vostro_actors_balance (\d+)$/m.exec(text)?.[1])
}

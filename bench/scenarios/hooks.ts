/**
 * HOOKS: webhooks of a banking partner. The partner tells of payments that it has taken, each fact twice and in no
 * order, at a thousand a second; the service keeps each event once, and every payment ends as the partner says.
 *
 * The processor time holds the whole of it: the signature, the event in the inbox, the messages and what they post.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { generateSecret } from '../../lib/webhooks/signature.ts'
import { cpuText, meanCpu, type CpuPerOperation } from '../cpu-shares.ts'
import type { BenchDatabase } from '../database.ts'
import { Histogram, type SparseHistogram } from '../histogram.ts'
import type { Operation } from '../load-plan.ts'
import { median, mergeConditions, ROUNDS } from '../measurement.ts'
import { judge, type Bench, type Condition, type Scenario } from '../scenario.ts'
import { paymentOperation, startService } from '../subject.ts'
import type { SenderPlan, SenderReport } from '../webhook-sender.ts'

const PER_SECOND = 1_000
const CONNECTIONS = 64
/** An amount with which the sandbox bank takes a payment and says nothing of it. */
const SILENT = '1701'
/** The time in which what waits is used after the last webhook, for a rate that is kept up with. */
const LATE_MAX_MS = 5_000
const DRAIN_MS = 300_000
const POLL_MS = 50
/** The partner's messages about payments in turn, and how each payment ends. */
const STORIES = [
  { types: ['settled'], ends: 'completed' },
  { types: ['settled', 'returned'], ends: 'returned' },
  { types: ['pending', 'settled', 'pending'], ends: 'completed' },
  { types: ['rejected'], ends: 'failed' },
  { types: ['pending', 'settled', 'returned'], ends: 'returned' },
] as const
/** Webhooks of one payment, on average: each fact is told twice. */
const TOLD_TIMES = (2 * STORIES.reduce((sum, { types }) => sum + types.length, 0)) / STORIES.length

export const hooks: Scenario = {
  id: 'HOOKS',
  title: 'webhooks of a banking partner, doubled and in no order',
  async run(bench) {
    const floods: Flood[] = []
    for (let round = 0; round < ROUNDS; round++) floods.push(await flood(bench, bench.seconds / ROUNDS))
    const latencies = new Histogram()
    for (const each of floods) latencies.addAll(each.latencies)
    return [
      judge({
        id: 'HOOKS',
        scenario: `${PER_SECOND} a second, each twice, in no order`,
        value: median(floods.map(({ perSecond }) => perSecond)),
        unit: 'webhooks/s',
        p50Ms: latencies.quantile(0.5) / 1_000,
        p99Ms: latencies.quantile(0.99) / 1_000,
        baselines: {},
        figures: {
          own: {
            each: floods.map(({ perSecond }) => perSecond),
            cpu: meanCpu(floods.map(({ cpu }) => cpu)),
          },
        },
        targets: [],
        conditions: mergeConditions(floods.map(({ conditions }) => conditions)),
      }),
    ]
  },
}

interface Flood {
  /** Webhooks that were taken and used, a second. */
  readonly perSecond: number
  readonly latencies: SparseHistogram
  readonly cpu: CpuPerOperation | null
  readonly conditions: readonly Condition[]
}

/** A fresh service, the payments that it has handed over, and the webhooks about them. */
async function flood(bench: Bench, seconds: number): Promise<Flood> {
  const secret = generateSecret()
  const payer = bench.databases.payers[0]!
  const database = await bench.databases.clone('hooks')
  await using _ = database
  const [home] = await database.query<{ id: string; operator: string }>(
    `select connection_id as id, operator_id as operator from balance where id = '${payer.balanceId}'`,
  )
  const webhooks = { connectionId: home!.id, operatorId: home!.operator, secret }
  await using service = await startService(bench, { dispatch: true, database, webhooks })
  const wanted = Math.ceil((PER_SECOND * seconds) / TOLD_TIMES)
  const payments = await handedOver(service, database, { wanted, operation: silent(paymentOperation(payer)) })
  const sender = bench.start<SenderPlan, SenderReport>(join(import.meta.dirname, '..', 'webhook-sender.ts'))
  await using __ = { [Symbol.asyncDispose]: () => sender.stop() }
  const told = payments.slice(0, wanted).map((reference, nth) => ({ reference, story: STORIES[nth % STORIES.length]! }))
  const tellings = told.flatMap(({ reference, story }) =>
    story.types.map((type) => ({
      reference,
      type: `payment.${type}`,
      ...(type === 'returned' ? { amountMinor: SILENT, schemeCode: 'AC04' } : {}),
    })),
  )
  const watch = service.watchCpu([sender.pid])
  watch.onMoment('begin')
  const began = performance.now()
  const report = await sender.ask({
    url: service.url,
    path: `/v1/provider-webhooks/${home!.id}`,
    secret,
    tellings,
    perSecond: PER_SECOND,
    connections: CONNECTIONS,
  })
  const left = await used(database)
  const ended = performance.now()
  watch.onMoment('end')
  const lateMs = ended - began - report.seconds * 1_000
  const perSecond = report.sent / ((ended - began) / 1_000)
  const cpu = await watch.perOperation(report.sent)
  bench.log(
    `  webhooks  ${perSecond.toFixed(0).padStart(6)}/s  all used ${lateMs.toFixed(0)} ms after the last${cpu === null ? '' : `  CPU ${cpuText(cpu)} µs`}`,
  )
  const wrong = await wrongOnes(database, told)
  const [kept] = await database.query<{ events: number }>('select count(*)::int as events from provider_inbox')
  return {
    perSecond,
    latencies: report.latencies,
    cpu,
    conditions: [
      {
        name: 'every webhook answered 202',
        holds: report.statuses['202'] === report.sent,
        found: JSON.stringify(report.statuses),
      },
      {
        name: `all used within ${LATE_MAX_MS} ms`,
        holds: left === 0 && lateMs <= LATE_MAX_MS,
        found: `${lateMs.toFixed(0)} ms`,
      },
      { name: 'no wrong status', holds: wrong === 0, found: `${wrong} of ${told.length}` },
      {
        name: 'each event once',
        holds: kept!.events === tellings.length,
        found: `${kept!.events} of ${tellings.length}`,
      },
      ...(await service.conditions()),
    ],
  }
}

const silent = (operation: Operation): Operation =>
  operation.map((request) => ({
    ...request,
    body: request.body!.replace('"amountMinor":"100"', `"amountMinor":"${SILENT}"`),
  }))

/** Makes payments until the bank has so many. @returns their ids */
async function handedOver(
  service: Awaited<ReturnType<typeof startService>>,
  database: BenchDatabase,
  { wanted, operation }: { readonly wanted: number; readonly operation: Operation },
): Promise<readonly string[]> {
  const load = { operations: [operation], connections: CONNECTIONS, seconds: 1 }
  for (;;) {
    const [row] = await database.query<{ payments: number }>('select count(*)::int as payments from payment')
    if (row!.payments >= wanted) break
    await service.measure(load)
  }
  const deadline = performance.now() + DRAIN_MS
  for (;;) {
    const rows = await database.query<{ id: string }>('select reference as id from sandbox_order order by reference')
    const [row] = await database.query<{ payments: number }>('select count(*)::int as payments from payment')
    if (rows.length === row!.payments) return rows.map(({ id }) => id)
    if (performance.now() > deadline) throw new Error('The bank has not got every payment.')
    await pause(POLL_MS)
  }
}

/** Waits until no event waits to be used, or for as long as is reasonable. @returns how many wait */
async function used(database: BenchDatabase): Promise<number> {
  const deadline = performance.now() + DRAIN_MS
  for (;;) {
    const [row] = await database.query<{ waiting: number }>(
      'select count(*)::int as waiting from provider_inbox where due_at is not null',
    )
    if (row!.waiting === 0 || performance.now() > deadline) return row!.waiting
    await pause(POLL_MS)
  }
}

/** Counts the payments that have not ended as the partner has told. */
async function wrongOnes(
  database: BenchDatabase,
  told: readonly { readonly reference: string; readonly story: (typeof STORIES)[number] }[],
): Promise<number> {
  const rows = await database.query<{ id: string; status: string }>('select id, status from payment')
  const statusOf = new Map(rows.map(({ id, status }) => [id, status]))
  return told.filter(({ reference, story }) => statusOf.get(reference) !== story.ends).length
}

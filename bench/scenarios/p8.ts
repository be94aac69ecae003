/**
 * P8: webhooks to a local receiver. Events are written as a payment writes them, in transactions of their own, as fast
 * as callbacks leave: a backlog is kept so that the service never waits, and never grows past what the window holds.
 * Then the same at half the rate that was reached, where what counts is how long after its event a callback arrives.
 *
 * It also prints where signing in a thread begins to pay, for the limit that says so.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Wake } from '../../actors/runtime/wakes.ts'
import { callbackHeaders, envelope } from '../../lib/webhooks/envelope.ts'
import { generateSecret, sign } from '../../lib/webhooks/signature.ts'
import { WORK_CHANNEL } from '../../storage/db/due-work.ts'
import { createWorkerPool } from '../../workers/pool/pool.ts'
import type { SigningBatch } from '../../workers/webhooks/sign-webhooks.ts'
import type { PostLoopPlan } from '../baselines/post-loop.ts'
import type { BenchDatabase, Payer } from '../database.ts'
import { cpuText, meanCpu, type CpuPerOperation } from '../cpu-shares.ts'
import { Histogram, type SparseHistogram } from '../histogram.ts'
import { median, mergeConditions, ROUNDS } from '../measurement.ts'
import type { BenchProcess, Tell } from '../process.ts'
import { judge, type Bench, type Condition, type Figures, type Scenario } from '../scenario.ts'
import { startService } from '../subject.ts'
import type { ReceiverQuestion, Taken } from '../webhook-receiver.ts'

/** Each has ten callbacks under way. */
const EVENT_TYPES = ['payment.created', 'payment.status_changed', 'payment.completed', 'transfer.completed'] as const
const CONNECTIONS = EVENT_TYPES.length * 10
/** Events written and not arrived: enough that nobody waits for the writer. */
const WINDOW = 4_000
const FEED = 500
const POLL_MS = 25
const DRAIN_MS = 60_000
/** How often events are written at half load. */
const TICK_MS = 20
const LATE_MAX_MS = 1_000
const SIGN_BATCHES = [1, 4, 8, 16, 32, 64, 128, 256]
const SIGN_CALLBACKS = 4_096

export const p8: Scenario = {
  id: 'P8',
  title: 'webhooks to a local receiver',
  async run(bench) {
    await signatures(bench)
    const receiver = bench.start<ReceiverQuestion, Taken>(join(import.meta.dirname, '..', 'webhook-receiver.ts'))
    await using _ = { [Symbol.asyncDispose]: () => receiver.stop() }
    const { url } = await receiver.ask('listen')
    const seconds = bench.seconds / ROUNDS
    const posts: Rate[] = []
    const floods: Flood[] = []
    let written = 0
    for (let round = 0; round < ROUNDS; round++) {
      posts.push(await postLoop(bench, { url, receiver, seconds }))
      floods.push(await flood(bench, { url, receiver, seconds, before: written }))
      written = floods.at(-1)!.written
    }
    const rate = median(floods.map(({ perSecond }) => perSecond))
    const lateness = new Histogram()
    for (const each of floods) lateness.addAll(each.lateness)
    const p99Ms = lateness.quantile(0.99) / 1_000
    return [
      judge({
        id: 'P8',
        scenario: `${EVENT_TYPES.length} endpoints, sustained`,
        value: rate,
        unit: 'callbacks/s',
        p50Ms: lateness.quantile(0.5) / 1_000,
        p99Ms,
        baselines: { postLoop: median(posts.map(({ perSecond }) => perSecond)) },
        figures: { own: figuresOf(floods), postLoop: figuresOf(posts) },
        targets: [{ baseline: 'postLoop', times: 0.25, direction: 'atLeast' }],
        conditions: [
          ...mergeConditions(floods.map(({ conditions }) => conditions)),
          {
            name: `p99 ≤ ${LATE_MAX_MS} ms at half load`,
            holds: p99Ms <= LATE_MAX_MS,
            found: `${p99Ms.toFixed(0)} ms`,
          },
        ],
      }),
    ]
  },
}

/** What a process came to. */
interface Rate {
  readonly perSecond: number
  readonly cpu: CpuPerOperation | null
}

interface Flood extends Rate {
  /** Events written so far, all processes together. */
  readonly written: number
  /** At half of its rate. */
  readonly lateness: SparseHistogram
  readonly conditions: readonly Condition[]
}

const figuresOf = (rates: readonly Rate[]): Figures => ({
  each: rates.map(({ perSecond }) => perSecond),
  cpu: meanCpu(rates.map(({ cpu }) => cpu)),
})

const rateText = (name: string, { perSecond, cpu }: Rate): string =>
  `  ${name} ${perSecond.toFixed(0).padStart(6)}/s${cpu === null ? '' : `  CPU ${cpuText(cpu)} µs`}`

/** Posts from a fresh process, while the service does not run. */
async function postLoop(
  bench: Bench,
  { url, receiver, seconds }: { readonly url: string; readonly receiver: Receiver; readonly seconds: number },
): Promise<Rate> {
  using _ = bench.takeTurn('post loop')
  const loop = bench.start<PostLoopPlan, number>(join(import.meta.dirname, '..', 'baselines', 'post-loop.ts'))
  await using __ = { [Symbol.asyncDispose]: () => loop.stop() }
  const watch = bench.watchCpu({ servers: [loop.pid], others: [receiver.pid] })
  const warmupSeconds = bench.heatSeconds + bench.warmupSeconds
  const perSecond = await loop.ask(
    { ...sample(bench.databases.payers[0]!), url, connections: CONNECTIONS, warmupSeconds, seconds },
    watch.onMoment,
  )
  const rate = { perSecond, cpu: await watch.perOperation(perSecond * seconds) }
  bench.log(rateText('post loop', rate))
  return rate
}

/** A fresh service with a backlog, and then at half of the rate that it reached. */
async function flood(
  bench: Bench,
  options: {
    readonly url: string
    readonly receiver: Receiver
    readonly seconds: number
    /** Events written before. */
    readonly before: number
  },
): Promise<Flood> {
  const { url, receiver, seconds, before } = options
  await using service = await startService(bench, { dispatch: false })
  const database = service.database as BenchDatabase
  const payer = bench.databases.payers[0] as Payer
  for (const type of EVENT_TYPES) await register(service.url, payer, url, type)
  await database.checkpoint()
  await receiver.ask('take')
  const watch = service.watchCpu([receiver.pid])
  const warmupSeconds = bench.heatSeconds + bench.warmupSeconds
  const most = await sustain(receiver, database, payer, before, { warmupSeconds, seconds, onMoment: watch.onMoment })
  const rate = { perSecond: most.rate, cpu: await watch.perOperation(most.rate * seconds) }
  bench.log(rateText('webhooks ', rate))
  await receiver.ask('take')
  const half = await steady(receiver, database, payer, most.written, { perSecond: most.rate / 2, seconds })
  bench.log(
    `  at half load p50 ${(half.lateness.quantile(0.5) / 1_000).toFixed(0)} ms, p99 ${(half.lateness.quantile(0.99) / 1_000).toFixed(0)} ms from event to receiver`,
  )
  const { written } = half
  const conditions = await delivered(receiver, database, written)
  bench.log(`  ${(await receiver.ask('take')).connections} connections over all`)
  return { ...rate, written, lateness: half.lateness.sparse(), conditions }
}

/** Whether every event came, and was written down as delivered. */
async function delivered(receiver: Receiver, database: BenchDatabase, written: number): Promise<Condition[]> {
  const { events } = await arrived(receiver, written)
  const [unfinished] = await database.query<{ queued: number; failed: number }>(
    `select (select count(*)::int from webhook_queue) as queued, (select count(*)::int from webhook_delivery where attempt_count > 1 or status <> 'succeeded') as failed`,
  )
  return [
    { name: 'none lost', holds: events === written, found: `${events} of ${written} events` },
    {
      name: 'all written down as delivered at once',
      holds: unfinished!.queued === 0 && unfinished!.failed === 0,
      found: JSON.stringify(unfinished),
    },
  ]
}

async function register(service: string, { customerId, apiKey }: Payer, url: string, type: string): Promise<void> {
  const response = await fetch(`${service}/v1/integrator-webhooks`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${apiKey}`, 'X-Tenant-Id': customerId, 'Content-Type': 'application/json' },
    body: JSON.stringify({ url, events: [type] }),
  })
  if (response.status !== 201) throw new Error(`The endpoint was not made: ${response.status} ${await response.text()}`)
}

/** The bytes of a callback, so that the loop sends the same. */
function sample({ customerId }: Payer): Pick<PostLoopPlan, 'headers' | 'body'> {
  const eventId = '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'
  const body = JSON.stringify(
    envelope(
      {
        id: eventId,
        type: 'payment.created',
        createdAt: 0,
        customerId,
        object: 'payment',
        objectId: eventId,
        status: 'processing',
        previousStatus: null,
        amount: 100n,
        currency: 'EUR',
        sandbox: false,
        related: null,
      },
      { tenantId: customerId, apiVersion: '1.0.0-draft.14', test: false },
    ),
  )
  const { service, standard } = sign({ eventId, timestamp: 1, body, secrets: [generateSecret()] })
  // Not under the name by which the receiver knows events of the service.
  const { 'Service-Event-Id': _id, ...headers } = callbackHeaders({
    eventId,
    eventType: 'payment.created',
    seconds: 1,
    test: false,
  })
  return {
    body,
    headers: { ...headers, 'Service-Event': eventId, 'Service-Signature': service, 'webhook-signature': standard },
  }
}

/**
 * Writes events, each to one endpoint, and wakes the relay as a commit of its node does: the bench writes past the
 * node, so a relay at rest would find them up to half a minute later.
 */
export async function writeEvents(
  database: Pick<BenchDatabase, 'query'>,
  { customerId, shard }: Pick<Payer, 'customerId' | 'shard'>,
  count: number,
): Promise<void> {
  await database.query(`insert into outbox (id, created_at, customer_id, operator_id, shard, type, object, object_id, status, amount, currency)
    select uuidv7(), date_trunc('milliseconds', clock_timestamp()), c.id, c.operator_id, ${shard}, (array['${EVENT_TYPES.join(`','`)}'])[1 + n % ${EVENT_TYPES.length}], 'payment', gen_random_uuid(),
      'processing', 100, 'EUR' from generate_series(1, ${count}) n, customer c where c.id = '${customerId}'`)
  const wake: Wake = 'events'
  await database.query(`select pg_notify('${WORK_CHANNEL}', '${wake}')`)
}

type Receiver = BenchProcess<ReceiverQuestion, Taken>

/** Keeps a backlog for as long as asked, and counts what arrives. */
async function sustain(
  receiver: Receiver,
  database: BenchDatabase,
  payer: Payer,
  before: number,
  {
    warmupSeconds,
    seconds,
    onMoment,
  }: { readonly warmupSeconds: number; readonly seconds: number; readonly onMoment: Tell },
) {
  let written = before
  let from = 0
  let counted = 0
  const start = performance.now()
  for (;;) {
    const { events, callbacks } = await receiver.ask('take')
    const now = performance.now()
    if (from > 0) counted += callbacks
    if (from === 0 && now - start >= warmupSeconds * 1_000) {
      from = now
      onMoment('begin')
    }
    if (from > 0 && now - from >= seconds * 1_000) {
      onMoment('end')
      const rate = counted / ((now - from) / 1_000)
      await arrived(receiver, written)
      return { written, rate }
    }
    if (written - events < WINDOW) {
      await writeEvents(database, payer, FEED)
      written += FEED
    } else await pause(POLL_MS)
  }
}

/** Writes at a rate, whatever arrives. */
async function steady(
  receiver: Receiver,
  database: BenchDatabase,
  payer: Payer,
  before: number,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
) {
  const start = performance.now()
  let written = 0
  for (;;) {
    const now = performance.now()
    if (now - start >= seconds * 1_000) break
    const due = Math.floor(((now - start) / 1_000) * perSecond) - written
    if (due > 0) {
      await writeEvents(database, payer, due)
      written += due
    }
    await pause(TICK_MS)
  }
  const lateness = new Histogram()
  const deadline = performance.now() + DRAIN_MS
  for (;;) {
    const taken = await receiver.ask('take')
    lateness.addAll(taken.lateness)
    if (taken.events >= before + written || performance.now() > deadline) return { written: before + written, lateness }
    await pause(POLL_MS)
  }
}

/** Waits until every event has arrived and is written down, or for as long as is reasonable. */
async function arrived(receiver: Receiver, written: number): Promise<Taken> {
  const deadline = performance.now() + DRAIN_MS
  for (;;) {
    const taken = await receiver.ask('take')
    if (taken.events >= written || performance.now() > deadline) {
      await pause(1_000)
      return taken
    }
    await pause(POLL_MS)
  }
}

/** Signing batches of callbacks here and in a thread: how long the event loop is kept busy by either. */
async function signatures(bench: Bench): Promise<void> {
  await using workers = createWorkerPool()
  const secrets = [generateSecret()]
  const body = 'x'.repeat(450)
  const batchOf = (size: number): SigningBatch => ({
    secrets,
    timestamp: size,
    callbacks: Array.from({ length: size }, (_, nth) => ({
      eventId: `01980d6e-7f3a-7c21-9f58-${String(nth).padStart(12, '0')}`,
      body,
    })),
  })
  const here = ({ callbacks, timestamp }: SigningBatch) =>
    callbacks.map((callback) => sign({ ...callback, timestamp, secrets }))
  await workers.signBatch(batchOf(16))
  bench.log('  signing, event loop busy per batch (microseconds): callbacks, inline, by a thread')
  for (const size of SIGN_BATCHES) {
    const batch = batchOf(size)
    const rounds = Math.ceil(SIGN_CALLBACKS / size)
    here(batch)
    const from = performance.now()
    for (let round = 0; round < rounds; round++) here(batch)
    const inline = ((performance.now() - from) / rounds) * 1_000
    const before = performance.eventLoopUtilization()
    for (let round = 0; round < rounds; round++) await workers.signBatch(batch)
    const thread = (performance.eventLoopUtilization(before).active / rounds) * 1_000
    bench.log(
      `    ${String(size).padStart(3)}  ${inline.toFixed(0).padStart(5)}  ${thread.toFixed(0).padStart(5)}${thread < inline ? '  the thread pays' : ''}`,
    )
  }
}

/** The subjects measured over HTTP, behind one interface: the service, the row-lock baseline and the bare server. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ROW_LOCK_POOL } from './baselines/row-lock.ts'
import { cpuText, type CpuPerOperation } from './cpu-shares.ts'
import { residentMb, watchOthers, type CpuWatch } from './cpu-time.ts'
import type { BenchDatabase, Payer } from './database.ts'
import { FRESH_KEY, type LoadPlan, type LoadReport, type Operation } from './load-plan.ts'
import { isCaughtUp, readLeft } from './followers-lag.ts'
import type { Sample } from './measurement.ts'
import type { BenchProcess, Tell } from './process.ts'
import { startRedis } from './redis.ts'
import type { Bench, Condition } from './scenario.ts'
import type { ServerPlan } from './server.ts'

const HERE = import.meta.dirname
const SETTLE_MS = 20_000
const SETTLE_POLL_MS = 50
/** The followers of a flood of a minute need about as long. */
const REST_MS = 120_000
const REST_POLL_MS = 200
/** A machine at rest keeps less than this busy with itself. */
const DISTURBED_CORES = 0.15

/** The options of a measurement. */
export type SubjectLoad = Omit<LoadPlan, 'targets' | 'warmupSeconds'> & { readonly warmupSeconds?: number }

/** What a measurement of a subject found. */
export interface Measurement extends LoadReport {
  /** Null where there is no `/proc`. */
  readonly cpu: CpuPerOperation | null
}

export interface Subject extends AsyncDisposable {
  readonly url: string
  /** Null for the bare server. */
  readonly database: BenchDatabase | null
  /** A watch of its processor time, for work that it is given otherwise than by `measure`; `more` are processes beside. */
  watchCpu(more?: readonly number[]): CpuWatch
  /** Memory of its processes that is really there, megabytes of 2^20 bytes. */
  residentMb(): number
  /** Requests that were answered 201, in all measurements together. */
  readonly accepted: number
  /** Lets a new server reach its pace; the first measurement does so by itself. */
  heat(load: Pick<SubjectLoad, 'operations' | 'connections'>): Promise<void>
  /** `onMoment` is told when the measurement begins and ends. */
  measure(load: SubjectLoad, onMoment?: Tell): Promise<Measurement>
  /** Waits until its followers have caught up: no event to follow, no line to chain. */
  rest(): Promise<void>
  /** Checks after money was moved: clean books, and a payment for every 201. */
  conditions(): Promise<Condition[]>
}

/**
 * A measurement of a fresh process: starts it, measures it, checks what it wrote (`conditions`) and stops it. Nothing
 * of it runs when the next subject is measured.
 */
export async function measureFresh(
  start: () => Promise<Subject>,
  measure: (subject: Subject) => Promise<Measurement>,
  conditions: (subject: Subject) => Promise<Condition[]> = (subject) => subject.conditions(),
): Promise<Sample> {
  await using subject = await start()
  return { ...(await measure(subject)), conditions: await conditions(subject) }
}

/** The service itself. `dispatch: false` leaves payments waiting for the bank. */
export async function startService(
  bench: Bench,
  {
    dispatch,
    name = 'service',
    ...more
  }: {
    readonly dispatch: boolean
    readonly name?: string
    /** What it stands on; absent: a database of its own, which is dropped with it. */
    readonly database?: BenchDatabase
    readonly metricsPort?: number
    /** The connection and the secret of the webhooks that it takes. */
    readonly webhooks?: NonNullable<ServerPlan['webhooks']>
  },
): Promise<Subject> {
  return await startServer(bench, name, { dispatch, ...more })
}

/** Several nodes of the service on one database and one Redis; connections are dealt out to them in turn. */
export async function startNodes(bench: Bench, count: number): Promise<Subject> {
  await using started = new AsyncDisposableStack()
  const name = `${count} nodes`
  started.use(bench.takeTurn(name))
  const database = started.use(await bench.databases.clone('nodes'))
  const redis = started.use(await startRedis(await freePort()))
  const nodeSecret = randomBytes(32).toString('hex')
  const servers: BenchProcess<ServerPlan, string>[] = []
  for (let nth = 0; nth < count; nth++) {
    const server = bench.start<ServerPlan, string>(join(HERE, 'server.ts'))
    servers.push(server)
    started.defer(() => server.stop())
  }
  const urls = await Promise.all(
    servers.map(
      async (server) =>
        await server.ask({
          databaseUrl: database.url,
          dataDir: join(bench.databases.directory, `node-${server.pid}`),
          dispatch: false,
          node: { port: await freePort(), redisUrl: redis.url, nodeSecret },
        }),
    ),
  )
  await settled(urls)
  return await subject(bench, {
    name,
    urls,
    servers,
    others: redis.pid === null ? [] : [redis.pid],
    database,
    resources: started.move(),
  })
}

/** Waits until every shard has its home on one of the nodes. */
async function settled(urls: readonly string[]): Promise<void> {
  const deadline = performance.now() + SETTLE_MS
  for (;;) {
    const held = await Promise.all(
      urls.map(async (url) => {
        const { checks } = (await (await fetch(`${url}/ready`)).json()) as {
          checks: readonly { name: string; held?: number; total?: number }[]
        }
        return checks.find(({ name }) => name === 'shards')!
      }),
    )
    if (
      held.every(({ held: own }) => own! > 0) &&
      held.reduce((sum, { held: own }) => sum + own!, 0) === held[0]!.total
    )
      return
    if (performance.now() > deadline) throw new Error('The shards have not found their homes.')
    await pause(SETTLE_POLL_MS)
  }
}

/** A port of the loopback interface that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** The service with the row-lock baseline's commands. */
export async function startRowLock(bench: Bench, poolMax: number = ROW_LOCK_POOL): Promise<Subject> {
  return await startServer(bench, 'row-lock', { dispatch: false, rowLock: poolMax })
}

async function startServer(
  bench: Bench,
  name: string,
  {
    database: given,
    ...plan
  }: Pick<ServerPlan, 'dispatch' | 'rowLock' | 'metricsPort' | 'webhooks'> & { readonly database?: BenchDatabase },
): Promise<Subject> {
  await using started = new AsyncDisposableStack()
  started.use(bench.takeTurn(name))
  const database = given ?? started.use(await bench.databases.clone(name))
  const server = bench.start<ServerPlan, string>(join(HERE, 'server.ts'))
  started.defer(() => server.stop())
  const url = await server.ask({
    ...plan,
    databaseUrl: database.url,
    dataDir: join(bench.databases.directory, `node-${server.pid}`),
  })
  return await subject(bench, { name, urls: [url], servers: [server], database, resources: started.move() })
}

/** The bare server. */
export async function startBare(bench: Bench): Promise<Subject> {
  await using started = new AsyncDisposableStack()
  started.use(bench.takeTurn('bare'))
  const server = bench.start<object, string>(join(HERE, 'baselines', 'bare.ts'))
  started.defer(() => server.stop())
  return await subject(bench, {
    name: 'bare',
    urls: [await server.ask({})],
    servers: [server],
    database: null,
    resources: started.move(),
  })
}

interface Started {
  readonly name: string
  readonly urls: readonly string[]
  readonly servers: readonly { readonly pid: number }[]
  /** Processes that it needs beside Postgres. */
  readonly others?: readonly number[]
  readonly database: BenchDatabase | null
  readonly resources: AsyncDisposableStack
}

async function subject(bench: Bench, started: Started): Promise<Subject> {
  const { name, urls, servers, others = [], database } = started
  await using owned = started.resources
  const paymentsBefore = database === null ? 0 : await paymentsIn(database)
  const resources = owned.move()
  let accepted = 0
  let unanswered = 0
  let hot = false
  const watchCpu = (more: readonly number[] = []) =>
    bench.watchCpu({ servers: servers.map(({ pid }) => pid), others: [...others, ...more] })
  async function load(plan: SubjectLoad, onMoment?: Tell): Promise<LoadReport> {
    const report = await bench.generator.ask({ warmupSeconds: bench.warmupSeconds, ...plan, targets: urls }, onMoment)
    accepted += report.allStatuses['201'] ?? 0
    unanswered += report.unanswered
    return report
  }
  /** A closed loop: a cold server would only collect a queue in an open one. */
  async function heat({ operations, connections }: Pick<SubjectLoad, 'operations' | 'connections'>): Promise<void> {
    if (hot) return
    hot = true
    if (bench.heatSeconds > 0) await load({ operations, connections, warmupSeconds: 0, seconds: bench.heatSeconds })
  }
  return {
    url: urls[0] as string,
    database,
    watchCpu,
    residentMb: () => servers.reduce((sum, { pid }) => sum + residentMb(pid), 0),
    get accepted() {
      return accepted
    },
    heat,
    async measure(plan, onMoment) {
      await heat(plan)
      await database?.checkpoint()
      const busyOthers = watchOthers()
      const watch = watchCpu()
      const report = await load(plan, (moment) => {
        watch.onMoment(moment)
        onMoment?.(moment)
      })
      const busyElsewhere = busyOthers()
      const cpu = await watch.perOperation(report.operations)
      bench.log(`  ${name.padEnd(9)} ${reportText(report, cpu)}${disturbance(busyElsewhere)}`)
      return { ...report, cpu }
    },
    rest: async () => {
      if (database !== null && !(await restOf(database)))
        bench.log(`  ${name}: followers have not caught up within ${REST_MS / 1000} s`)
    },
    conditions: async () =>
      database === null
        ? []
        : [
            await cleanAudit(name, database),
            everyPayment(name, { made: (await paymentsIn(database)) - paymentsBefore, accepted, unanswered }),
          ],
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

function reportText(report: LoadReport, cpu: CpuPerOperation | null): string {
  const { rate, p50Ms, p99Ms, failures, statuses, errors } = report
  return (
    `${rate.toFixed(0).padStart(6)}/s  p50 ${p50Ms.toFixed(1)} ms  p99 ${p99Ms.toFixed(1)} ms` +
    `${failures === 0 ? '' : `  FAILURES ${failures} ${JSON.stringify(statuses)} ${JSON.stringify(errors)}`}` +
    `${cpu === null ? '' : `  CPU ${cpuText(cpu)} µs`}`
  )
}

/** Whether the books are right. */
export async function cleanAudit(name: string, database: BenchDatabase): Promise<Condition> {
  const wrong = await database.audit()
  return { name: `${name}: clean audit`, holds: wrong === null, ...(wrong === null ? {} : { found: wrong }) }
}

function everyPayment(
  name: string,
  { made, accepted, unanswered }: { readonly made: number; readonly accepted: number; readonly unanswered: number },
): Condition {
  return {
    name: `${name}: a payment for every 201`,
    holds: made >= accepted && made <= accepted + unanswered,
    found: `${made} payments, ${accepted} answers, ${unanswered} requests without an answer`,
  }
}

async function paymentsIn(database: BenchDatabase): Promise<number> {
  const [row] = await database.query<{ payments: number }>('select count(*)::int as payments from payment')
  return row!.payments
}

/** Waits until the followers of a database have caught up. @returns whether they have, in a time that is reasonable */
async function restOf(database: BenchDatabase): Promise<boolean> {
  const deadline = performance.now() + REST_MS
  for (;;) {
    if (isCaughtUp(await readLeft(database))) return true
    if (performance.now() > deadline) return false
    await pause(REST_POLL_MS)
  }
}

/** A remark on a measurement that something else ran beside. */
export function disturbance(coresElsewhere: number): string {
  return coresElsewhere < DISTURBED_CORES ? '' : `  DISTURBED: ${coresElsewhere.toFixed(1)} cores busy elsewhere`
}

/** `POST /payments` of a small amount from a balance, with a key of its own each time. */
export function paymentOperation({ customerId, apiKey, balanceId, recipient }: Payer): Operation {
  return [
    {
      method: 'POST',
      path: '/v1/payments',
      headers: { Authorization: `Bearer ${apiKey}`, 'X-Tenant-Id': customerId, 'Idempotency-Key': FRESH_KEY },
      body: JSON.stringify({
        sourceBalanceId: balanceId,
        recipientId: recipient.id,
        amount: { amountMinor: '100', currency: 'EUR' },
        reference: 'Invoice 42',
      }),
      expect: 201,
    },
  ]
}

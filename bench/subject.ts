/** The subjects measured over HTTP, behind one interface: the service, the row-lock baseline and the bare server. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ROW_LOCK_POOL } from './baselines/row-lock.ts'
import { residentMb, watchOthers } from './cpu-time.ts'
import type { BenchDatabase, Payer } from './database.ts'
import { FRESH_KEY, type LoadPlan, type LoadReport, type Operation } from './load-plan.ts'
import type { BenchProcess } from './process.ts'
import { startRedis } from './redis.ts'
import type { Bench, Condition } from './scenario.ts'
import type { ServerPlan } from './server.ts'

const HERE = import.meta.dirname
/**
 * Before its first measurement a server runs this long under load, so that the first to be measured is not the coldest.
 */
const HEAT_SECONDS = 3
const SETTLE_MS = 20_000
const SETTLE_POLL_MS = 50
/** A machine at rest keeps less than this busy with itself. */
const DISTURBED_CORES = 0.15

/** The options of a measurement. */
export type SubjectLoad = Omit<LoadPlan, 'targets' | 'warmupSeconds'> & { readonly warmupSeconds?: number }

export interface Subject extends AsyncDisposable {
  readonly url: string
  /** Null for the bare server. */
  readonly database: BenchDatabase | null
  /** Memory of its processes that is really there, megabytes of 2^20 bytes. */
  residentMb(): number
  /** Requests that were answered 201, in all measurements together. */
  readonly accepted: number
  /** Lets a new server reach its pace; the first measurement does so by itself. */
  heat(load: Pick<SubjectLoad, 'operations' | 'connections'>): Promise<void>
  measure(load: SubjectLoad): Promise<LoadReport>
  /** Checks after money was moved: clean books, and a payment for every 201. */
  conditions(): Promise<Condition[]>
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
    /** Runs on the database before the service does. */
    readonly prepare?: (database: BenchDatabase) => Promise<void>
    readonly metricsPort?: number
  },
): Promise<Subject> {
  return await startServer(bench, name, { dispatch, ...more })
}

/** Several nodes of the service on one database and one Redis; connections are dealt out to them in turn. */
export async function startNodes(bench: Bench, count: number): Promise<Subject> {
  await using started = new AsyncDisposableStack()
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
  return subject(bench, { name: `${count} nodes`, urls, servers, database, resources: started.move() })
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
    prepare,
    ...plan
  }: Pick<ServerPlan, 'dispatch' | 'rowLock' | 'metricsPort'> & {
    readonly prepare?: (database: BenchDatabase) => Promise<void>
  },
): Promise<Subject> {
  await using started = new AsyncDisposableStack()
  const database = started.use(await bench.databases.clone(name))
  await prepare?.(database)
  const server = bench.start<ServerPlan, string>(join(HERE, 'server.ts'))
  started.defer(() => server.stop())
  const url = await server.ask({
    ...plan,
    databaseUrl: database.url,
    dataDir: join(bench.databases.directory, `node-${server.pid}`),
  })
  return subject(bench, { name, urls: [url], servers: [server], database, resources: started.move() })
}

/** The bare server. */
export async function startBare(bench: Bench): Promise<Subject> {
  await using started = new AsyncDisposableStack()
  const server = bench.start<object, string>(join(HERE, 'baselines', 'bare.ts'))
  started.defer(() => server.stop())
  return subject(bench, {
    name: 'bare',
    urls: [await server.ask({})],
    servers: [server],
    database: null,
    resources: started.move(),
  })
}

function subject(
  bench: Bench,
  {
    name,
    urls,
    servers,
    database,
    resources,
  }: {
    readonly name: string
    readonly urls: readonly string[]
    readonly servers: readonly { readonly pid: number }[]
    readonly database: BenchDatabase | null
    readonly resources: AsyncDisposableStack
  },
): Subject {
  let accepted = 0
  let unanswered = 0
  let hot = false
  async function load(plan: SubjectLoad): Promise<LoadReport> {
    const report = await bench.generator.ask({ warmupSeconds: bench.warmupSeconds, ...plan, targets: urls })
    accepted += report.allStatuses['201'] ?? 0
    unanswered += report.unanswered
    return report
  }
  /** A closed loop: a cold server would only collect a queue in an open one. */
  async function heat({ operations, connections }: Pick<SubjectLoad, 'operations' | 'connections'>): Promise<void> {
    if (hot) return
    hot = true
    await load({ operations, connections, warmupSeconds: 0, seconds: HEAT_SECONDS })
  }
  return {
    url: urls[0] as string,
    database,
    residentMb: () => servers.reduce((sum, { pid }) => sum + residentMb(pid), 0),
    get accepted() {
      return accepted
    },
    heat,
    async measure(plan) {
      await heat(plan)
      await database?.checkpoint()
      const others = watchOthers()
      const report = await load(plan)
      const busyElsewhere = others()
      bench.log(
        `  ${name.padEnd(9)} ${report.rate.toFixed(0).padStart(6)}/s  p50 ${report.p50Ms.toFixed(1)} ms  p99 ${report.p99Ms.toFixed(1)} ms` +
          `${report.failures === 0 ? '' : `  FAILURES ${report.failures} ${JSON.stringify(report.statuses)} ${JSON.stringify(report.errors)}`}` +
          disturbance(busyElsewhere),
      )
      return report
    },
    async conditions() {
      if (database === null) return []
      const wrong = await database.audit()
      const [row] = await database.query<{ payments: number }>('select count(*)::int as payments from payment')
      return [
        { name: `${name}: clean audit`, holds: wrong === null, ...(wrong === null ? {} : { found: wrong }) },
        {
          name: `${name}: a payment for every 201`,
          holds: row!.payments >= accepted && row!.payments <= accepted + unanswered,
          found: `${row!.payments} payments, ${accepted} answers, ${unanswered} requests without an answer`,
        },
      ]
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** A remark on a measurement that something else ran beside. */
export function disturbance(coresElsewhere: number): string {
  return coresElsewhere < DISTURBED_CORES ? '' : `; DISTURBED: ${coresElsewhere.toFixed(1)} cores busy elsewhere`
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

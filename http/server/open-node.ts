/** Opens the machinery of a node: database, clock, partitions, secrets, actors, shards. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Server, ServerResponse } from 'node:http'
import pino, { type Logger } from 'pino'
import { createAnswers, createIdempotencyRecords } from '../../actors/commands/answers.ts'
import { ClockWatch } from '../../actors/runtime/clock-watch.ts'
import { HorizonWatch } from '../../actors/runtime/horizon-watch.ts'
import { background, type Background, type Node } from '../../actors/runtime/node.ts'
import { ActorSystem } from '../../actors/runtime/system.ts'
import type { Task } from '../../actors/runtime/tasks.ts'
import { Wakes } from '../../actors/runtime/wakes.ts'
import { systemClock, type Clock } from '../../lib/base/clock.ts'
import { createIdSource, type IdSource } from '../../lib/base/ids.ts'
import type { Screener } from '../../lib/compliance/screening.ts'
import type { Config } from '../../lib/config/config.ts'
import { sandboxScreener } from '../../lib/sandbox/sandbox-screener.ts'
import { createSecretBox } from '../../lib/security/secret-box.ts'
import { BalanceCache } from '../../storage/balances/balance-cache.ts'
import { Database, type SecondConnection } from '../../storage/db/database.ts'
import { PgListener } from '../../storage/db/pg-listener.ts'
import { maintainPartitions, makePartitions, type PartitionReport } from '../../storage/db/partitions.ts'
import { startEmbeddedPostgres } from '../../storage/embedded/embedded.ts'
import { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { OrderNumbers } from '../../storage/payments/order-numbers.ts'
import { writeRequests } from '../../storage/integration/write-requests.ts'
import { keepTasks } from '../../storage/tasks/keep-tasks.ts'
import { migrate } from '../../storage/schema/migrate.ts'
import { createWorkerPool, type WorkerPool } from '../../workers/pool/pool.ts'
import type { RateLimits } from '../access/rate-limits.ts'
import { RequestLog } from '../access/request-log.ts'
import { addressOf, listenForNodes } from './listening.ts'
import { cursorKey, masterSecretOf } from './master-secret.ts'
import { openRateLimits } from './open-rate-limits.ts'
import { openShards } from './open-shards.ts'
import { createHttpServer } from './server.ts'

/** Parts of the machinery that a test or a bench replaces. */
export interface NodeOverrides {
  /** A pool that outlives the node, which then does not close it: nodes of one process can share its threads. */
  readonly workers?: WorkerPool
  readonly clock?: Clock
  /** Replaces the machine's clock in the comparison with the database's clock. */
  readonly wallClock?: Clock
  readonly log?: Logger
  /** False keeps payments in the queue: nothing is submitted to the bank. */
  readonly dispatch?: boolean
  /** Replaces the sandbox's screening list. */
  readonly screener?: Screener
  /** Rate limits with other quotas; null for none, to measure what they cost. */
  readonly rateLimits?: RateLimits | null
  /** False switches the request log off, to measure what it costs. */
  readonly requestLog?: boolean
}

/** The machinery of a node, and what only the composition root needs of it. */
export interface OpenedNode {
  readonly node: Node
  /** The server, which does not listen yet: the links that the nouns give out carry its address. */
  readonly server: Server
  /** The server of a worker that other nodes reach, which listens. Null: other nodes use the port of the clients. */
  readonly nodeServer: Server | null
  /** Identifies this process to the other nodes. */
  readonly instance: string
  readonly requestLog: RequestLog | null
  readonly rateLimits: RateLimits | null
  readonly clockWatch: ClockWatch
  readonly horizonWatch: HorizonWatch
  /** Not started yet, because the nouns subscribe first. */
  readonly listener: PgListener
  /** The tasks of the machinery. */
  readonly tasks: readonly Task[]
}

/** Connections for snapshots: two reports and a statement. */
const SNAPSHOTS_MAX = 3

/** Paths of credentials, which are removed from every log line. */
const REDACTED = [
  '*.authorization',
  '*.password',
  '*.secret',
  '*.apiKey',
  '*.token',
  '*.cookie',
  'req.headers.authorization',
  'req.headers.cookie',
  'req.headers["x-csrf-token"]',
]

/**
 * Opens the machinery. Each part is closed by `opened`, in reverse order.
 *
 * @throws StartError with one sentence for an operator
 */
export async function openNode(
  config: Config,
  overrides: NodeOverrides,
  opened: AsyncDisposableStack,
): Promise<OpenedNode> {
  const clock = overrides.clock ?? systemClock
  const log = overrides.log ?? pino({ level: config.logLevel, base: baseOf(config), redact: REDACTED })
  const onError = (error: unknown, what: string) => log.warn({ err: error }, what)
  const { databaseUrl, database, snapshots } = await openDatabases(config, log, opened)
  const clockWatch = new ClockWatch({
    database,
    clock: overrides.wallClock ?? systemClock,
    onError,
    onDifference: (aheadMs) => log.error({ aheadMs }, 'the clock of this machine is far from that of the database'),
  })
  await clockWatch.check()
  await start(background('clock', clockWatch), opened)
  const tasks = await upkeepOf(database, clock, log)
  const requestLog = overrides.requestLog === false ? null : openRequestLog(config, database, onError)
  // Closes the request log after the last answer and before the database.
  opened.defer(async () => {
    await requestLog?.close()
  })
  const rateLimits =
    overrides.rateLimits === undefined
      ? opened.adopt(openRateLimits(config, { clock, onError }), ({ stop }) => stop()).limits
      : overrides.rateLimits

  const ids = createIdSource(clock)
  const workers = overrides.workers ?? opened.use(createWorkerPool())
  const masterSecret = await masterSecretOf(config)
  const system = new ActorSystem({
    databaseUrl,
    lanes: config.commitLanes,
    clock,
    onBug: (error, what) => log.error({ err: error }, what),
  })
  opened.defer(() => system.close())
  const orderNumbers = new OrderNumbers(database)
  system.onReconnected(() => orderNumbers.forget())
  const instance = randomUUID()
  const { problemBase } = config
  const findIdempotencyRecord = createIdempotencyRecords({ database, clock })
  const server = createHttpServer({ ids, problemBase })
  const listener = new PgListener({ url: databaseUrl, onError })
  const { nodeServer, nodeUrl } = await openForNodes(config, ids, opened)
  const shards = openShards({ ...config, nodeUrl }, { log, clock, databaseUrl, instance })
  const wakes = new Wakes({ listener, clock, shards })
  system.onCommitted(() => wakes.wake('events'))
  database.onEvents(() => wakes.wake('events'))
  const node: Node = {
    config,
    clock,
    ids,
    log,
    onError,
    database,
    databaseUrl,
    listener,
    snapshots,
    system,
    shards,
    wakes,
    workers,
    secrets: createSecretBox(masterSecret),
    random: randomBytes,
    accounts: new InternalAccountCache(database, ids),
    balances: new BalanceCache(database),
    orderNumbers,
    answers: createAnswers({ database, problemBase, findIdempotencyRecord }),
    findIdempotencyRecord,
    cursorKey: cursorKey(masterSecret),
    problemBase,
    sandbox: config.sandbox,
    screener: overrides.screener ?? sandboxScreener,
    dispatch: overrides.dispatch !== false,
    origin: () => config.publicUrl ?? addressOf(server, config),
  }
  const horizonWatch = new HorizonWatch({
    database,
    clock,
    onError,
    onStanding: (what) =>
      log.error(
        what,
        'events are not followed beyond a transaction that has been open for long; end it, or ' +
          'pg_terminate_backend(pid)',
      ),
  })
  return { node, server, nodeServer, instance, requestLog, rateLimits, clockWatch, horizonWatch, listener, tasks }
}

/** Returns the members that every line of the log has. */
const baseOf = ({ worker }: Config) => (worker === null ? { service: 'vostro' } : { service: 'vostro', worker })

/** Starts a part that works by itself, and stops it with the rest. A part that fails to start is stopped too. */
export async function start(part: Background, started: AsyncDisposableStack): Promise<void> {
  started.defer(() => part.stop())
  await part.start()
}

/** Opens the port of a worker for other nodes. A node that is no worker is reached at the port of its clients. */
async function openForNodes(
  { host, nodeUrl, worker, problemBase }: Config,
  ids: IdSource,
  opened: AsyncDisposableStack,
) {
  if (worker === null || nodeUrl === null) return { nodeServer: null, nodeUrl }
  // It answers handshakes of nodes alone.
  const server = createHttpServer({ ids, problemBase }).on('request', (_request, response: ServerResponse) => {
    response.writeHead(404).end()
  })
  opened.defer(() => {
    server.close()
    server.closeAllConnections()
  })
  return { nodeServer: server, nodeUrl: await listenForNodes(server, host, nodeUrl) }
}

/** Opens the database, migrated: the one of the settings, or an embedded one. */
async function openDatabases(config: Config, log: Logger, opened: AsyncDisposableStack) {
  let { databaseUrl } = config
  if (databaseUrl === null) {
    const embedded = await startEmbeddedPostgres({ dataDir: config.dataDir, log: (line) => log.info(line) })
    opened.defer(() => embedded.stop())
    databaseUrl = embedded.url
  }
  await migrate(databaseUrl)
  // Locally, a transaction that takes a second connection fails; in staging and production it goes on, and is logged.
  const reported = (error: SecondConnection) => log.error({ err: error }, 'second connection')
  const database =
    config.appEnv === 'local'
      ? new Database(databaseUrl, config.databasePool)
      : new Database(databaseUrl, config.databasePool, reported)
  opened.defer(() => database.close())
  const snapshots = new Database(databaseUrl, SNAPSHOTS_MAX)
  opened.defer(() => snapshots.close())
  return { databaseUrl, database, snapshots }
}

function openRequestLog(config: Config, database: Database, onError: Node['onError']): RequestLog {
  return new RequestLog({
    write: (requests) => writeRequests(database, requests),
    flushMs: config.requestLogFlushMs,
    onError,
  })
}

/**
 * Makes new partitions, and returns the upkeep of the tables as tasks. The start waits for new partitions, because rows
 * written before their partition exists must be moved later. Dropping old partitions can wait.
 */
async function upkeepOf(database: Database, clock: Clock, log: Logger): Promise<readonly Task[]> {
  const report: PartitionReport = {
    moved: (what) => log.warn(what, 'rows were dated ahead of all partitions and have been moved to their own'),
    failed: (error, table) => log.warn({ err: error, table }, 'the maintenance of partitions failed'),
  }
  await makePartitions(database, clock.now(), report)
  return [
    {
      name: 'partitions.maintain',
      cron: '7 * * * *',
      run: () => maintainPartitions(database, clock.now(), report),
    },
    { name: 'tasks.upkeep', cron: '*/10 * * * *', run: () => keepTasks(database) },
  ]
}

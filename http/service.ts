/**
 * The composition root: one node of the service, put together from its settings.
 *
 * Used by main.ts, by every HTTP test and by the bench. What a test or a bench must replace is an override; there is no
 * other way to build a service.
 */
import { hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import pino, { type Logger } from 'pino'
import { PaymentQueue } from '../actors/flows/payment-queue.ts'
import { SandboxBank } from '../actors/partners/sandbox-bank.ts'
import { InProcessShards } from '../actors/runtime/in-process-shards.ts'
import { ActorSystem } from '../actors/runtime/system.ts'
import { systemClock, timestamp, type Clock } from '../lib/clock.ts'
import type { Config } from '../lib/config.ts'
import { StartError } from '../lib/errors.ts'
import { createIdSource } from '../lib/ids.ts'
import type { Shards } from '../lib/shards.ts'
import { BalanceDirectory } from '../storage/balance-directory.ts'
import { Database } from '../storage/database.ts'
import { startEmbeddedPostgres } from '../storage/embedded.ts'
import { InternalAccountDirectory } from '../storage/internal-accounts.ts'
import { migrate } from '../storage/migrate.ts'
import { OrderNumbers } from '../storage/order-numbers.ts'
import { maintainPartitions } from '../storage/partitions.ts'
import { createReads } from '../storage/queries/queries.ts'
import { RecipientDirectory } from '../storage/recipient-directory.ts'
import { createAdmission } from './admission.ts'
import { createApp } from './app.ts'
import { createCommands, storedAnswer } from './commands.ts'
import type { createForwarding } from './forwarding.ts'
import { problemBody } from './problem.ts'
import { routes } from './routes/index.ts'
import { keepSandbox, openSandbox, type Sandbox } from './sandbox.ts'
import { createHttpServer } from './server.ts'
import { BUILD } from './build.ts'
import type { Commands, IdempotencyRecord, World } from './world.ts'

/** What a test or a bench replaces. */
export interface Overrides {
  readonly clock?: Clock
  readonly log?: Logger
  /** False leaves payments waiting for the bank. */
  readonly dispatch?: boolean
  /** Other commands over the same storage: a baseline of the bench. */
  readonly commands?: (database: Database, world: Pick<World, 'ids' | 'clock' | 'problemBase'>) => Commands
}

/** One running node. */
export interface Service extends AsyncDisposable {
  /** Where it listens, without `/v1`. */
  readonly url: string
  readonly databaseUrl: string
  /** The seeded sandbox; null in production. */
  readonly sandbox: Sandbox | null
  readonly system: ActorSystem
  readonly queue: PaymentQueue
  readonly shards: Shards
  /** Finishes what was accepted, then stops. At most 10 s. */
  close(): Promise<void>
}

/** Partitions are looked after this often. */
const MAINTENANCE_MS = 60 * 60_000
/** What was accepted may take this long when the service stops; after that connections are cut. */
const DRAIN_MS = 7_000

/**
 * Starts a node.
 *
 * @throws StartError with one sentence for an operator.
 */
export async function createService(config: Config, overrides: Overrides = {}): Promise<Service> {
  const clock = overrides.clock ?? systemClock
  const log = overrides.log ?? pino({ level: config.logLevel, base: { service: 'vostro' }, redact: REDACTED })
  await using started = new AsyncDisposableStack()

  let databaseUrl = config.databaseUrl
  if (databaseUrl === null) {
    const embedded = await startEmbeddedPostgres({ dataDir: config.dataDir, log: (line) => log.info(line) })
    started.defer(() => embedded.stop())
    databaseUrl = embedded.url
  }
  await migrate(databaseUrl)
  const database = new Database(databaseUrl)
  started.defer(() => database.close())
  await maintainPartitions(database, clock.now())
  const maintenance = setInterval(() => {
    maintainPartitions(database, clock.now()).catch((error: unknown) => log.warn({ err: error }, 'partitions could not be looked after'))
  }, MAINTENANCE_MS)
  started.defer(() => clearInterval(maintenance))

  const ids = createIdSource(clock)
  const sandbox = config.sandbox ? await openSandbox({ config, database, clock, ids }) : null
  const onError = (error: unknown, what: string) => log.warn({ err: error }, what)
  const system = new ActorSystem({ databaseUrl, lanes: config.commitLanes, clock, onBug: (error, what) => log.error({ err: error }, what) })
  started.defer(() => system.close())

  const shards = openShards(config, log, databaseUrl)
  const bank = new SandboxBank({ database, clock, shards, onError })
  const accounts = new InternalAccountDirectory(database, ids)
  const queue = new PaymentQueue({ system, database, accounts, bank, ids, clock, shards, onError })
  if (overrides.dispatch !== false) {
    started.defer(async () => { await bank.stop(); await queue.stop() })
    await queue.start()
    bank.start(queue.inbox)
  }

  const reads = createReads({ database, clock, drainPerSecond: () => queue.rate })
  const findIdempotencyRecord = async (id: string): Promise<IdempotencyRecord | null> => {
    const record = await reads.findIdempotencyRecord(id)
    if (record === null) return null
    return { fingerprint: record.fingerprint, createdAt: record.createdAt, answer: storedAnswer(record) }
  }
  const shared = { ids, clock, problemBase: config.problemBase }
  const world: World = {
    ...shared,
    sandbox: config.sandbox,
    cursorKey: await cursorKey(config),
    log,
    queries: reads,
    commands: overrides.commands?.(database, shared) ?? createCommands({
      ...shared, system, queue, database, balances: new BalanceDirectory(database), recipients: new RecipientDirectory(database),
      orderNumbers: new OrderNumbers(database), findIdempotencyRecord,
    }),
    health: () => ({ status: 'ok', version: BUILD.version, commit: BUILD.commit, time: timestamp(clock.now()) }),
    readiness: () => readiness(database, shards),
    findApiKey: reads.findApiKey,
    findIdempotencyRecord,
  }
  const forwarding = null as ReturnType<typeof createForwarding> | null
  started.defer(async () => { await forwarding?.close() })
  const admission = createAdmission(createApp(routes, world, forwarding).callback(), (path) => overloaded(world, path))
  started.defer(() => admission.close())
  const server = createHttpServer(admission.listener, world)
  const url = await listen(server, config)
  started.defer(() => drain(server))
  // Last to start and first to stop: a node takes shards when it can work, and gives them up before it stops working.
  await shards.start()
  started.defer(() => shards.stop())
  if (sandbox !== null) await keepSandbox(config, url, sandbox)

  const running = started.move()
  const close = () => running.disposeAsync()
  return { url, databaseUrl, sandbox, system, queue, shards, close, [Symbol.asyncDispose]: close }
}

/** Nothing that authenticates anybody reaches a log. */
const REDACTED = ['*.authorization', '*.password', '*.secret', '*.apiKey', 'req.headers.authorization', 'req.headers.cookie']

/** Ready: the database answers, and the shards of this node are known. */
async function readiness(database: Database, shards: Shards): ReturnType<World['readiness']> {
  const from = performance.now()
  const postgres = await database.query({ name: 'ready', text: 'select 1', values: [] }).then(() => true, () => false)
  const latencyMs = Math.round(performance.now() - from)
  const { nodeId, held, total, nodes } = shards.state()
  const checks = [
    { name: 'postgres', ok: postgres, latencyMs },
    { name: 'shards', ok: nodes > 0, latencyMs: 0, nodeId, held, total, nodes },
  ]
  return { status: checks.every(({ ok }) => ok) ? 'ready' : 'not_ready', checks }
}

/** One node has every shard; several lease them from Redis, unless leases are switched off. */
function openShards(_config: Config, _log: Logger, _databaseUrl: string): Shards {
  return new InProcessShards(randomUUID())
}

/** The 503 of admission. */
function overloaded({ ids, problemBase }: World, path: string): { readonly body: string; readonly requestId: string } {
  const requestId = ids.next()
  const instance = path.split('?', 1)[0] as string
  return { requestId, body: problemBody({ slug: 'service-unavailable', detail: 'Too many requests are under way. Send the same request again shortly.', retryAfterSeconds: 1 }, { problemBase, instance, requestId }) }
}

/** The secret that the service's own keys are derived from: the setting, or one made once and kept in DATA_DIR. */
async function cursorKey(config: Config): Promise<Uint8Array> {
  const secret = config.secretsKey ?? await ownSecret(config.dataDir)
  return new Uint8Array(hkdfSync('sha256', secret, '', 'vostro cursors', 32))
}

async function ownSecret(dataDir: string): Promise<string> {
  const path = join(dataDir, 'secrets.key')
  await mkdir(dataDir, { recursive: true })
  // `wx`: of two nodes that start at once, one makes it and both read it.
  await writeFile(path, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw new StartError(`DATA_DIR ${dataDir} cannot be written (${error.code}); make it writable or set another DATA_DIR.`, { cause: error })
  })
  return await readFile(path, 'utf8')
}

async function listen(server: Server, { host, port }: Config): Promise<string> {
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new StartError(`Port ${port} on ${host} is in use; stop what listens there or set another PORT.`, { cause: error })
    if (code === 'EACCES') throw new StartError(`Port ${port} may not be opened by this user; set a PORT above 1023.`, { cause: error })
    throw new StartError(`Cannot listen on ${host}:${port} (${code}); correct HOST and PORT.`, { cause: error })
  }
  const address = server.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`
}

/** No new requests; those under way get their answers. */
async function drain(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
  // A keep-alive connection that becomes idle while we drain is closed by the next look.
  const sweep = setInterval(() => server.closeIdleConnections(), 100)
  await closed
  clearTimeout(cut)
  clearInterval(sweep)
}

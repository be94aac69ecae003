/**
 * A world for tests of the whole service: the real service on its own port and database, with a seeded sandbox.
 *
 *   await using world = await createWorld()
 *   const { client, balances, recipients } = world.seeded
 *
 * With TEST_NODES=2 in the environment every world has that many nodes. The nodes know nothing of each other and hold
 * no leases, and each request goes to the next node: the claims of a test must hold all the same (I3).
 *
 * The clock of every world begins at the time that TEST_START names (test/support/start-time.ts).
 *
 * At its disposal the service is stopped and two things are asserted for every test: the books are right
 * (storage/audit/audit.ts), and the service has logged no error, which is how it reports a bug.
 */
import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import pg from 'pg'
import pino from 'pino'

import type { Overrides, Service } from '../../http/server/service.ts'
import { createService } from '../../http/server/service.ts'
import { systemClock, type Clock } from '../../lib/base/clock.ts'
import { readConfig } from '../../lib/config/config.ts'
import { createIdSource } from '../../lib/base/ids.ts'
import { audit } from '../../storage/audit/audit.ts'
import { Database } from '../../storage/db/database.ts'
import { createWorkerPool } from '../../workers/pool/pool.ts'
import { freePort } from '../../storage/embedded/ports.ts'
import { createSandboxCustomer } from '../../storage/seed/seed-customers.ts'
import type { CustomerSpec } from '../../storage/seed/seed-customers.ts'
import type { SandboxContent } from '../../storage/seed/seed.ts'
import type { StaffRole } from '../../lib/identity/capabilities.ts'
import { Client } from './client.ts'
import { Person } from './person.ts'
import { createSandboxDatabase, createTestDatabase, SANDBOX_ENV } from './postgres.ts'
import { startAheadMs } from './start-time.ts'
import { hurryWhileWaiting, until } from './until.ts'

export interface WorldOptions {
  /** False leaves payments waiting; the bank is not called. */
  readonly dispatch?: boolean
  /** Further parts to replace. */
  readonly overrides?: Omit<Overrides, 'clock' | 'log' | 'dispatch'>
  /** Uses this database instead of a clone; it is neither removed nor audited afterwards. */
  readonly databaseUrl?: string
  /** Settings in addition to those of every test, by the names of their variables. */
  readonly settings?: Readonly<Record<string, string>>
  /**
   * True stops the clock: time passes only by `advance`, to the millisecond, for tests that look at both sides of a
   * deadline. Waiting does not move it either.
   */
  readonly stillClock?: boolean
  /** The number of nodes, whose timers all run for every row unless they meet in a Redis; otherwise as TEST_NODES says. */
  readonly nodes?: number
  /**
   * The Redis through which the nodes know of each other, as in production: each has its share of the shards from the
   * start, and commands go to the home of their customer. Absent: they know nothing of each other.
   */
  readonly redisUrl?: string
  /** Lowest level of the log lines kept in `logged`; `warn` by default. */
  readonly logLevel?: 'info' | 'warn'
}

/** A customer with its own client. */
export interface Customer {
  readonly id: string
  readonly client: Client
  /** Ids, in the order of the specification. */
  readonly balanceIds: readonly string[]
  readonly recipients: { readonly EUR: string; readonly GBP: string; readonly USD: string }
}

export interface World extends AsyncDisposable {
  /** The running service; the first where there are several. `restart` replaces it. */
  readonly service: Service
  /** All running nodes. */
  readonly services: readonly Service[]
  readonly url: string
  readonly databaseUrl: string
  readonly dataDir: string
  readonly operator: Client
  readonly seeded: {
    readonly client: Client
    readonly balances: SandboxContent['customer']['balances']
    readonly recipients: SandboxContent['customer']['recipients']
  }
  /** Creates another customer of the operator, with money booked in the ordinary way. */
  customer(spec: Omit<CustomerSpec, 'legalName' | 'number'>): Promise<Customer>
  /** Queries the database directly. */
  query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<Row[]>
  /** Moves the service's clock forward. Requests under way may exceed their deadlines. */
  advance(ms: number): void
  /** Moves the service's clock forward to a moment, epoch milliseconds. */
  advanceTo(moment: number): void
  /** Runs the pollers of all nodes once (`Service.pollOnce`): what is due now is done, and what is not is not. */
  pollOnce(): Promise<void>
  /** Errors that the service has logged so far; a test that provokes errors empties the list. */
  readonly errors: string[]
  /** Lines that the service has logged. */
  readonly logged: string[]
  /** Makes a person of the seeded sandbox, not signed in yet: a member of the customer, or staff of the operator. */
  person(role: 'owner' | 'approver' | 'preparer' | StaffRole): Person
  /** The service's current time, epoch milliseconds. */
  now(): number
  /** Stops the service, and starts it again on the same database and DATA_DIR. */
  restart(overrides?: Pick<Overrides, 'dispatch'>): Promise<void>
  /** Runs the audit. @throws when the books are wrong, with the rows that disagree */
  audit(): Promise<void>
}

/** Number of nodes of each world that names none. */
export const NODES = Number(process.env['TEST_NODES'] ?? 1)

/** How far the clock of a world is ahead of the machine's when it starts, milliseconds. */
const AHEAD_MS = startAheadMs()

/**
 * How far a clock that stands still is ahead of the machine's at its start: further than a test lasts, so that nothing
 * is due by the clock of Postgres before it is due by the service's.
 */
const STILL_AHEAD_MS = 600_000

/** pino's level of an error. */
const ERROR_LEVEL = 50

/**
 * Connections of a node's pool. A new connection takes 25 ms of processor time, and each world begins with as many as it
 * may have.
 */
const POOL = 3

/**
 * One pool for all worlds of a process, because a thread takes 0.1 to 0.3 s of processor time to load its task. Its
 * threads start with the first task, and keep no process alive.
 */
const workers = createWorkerPool()

/** Starts a world. Its disposal stops the service and runs the audit. */
export async function createWorld(options: WorldOptions = {}): Promise<World> {
  await using made = new AsyncDisposableStack()
  // A service with its own first start, or its own secrets, makes its sandbox itself.
  const template = process.env[SANDBOX_ENV]
  const sandboxed =
    template !== undefined &&
    options.databaseUrl === undefined &&
    options.redisUrl === undefined &&
    !['APP_ENV', 'SECRETS_KEY'].some((name) => name in (options.settings ?? {}))
  const database =
    options.databaseUrl === undefined
      ? made.use(await (sandboxed ? createSandboxDatabase() : createTestDatabase()))
      : null
  const databaseUrl = database?.url ?? options.databaseUrl!
  const dataDir = await mkdtemp(join(tmpdir(), 'vostro-world-'))
  made.defer(() => rm(dataDir, { recursive: true, force: true }))
  if (sandboxed) await cp(template, dataDir, { recursive: true })
  const admin = new pg.Pool({ connectionString: databaseUrl, max: 2 })
  // A test may stop Postgres, so errors of this connection are ignored.
  admin.on('error', () => undefined)
  made.defer(() => admin.end())

  const errors: string[] = []
  const logged: string[] = []
  const log = pino(
    { level: options.logLevel ?? 'warn' },
    {
      write(line: string) {
        logged.push(line)
        if ((JSON.parse(line) as { level: number }).level >= ERROR_LEVEL) errors.push(line)
      },
    },
  )
  const stopped = options.stillClock === true ? systemClock.now() + STILL_AHEAD_MS : null
  const nodes = options.nodes ?? NODES
  let offset = AHEAD_MS
  const jumps: (() => void)[] = []
  const clock: Clock = {
    now: () => (stopped ?? systemClock.now()) + offset,
    onJump: (listener) => void jumps.push(listener),
  }
  const advance = (ms: number): void => {
    offset += ms
    for (const jumped of jumps) jumped()
  }
  if (stopped === null) made.defer(hurryWhileWaiting(advance))
  const config = readConfig({
    PORT: '0',
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    LOG_LEVEL: 'warn',
    RATE_LIMITS: 'off',
    DATABASE_POOL: String(POOL),
    ...(options.redisUrl === undefined ? {} : meetingIn(options.redisUrl)),
    ...options.settings,
  })
  const start = async (overrides: Pick<Overrides, 'dispatch'> = {}): Promise<readonly Service[]> => {
    const services: Service[] = []
    // The nodes start one after the other: the first makes the sandbox, the others find it.
    for (let node = 0; node < nodes; node++) {
      // All nodes share one public URL, so that links are the same whichever node writes them.
      const publicUrl = services[0] === undefined ? {} : { publicUrl: services[0].url }
      const address = config.redisUrl === null ? {} : await ownAddress()
      services.push(
        await createService(
          { ...config, ...address, ...publicUrl },
          {
            clock,
            log,
            workers,
            dispatch: options.dispatch ?? true,
            refuseWhenLate: false,
            ...options.overrides,
            ...overrides,
          },
        ),
      )
    }
    if (config.redisUrl !== null) await until('the shards have their homes', () => haveShared(services))
    return services
  }
  const stop = () => Promise.all(services.map((service) => service.close()))

  const check = async () => {
    const connection = await admin.connect()
    try {
      const report = await audit(connection)
      const broken = report.checks.filter(({ disagreeing }) => disagreeing > 0)
      if (broken.length > 0) throw new Error(`The books are wrong: ${JSON.stringify(broken, null, 2)}`)
    } finally {
      connection.release()
    }
  }
  if (database !== null) made.defer(check)
  let services = await start()
  made.defer(async () => {
    await stop()
  })

  const sandbox = services[0]!.sandbox!
  let requests = 0
  const url = () => services[requests++ % nodes]!.url
  const kept = made.move()
  return {
    get service() {
      return services[0]!
    },
    get services() {
      return services
    },
    get url() {
      return url()
    },
    databaseUrl,
    dataDir,
    errors,
    logged,
    now: () => clock.now(),
    person(role) {
      const { operator, customer } = services[0]!.sandbox!
      const member = role === 'owner' || role === 'approver' || role === 'preparer'
      const login = member ? customer.members[role] : operator.staff.find((person) => person.role === role)
      if (login === undefined) throw new Error(`The sandbox has no ${role}.`)
      return new Person({ url, login, tenantId: member ? customer.id : operator.id, now: () => clock.now() })
    },
    operator: new Client({ url, apiKey: sandbox.operator.apiKey, tenantId: sandbox.operator.id }),
    seeded: {
      client: new Client({ url, apiKey: sandbox.customer.apiKey, tenantId: sandbox.customer.id }),
      balances: sandbox.customer.balances,
      recipients: sandbox.customer.recipients,
    },
    async customer(spec) {
      const customer = await addCustomer(databaseUrl, sandbox.operator.id, spec, clock)
      return { ...customer, client: new Client({ url, apiKey: customer.apiKey, tenantId: customer.id }) }
    },
    query: async <Row extends object>(sql: string, values: readonly unknown[] = []) =>
      (await admin.query<Row>(sql, [...values])).rows,
    advance,
    advanceTo: (moment) => advance(moment - clock.now()),
    async pollOnce() {
      await Promise.all(services.map((service) => service.pollOnce()))
    },
    async restart(overrides) {
      await stop()
      services = await start(overrides)
    },
    audit: check,
    async [Symbol.asyncDispose]() {
      await kept.disposeAsync()
      if (errors.length > 0) throw new Error(`The service logged errors:\n${errors.join('')}`)
    },
  }
}

/** The settings of nodes that meet in a Redis; each has an address of its own besides. */
const meetingIn = (redisUrl: string): Record<string, string> => ({
  REDIS_URL: redisUrl,
  NODE_URL: 'http://127.0.0.1:0',
  NODE_SECRET: randomBytes(32).toString('hex'),
  SECRETS_KEY: randomBytes(32).toString('hex'),
})

/** Where a node listens, which the other nodes have to know before it does. */
async function ownAddress() {
  const port = await freePort()
  return { port, nodeUrl: `http://127.0.0.1:${port}` }
}

/** Whether each node knows of all, and each shard has a home. */
function haveShared(services: readonly Service[]): boolean {
  const states = services.map(({ shards }) => shards.state())
  return (
    states.every(({ nodes }) => nodes === services.length) &&
    states.reduce((sum, { held }) => sum + held, 0) === states[0]!.total
  )
}

/** Creates an active customer with money, in a running service's database. */
export async function addCustomer(
  databaseUrl: string,
  operatorId: string,
  spec: Omit<CustomerSpec, 'legalName' | 'number'>,
  clock: Clock = systemClock,
) {
  const database = new Database(databaseUrl, 1)
  try {
    const [row] = await database.query<[string]>({
      name: 'connection_of',
      text: `select id from provider_connection where operator_id = $1 and status = 'active' and role = 'primary'`,
      values: [operatorId],
    })
    const number = randomBytes(6).toString('hex')
    const seeding = {
      database,
      clock,
      ids: createIdSource(clock),
      operatorId,
      connectionId: row![0],
    }
    const customer = await createSandboxCustomer(seeding, {
      legalName: `Test ${number}`,
      number,
      recipients: true,
      ...spec,
    })
    return {
      id: customer.id,
      apiKey: customer.apiKey,
      balanceIds: customer.balanceIds,
      recipients: customer.recipients!,
    }
  } finally {
    await database.close()
  }
}

/** Makes the body of a payment of the given minor units to the recipient, in euro by default. */
export function paymentBody(
  sourceBalanceId: string,
  recipientId: string,
  amountMinor: number | bigint | string,
  currency = 'EUR',
) {
  return {
    sourceBalanceId,
    recipientId,
    amount: { amountMinor: String(amountMinor), currency },
    reference: 'Invoice 42',
  }
}

/** Makes the body of a transfer of the given minor units, in euro by default. */
export function transferBody(
  fromBalanceId: string,
  toBalanceId: string,
  amountMinor: number | bigint | string,
  currency = 'EUR',
) {
  return { fromBalanceId, toBalanceId, amount: { amountMinor: String(amountMinor), currency } }
}

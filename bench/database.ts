/**
 * The databases of a bench: one embedded Postgres in a temporary directory, a template in it that is migrated and
 * seeded once, and a clone of that for every subject of every scenario, so that all of them begin alike.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { systemClock } from '../lib/base/clock.ts'
import { createIdSource } from '../lib/base/ids.ts'
import type { CreatePayment } from '../lib/payments/create-payment-command.ts'
import { shardOf } from '../lib/shards/shard.ts'
import { audit } from '../storage/audit/audit.ts'
import { Database } from '../storage/db/database.ts'
import { startEmbeddedPostgres } from '../storage/embedded/embedded.ts'
import { migrate } from '../storage/schema/migrate.ts'
import { maintainPartitions } from '../storage/db/partitions.ts'
import { createSandboxCustomers, createSandboxOperator, type CreatedCustomer } from '../storage/seed/seed-customers.ts'
import type { RecipientStatus } from '../lib/recipients/review.ts'
import { parentOf } from './cpu-time.ts'

/** 100 customers, each with a key of its own, times 10 balances: a thousand balances over all shards and lanes. */
const CUSTOMERS = 100
const BALANCES_PER_CUSTOMER = 10
/** A hundred thousand millions: no run ever empties a balance, so no payment is refused, and MT940 has room for it. */
const OPENING_MINOR = 10_000_000_000_000n

/** A balance that pays, with everything that is needed to make it. */
export interface Payer {
  readonly customerId: string
  readonly apiKey: string
  readonly shard: number
  readonly balanceId: string
  readonly recipient: CreatePayment['recipient']
  /** Of the same customer, where dollars go that it buys. */
  readonly dollarBalanceId: string
}

/** The database of a subject. */
export interface BenchDatabase extends AsyncDisposable {
  readonly url: string
  /** Writes out what is dirty, so that a measurement does not pay for the one before it. */
  checkpoint(): Promise<void>
  query<Row>(text: string): Promise<Row[]>
  /** The fault of the books, as one sentence; null when they are right. */
  audit(): Promise<string | null>
}

export interface BenchDatabases extends AsyncDisposable {
  readonly directory: string
  readonly postgresVersion: string
  readonly payers: readonly Payer[]
  /** The first process of Postgres; null where there is no `/proc`. */
  readonly postmaster: number | null
  /** The names of the connections, by the process that serves them. */
  applications(): Promise<ReadonlyMap<number, string>>
  clone(name: string): Promise<BenchDatabase>
}

/** Starts Postgres and makes the template. Disposing stops it and deletes everything. */
export async function startDatabases(): Promise<BenchDatabases> {
  await using started = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'vostro-bench-'))
  started.defer(() => rm(directory, { recursive: true, force: true }))
  const server = await startEmbeddedPostgres({ dataDir: join(directory, 'data'), log: () => undefined })
  started.defer(() => server.stop())
  const admin = await connect(withDatabase(server.url, 'postgres'))
  started.defer(() => admin.end())
  await admin.query('create database bench_template')
  const payers = await makeTemplate(withDatabase(server.url, 'bench_template'))
  const {
    rows: [running],
  } = await admin.query<{ version: string; pid: number }>(
    `select current_setting('server_version') as version, pg_backend_pid() as pid`,
  )
  let clones = 0
  const resources = started.move()
  return {
    directory,
    postgresVersion: running!.version.split(' ')[0] as string,
    payers,
    postmaster: parentOf(running!.pid),
    applications: async () => {
      const { rows } = await admin.query<{ pid: number; application: string }>(
        'select pid, application_name as application from pg_stat_activity',
      )
      return new Map(rows.map(({ pid, application }) => [pid, application]))
    },
    clone: async (name) => {
      clones += 1
      const database = `bench_${clones}_${name.replace(/\W+/g, '_').toLowerCase()}`
      await admin.query(`create database ${database} template bench_template`)
      return await openDatabase(withDatabase(server.url, database), () =>
        admin.query(`drop database ${database} with (force)`),
      )
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

async function openDatabase(url: string, drop: () => Promise<unknown>): Promise<BenchDatabase> {
  const client = await connect(url)
  return {
    url,
    checkpoint: async () => {
      await client.query('checkpoint')
    },
    query: async (text) => (await client.query(text)).rows,
    audit: async () => {
      const report = await audit(client)
      const broken = report.checks.filter(({ disagreeing }) => disagreeing > 0)
      return report.ok
        ? null
        : broken
            .map(
              ({ name, disagreeing, rows }) =>
                `${name}: ${disagreeing} rows disagree, for example ${JSON.stringify(rows[0])}`,
            )
            .join('; ')
    },
    [Symbol.asyncDispose]: async () => {
      await client.end()
      await drop()
    },
  }
}

async function makeTemplate(url: string): Promise<Payer[]> {
  await migrate(url)
  const database = new Database(url)
  try {
    const clock = systemClock
    await maintainPartitions(database, clock.now())
    const world = { database, clock, ids: createIdSource(clock) }
    const operator = await createSandboxOperator(world)
    const customers = await createSandboxCustomers(
      { ...world, ...operator },
      Array.from({ length: CUSTOMERS }, (_, nth) => ({
        legalName: `Bench ${nth + 1} Ltd`,
        number: `BENCH-${nth + 1}`,
        balances: [
          ...Array.from({ length: BALANCES_PER_CUSTOMER }, (_, own) => ({
            currency: 'EUR' as const,
            amount: OPENING_MINOR,
            name: `Balance ${own + 1}`,
          })),
          { currency: 'USD' as const, amount: 0n, name: 'Dollars' },
        ],
        recipients: true,
      })),
    )
    const recipients = await recipientsOf(database)
    return customers.flatMap((customer) => payersOf(customer, recipients))
  } finally {
    await database.close()
  }
}

function payersOf(customer: CreatedCustomer, recipients: ReadonlyMap<string, CreatePayment['recipient']>): Payer[] {
  const recipient = recipients.get(customer.recipients!.EUR)!
  const dollarBalanceId = customer.balanceIds[BALANCES_PER_CUSTOMER]!
  return customer.balanceIds.slice(0, BALANCES_PER_CUSTOMER).map((balanceId) => ({
    customerId: customer.id,
    apiKey: customer.apiKey,
    shard: shardOf(customer.id),
    balanceId,
    recipient,
    dollarBalanceId,
  }))
}

async function recipientsOf(database: Database): Promise<Map<string, CreatePayment['recipient']>> {
  const rows = await database.query<[string, string, 'business', string, string, string, RecipientStatus, string]>({
    name: 'bench_recipients',
    values: [],
    text: `select id, name, type, masked_identifier, currency, bank_country, status, version from recipient`,
  })
  return new Map(
    rows.map(([id, name, type, maskedIdentifier, currency, bankCountry, status, version]) => [
      id,
      {
        id,
        name,
        type,
        maskedIdentifier,
        currency,
        bankCountry,
        status,
        version: BigInt(version),
        digest: '',
        ownAccount: false,
        rails: { version: 1 },
      },
    ]),
  )
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'vostro bench' })
  // A bench that is interrupted stops Postgres under its connections; the query in flight rejects by itself.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

function withDatabase(url: string, database: string): string {
  const address = new URL(url)
  address.pathname = `/${database}`
  return address.href
}

/** A connection of the adapter of files, over a database and a directory or an SFTP server of a test. */
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { AdapterConnection, RawProviderEvent } from '../../actors/providers/adapters/adapter.ts'
import { createFilesAdapter } from '../../actors/providers/adapters/files/files-adapter.ts'
import type { PartnerFiles } from '../../actors/providers/adapters/partner-files.ts'
import type { PaymentOrder } from '../../actors/providers/bank.ts'
import { createPartnerFiles } from '../../actors/providers/files/partner-files.ts'
import { ManualClock } from '../../lib/base/clock.ts'
import { createIdSource } from '../../lib/base/ids.ts'
import type { FilesConfig } from '../../lib/providers/files/files-config.ts'
import { Database } from '../../storage/db/database.ts'
import { createBankFileReader } from '../../workers/providers/bank-file-reader.ts'
import { ordersOf, type ReceivedOrder } from './bank-answers.ts'
import { createTestDatabase } from './postgres.ts'

/** A Monday, before every cut-off. */
export const NOON = Date.parse('2026-11-23T09:00:00Z')
export const DAY = '2026-11-23'
export const ACCOUNT = { iban: 'NL02ABNA0123456789', currency: 'EUR' } as const
const CREDITOR = 'DE89370400440532013000'

export const DIRECTORY_CONFIG: FilesConfig = {
  transport: 'directory',
  paths: { outgoing: 'out', incoming: 'in', archive: 'archive' },
  settlementAccounts: [{ currency: 'EUR', accountRef: ACCOUNT.iban, bic: 'ABNANL2A' }],
  initiatingParty: { name: 'Norden Bank' },
  gatherSeconds: 60,
}

export interface FilesConnection extends AsyncDisposable {
  readonly id: string
  readonly clock: ManualClock
  readonly database: Database
  readonly connection: AdapterConnection
  /** Opens the connection anew, as another node does; parts of the ways out may be replaced. */
  open(replace?: (files: PartnerFiles) => PartnerFiles): AdapterConnection
  order(reference: string, amount?: bigint): PaymentOrder
  /** Sends all files that are due. */
  carryOut(by?: AdapterConnection): Promise<void>
  /** The orders of all files that the bank has, by file. */
  sent(): Promise<ReadonlyMap<string, readonly ReceivedOrder[]>>
  /** The directory in which `out`, `in` and `archive` are. */
  readonly directory: string
  /** The bank fetches all that is there for it. */
  fetch(): Promise<void>
  /** The names of the hidden files that were left beside the others. */
  left(): Promise<readonly string[]>
  /** Leaves a file of the bank. */
  leave(name: string, text: string): Promise<void>
  /** Reads all events of the bank's files. */
  events(by?: AdapterConnection): Promise<readonly RawProviderEvent[]>
  /** Reads rows of this connection. `rest`: what follows the condition. */
  rows<Row extends pg.QueryResultRow>(columns: string, table: string, rest?: string): Promise<readonly Row[]>
}

/** The database of all connections of a test file. */
export interface FilesDatabase extends AsyncDisposable {
  readonly database: Database
  readonly admin: pg.Pool
}

export async function createFilesDatabase(): Promise<FilesDatabase> {
  const test = await createTestDatabase()
  const database = new Database(test.url)
  const admin = new pg.Pool({ connectionString: test.url, max: 2 })
  // The database is dropped while the last connection closes.
  admin.on('error', () => undefined)
  return {
    database,
    admin,
    async [Symbol.asyncDispose]() {
      await admin.end()
      await database.close()
      await test[Symbol.asyncDispose]()
    },
  }
}

export interface FilesConnectionOptions {
  readonly config?: Partial<FilesConfig>
  /** Null: a directory of this connection, which is made. */
  readonly server?: { readonly directory: string; readonly privateKey: string } | null
  readonly eventsMax?: number
}

export async function openFilesConnection(
  { database, admin }: FilesDatabase,
  { config, server = null, eventsMax }: FilesConnectionOptions = {},
): Promise<FilesConnection> {
  await using made = new AsyncDisposableStack()
  const root = await mkdtemp(join(tmpdir(), 'vostro-files-'))
  made.defer(() => rm(root, { recursive: true, force: true }))
  const reader = createBankFileReader()
  made.defer(() => reader.close())
  const clock = new ManualClock(NOON)
  const id = randomUUID()
  const operatorId = randomUUID()
  const directory = server?.directory ?? join(root, id)
  for (const name of ['out', 'in', 'archive']) await mkdir(join(directory, name), { recursive: true })
  const files = createPartnerFiles({
    database,
    ids: createIdSource(clock),
    clock,
    readBankFile: reader.read,
    root,
    targets: { policy: 'any', networks: [], resolve: async () => ['127.0.0.1'] },
  })
  const open: FilesConnection['open'] = (replace = (same) => same) =>
    createFilesAdapter(eventsMax === undefined ? {} : { eventsMax }).open(
      {
        id,
        operatorId,
        environment: 'sandbox',
        config: { ...DIRECTORY_CONFIG, ...config },
        credentials: server === null ? null : { privateKey: server.privateKey },
      },
      {
        http: () => {
          throw new Error('Files need no HTTP.')
        },
        files: replace(files),
      },
    )
  const connection = open()
  const rows = async <Row extends pg.QueryResultRow>(columns: string, table: string, rest = '') =>
    (await admin.query<Row>(`select ${columns} from ${table} where connection_id = $1 ${rest}`, [id])).rows
  const events: FilesConnection['events'] = async (by = connection) => {
    const found: RawProviderEvent[] = []
    for (let cursor: string | null = null; ; ) {
      const page = await by.list!(0, cursor, clock.now())
      found.push(...page.events)
      if (page.cursor === null) return found
      cursor = page.cursor
    }
  }
  const running = made.move()
  return {
    id,
    clock,
    database,
    connection,
    open,
    rows,
    events,
    order: (reference, amount = 12_34n) => ({
      reference,
      shard: 0,
      connectionId: id,
      rail: 'sepa',
      currency: 'EUR',
      amount,
      creditorName: 'Jane Doe',
      remittance: 'Invoice 4711',
      parties: {
        debtor: { name: 'Acme Ltd', address: null, account: null },
        creditor: {
          name: 'Jane Doe',
          type: 'individual',
          address: null,
          bankCountry: 'DE',
          account: { iban: CREDITOR },
          bankAddress: null,
        },
        endToEndId: `E2E-${reference.slice(-12)}`,
        uetr: null,
        purposeCode: null,
        purpose: null,
        chargeBearer: 'shared',
        executionDate: DAY,
        bulkPaymentId: null,
      },
    }),
    async carryOut(by = connection) {
      const all = await rows<{ id: string; due_at: Date | null }>(
        'id, due_at',
        'provider_file',
        'order by created_at, id',
      )
      const due = all.filter(({ due_at: at }) => at !== null && at.getTime() <= clock.now())
      for (const file of due) await by.carryOut!(file.id, clock.now())
    },
    async sent() {
      const names = (await readdir(join(directory, 'out'))).filter((name) => !name.startsWith('.')).sort()
      const found = new Map<string, readonly ReceivedOrder[]>()
      for (const name of names) found.set(name, ordersOf(await readFile(join(directory, 'out', name), 'utf8')))
      return found
    },
    directory,
    async fetch() {
      for (const name of await readdir(join(directory, 'out')))
        if (!name.startsWith('.')) await rm(join(directory, 'out', name))
    },
    left: async () => (await readdir(join(directory, 'out'))).filter((name) => name.startsWith('.')),
    async leave(name, text) {
      await writeFile(join(directory, 'in', `.${name}.part`), text)
      await rename(join(directory, 'in', `.${name}.part`), join(directory, 'in', name))
    },
    async [Symbol.asyncDispose]() {
      await running.disposeAsync()
    },
  }
}

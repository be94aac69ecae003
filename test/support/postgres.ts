/**
 * A separate database for each test file. `test/run.ts` starts one server and makes templates in it: one with the
 * schema, and one that a first start has filled with its sandbox. A clone costs tens of milliseconds, whatever the
 * number of migrations; a first start costs more than a second, most of it for the passwords of the sandbox's people.
 */
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'

import pg from 'pg'

import { migrate } from '../../storage/schema/migrate.ts'

/** The environment variable that carries the server's address from `test/run.ts` to the test files. */
export const POSTGRES_ENV = 'VOSTRO_TEST_POSTGRES'

/** The environment variable that carries the DATA_DIR of the sandbox template. */
export const SANDBOX_ENV = 'VOSTRO_TEST_SANDBOX'

const TEMPLATE = 'template_vostro'
const SANDBOX_TEMPLATE = 'template_sandbox'

export interface TestDatabase extends AsyncDisposable {
  readonly url: string
}

/**
 * Makes and migrates the template. No further connections to it are permitted, because a connection would block
 * cloning.
 */
export async function makeTemplate(serverUrl: string): Promise<void> {
  const { username, password } = new URL(serverUrl)
  await administer(serverUrl, [
    // A world opens some fifteen connections, and each would derive a key from the password in 4096 rounds.
    'set scram_iterations = 1',
    `alter role ${username} password '${password}'`,
    `create database ${TEMPLATE}`,
  ])
  await askForPasswords(serverUrl)
  await migrate(withDatabase(serverUrl, TEMPLATE))
  await close(serverUrl, TEMPLATE)
}

/**
 * Connections send their password, which Postgres compares as it does in the exchange of SCRAM. That exchange takes each
 * side six digests and the driver some twenty promises, which is a fiftieth of Node's processor time in the tests of
 * `http`; servers that tests start themselves keep it.
 */
async function askForPasswords(serverUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: withDatabase(serverUrl, 'postgres') })
  await client.connect()
  try {
    const { rows } = await client.query<{ path: string }>(`select current_setting('hba_file') as path`)
    await client.query(`copy (values ('host all all 127.0.0.1/32 password')) to ${client.escapeLiteral(rows[0]!.path)}`)
    await client.query('select pg_reload_conf()')
  } finally {
    await client.end()
  }
}

/** Makes the template with a sandbox: `start` starts a service on the given database, and stops it again. */
export async function makeSandboxTemplate(
  serverUrl: string,
  start: (databaseUrl: string) => Promise<void>,
): Promise<void> {
  await administer(serverUrl, [`create database ${SANDBOX_TEMPLATE} template ${TEMPLATE}`])
  await start(withDatabase(serverUrl, SANDBOX_TEMPLATE))
  await close(serverUrl, SANDBOX_TEMPLATE)
}

function close(serverUrl: string, template: string): Promise<void> {
  return administer(serverUrl, [`alter database ${template} with is_template true allow_connections false`])
}

/**
 * Creates an empty database with the current schema. Its disposal cuts the remaining connections and drops it.
 *
 * @throws Error when the file is run without `npm test`, which provides the server.
 */
export function createTestDatabase(): Promise<TestDatabase> {
  return clone(TEMPLATE)
}

/** Creates a database with a sandbox in it; the sandbox's keys are in the DATA_DIR that `SANDBOX_ENV` names. */
export function createSandboxDatabase(): Promise<TestDatabase> {
  return clone(SANDBOX_TEMPLATE)
}

/** Creates a database without any schema, for tests of the migrations themselves. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return clone('template0')
}

async function clone(template: string): Promise<TestDatabase> {
  const serverUrl = process.env[POSTGRES_ENV]
  if (serverUrl === undefined) throw new Error('There is no test server; run this file with: npm test -- <file>')
  const name = `test_${randomBytes(6).toString('hex')}`
  // Copies files instead of writing every page to the log as well.
  await administer(serverUrl, [`create database ${name} template ${template} strategy file_copy`])
  return {
    url: withDatabase(serverUrl, name),
    [Symbol.asyncDispose]: () => administer(serverUrl, [`drop database if exists ${name} with (force)`]),
  }
}

/** The types of the driver lack two of its methods. */
type HeldClient = pg.Client & Pick<Socket, 'ref' | 'unref'>

/**
 * The connection of this process on which databases are made and dropped. It stays open, because each costs Postgres and
 * the driver 8 ms of processor time and a world would need two, and it keeps no process alive between statements.
 */
let administration: { readonly client: HeldClient; readonly ready: Promise<unknown>; users: number } | null = null

function administrationOf(serverUrl: string) {
  const client = new pg.Client({ connectionString: withDatabase(serverUrl, 'postgres') }) as HeldClient
  const opened = { client, ready: client.connect(), users: 0 }
  const forget = () => {
    if (administration === opened) administration = null
  }
  client.on('error', forget).on('end', forget)
  opened.ready.catch(forget)
  return opened
}

async function administer(serverUrl: string, statements: readonly string[]): Promise<void> {
  administration ??= administrationOf(serverUrl)
  const used = administration
  used.users += 1
  used.client.ref()
  try {
    await used.ready
    for (const statement of statements) await used.client.query(statement)
  } finally {
    used.users -= 1
    if (used.users === 0) used.client.unref()
  }
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

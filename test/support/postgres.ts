/**
 * A database of its own for each test file: `test/run.ts` starts one server and migrates a template in it, and a clone
 * of that costs tens of milliseconds, whatever the number of migrations.
 */
import { randomBytes } from 'node:crypto'

import pg from 'pg'

import { migrate } from '../../storage/migrate.ts'

/** The environment variable that carries the server's address from `test/run.ts` to the test files. */
export const POSTGRES_ENV = 'VOSTRO_TEST_POSTGRES'

const TEMPLATE = 'template_vostro'

export interface TestDatabase extends AsyncDisposable {
  readonly url: string
}

/** Makes and migrates the template. Nobody can connect to it afterwards, because a connection would block cloning. */
export async function makeTemplate(serverUrl: string): Promise<void> {
  await administer(serverUrl, [`create database ${TEMPLATE}`])
  await migrate(withDatabase(serverUrl, TEMPLATE))
  await administer(serverUrl, [`alter database ${TEMPLATE} with is_template true allow_connections false`])
}

/**
 * A new database with the current schema and nothing in it. Disposing it cuts the connections that are left and drops it.
 *
 * @throws Error when the file is run without `npm test`, which provides the server.
 */
export function createTestDatabase(): Promise<TestDatabase> {
  return clone(TEMPLATE)
}

/** The same without any schema, for tests of the migrations themselves. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return clone('template0')
}

async function clone(template: string): Promise<TestDatabase> {
  const serverUrl = process.env[POSTGRES_ENV]
  if (serverUrl === undefined) throw new Error('There is no test server; run this file with: npm test -- <file>')
  const name = `test_${randomBytes(6).toString('hex')}`
  await administer(serverUrl, [`create database ${name} template ${template}`])
  return {
    url: withDatabase(serverUrl, name),
    [Symbol.asyncDispose]: () => administer(serverUrl, [`drop database if exists ${name} with (force)`]),
  }
}

async function administer(serverUrl: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: withDatabase(serverUrl, 'postgres') })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

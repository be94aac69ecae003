/**
 * Brings a database to the schema that this version expects: runs the files `migrations/NNNN_what.sql` in the order of
 * their numbers, each once and in a transaction of its own, forward only. Several nodes may start at the same time: one
 * migrates, the others wait for it and find no migration left. The migrations of graphile-worker run before, under the
 * same lock.
 */
import { MINUTE_MS } from '../../lib/base/clock.ts'
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { MikroORM } from '@mikro-orm/postgresql'
import { Migration, Migrator } from '@mikro-orm/migrations'
import pg from 'pg'

import { StartError } from '../../lib/base/errors.ts'
import { installTasks } from '../tasks/install-tasks.ts'
import { ormOptions, unreachable } from './orm.ts'

export interface MigrateOptions {
  /** The directory of the migrations; the one beside this module by default. */
  readonly directory?: string
}

/** The table that records which files have run. */
export const MIGRATIONS_TABLE = 'migrations'

/** The advisory lock of the migrating node; any fixed number works, this one spells "migrate". */
const MIGRATE_LOCK = '0x6d696772617465'

/** Timeout while another node migrates: longer than an index on a large table takes to build. */
const LOCK_TIMEOUT_MS = 15 * MINUTE_MS

const CONNECT_TIMEOUT_MS = 5_000

/**
 * Runs outstanding migrations and returns their names, in order.
 *
 * @throws StartError when the database cannot be reached, a file's name is wrong, or the database has run migrations
 * that this version does not have, or the role may not make the schema of graphile-worker. A failing migration rejects
 * with Postgres' own error; it and the ones after it are
 * then rolled back or not run, the ones before it are committed.
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<string[]> {
  const files = await listMigrations(options.directory ?? join(import.meta.dirname, '../migrations'))
  const lock = new pg.Client({
    connectionString: url,
    application_name: 'vostro migrate',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  })
  // The query in flight rejects by itself; without a listener the same error would also end the process.
  lock.on('error', () => undefined)
  try {
    await lock.connect()
  } catch (error) {
    throw unreachable(url, error)
  }
  try {
    // The lock belongs to the session, the timeout to this transaction alone.
    await lock.query(
      `begin; set local lock_timeout = ${LOCK_TIMEOUT_MS}; select pg_advisory_lock(${MIGRATE_LOCK}); commit`,
    )
    await installTasks(lock)
    return (await isDone(lock, files)) ? [] : await runPending(url, files)
  } finally {
    // Ends the session, which releases the lock.
    await lock.end()
  }
}

interface MigrationFile {
  readonly name: string
  readonly path: string
}

async function listMigrations(directory: string): Promise<readonly MigrationFile[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort()
  const seen = new Map<string, string>()
  for (const name of names) {
    const number = /^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]
    if (number === undefined) throw new StartError(`The migration ${name} is not named NNNN_what.sql; rename it.`)
    const twin = seen.get(number)
    if (twin !== undefined) {
      throw new StartError(`The migrations ${twin} and ${name} have the same number; renumber the newer one.`)
    }
    seen.set(number, name)
  }
  return names.map((name) => ({ name: name.slice(0, -'.sql'.length), path: join(directory, name) }))
}

/**
 * Whether these files have run, and no others. Most starts find it so, and are spared the migrator, which takes 30 ms of
 * processor time and a connection.
 */
async function isDone(client: pg.Client, files: readonly MigrationFile[]): Promise<boolean> {
  const { rows: found } = await client.query<{ at: string | null }>('select to_regclass($1) as at', [MIGRATIONS_TABLE])
  if (found[0]?.at === null) return false
  const { rows } = await client.query<{ name: string }>(`select name from ${MIGRATIONS_TABLE} order by name`)
  return rows.length === files.length && rows.every(({ name }, at) => name === files[at]?.name)
}

async function runPending(url: string, files: readonly MigrationFile[]): Promise<string[]> {
  const orm = await MikroORM.init({
    ...ormOptions({ url, poolMax: 1 }),
    extensions: [Migrator],
    migrations: {
      tableName: MIGRATIONS_TABLE,
      migrationsList: files.map(({ name, path }) => ({ name, class: migrationOf(path) })),
      transactional: true,
      // Each file in its own transaction: an error in one file does not undo a long index build in the file before it.
      allOrNothing: false,
      // Switching foreign keys off needs a superuser, and hides mistakes.
      disableForeignKeys: false,
      snapshot: false,
      silent: true,
    },
  })
  try {
    const known = new Set(files.map((file) => file.name))
    const executed = await orm.migrator.getExecuted()
    const stranger = executed.find((row) => !known.has(row.name))
    if (stranger !== undefined) {
      throw new StartError(
        `The database has run the migration ${stranger.name}, which this vostro does not have; start the newer version.`,
      )
    }
    const ran = await orm.migrator.up()
    return ran.map(({ name }) => name)
  } finally {
    await orm.close(true)
  }
}

function migrationOf(path: string): new (...args: ConstructorParameters<typeof Migration>) => Migration {
  return class extends Migration {
    override up(): void {
      this.addSql(readFileSync(path, 'utf8'))
    }
  }
}

/**
 * The schema of graphile-worker, which runs the background work (actors/runtime/tasks.ts). It is made and brought up to
 * date by its own migrations, before those of the service, which refer to it, and under their lock.
 */
import { Logger, runMigrations } from 'graphile-worker'
import pg from 'pg'
import { StartError } from '../../lib/base/errors.ts'
import { INSUFFICIENT_PRIVILEGE, sqlState } from '../db/sqlstates.ts'

/** The schema of graphile-worker: nothing else is in it. */
export const TASK_SCHEMA = 'graphile_worker'

/** The outcome of what is called with this is known from its result. */
export const QUIET = new Logger(() => () => undefined)

/**
 * Makes the schema, or brings it up to date; does nothing when it is.
 *
 * @throws StartError when the role may not; Postgres' own error when a migration fails
 */
export async function installTasks(url: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 1, application_name: 'vostro migrate' })
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  try {
    await runMigrations({ pgPool: pool, schema: TASK_SCHEMA, logger: QUIET })
  } catch (error) {
    if (!(error instanceof Error) || sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error
    throw new StartError(
      `The role of DATABASE_URL may not make or change the schema ${TASK_SCHEMA} (${error.message}); ` +
        'grant it CREATE on the database, or start once with the role that owns it.',
      { cause: error },
    )
  } finally {
    await pool.end()
  }
}

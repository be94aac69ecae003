/**
 * The schema of graphile-worker, which runs the background work (actors/runtime/tasks.ts). It is made and brought up to
 * date by its own migrations, before those of the service, which refer to it, and under their lock.
 */
import { EventEmitter } from 'node:events'
import { Logger, runMigrations } from 'graphile-worker'
import type pg from 'pg'
import { StartError } from '../../lib/base/errors.ts'
import { INSUFFICIENT_PRIVILEGE, sqlState } from '../db/sqlstates.ts'

/** The schema of graphile-worker: nothing else is in it. */
export const TASK_SCHEMA = 'graphile_worker'

/** The outcome of what is called with this is known from its result. */
export const QUIET = new Logger(() => () => undefined)

/** A pool of one connection that is open already, in the form that graphile-worker takes. */
function poolOf(client: pg.Client): pg.Pool {
  const connect = async () => ({
    query: (...statement: Parameters<pg.Client['query']>): unknown => client.query(...statement),
    release: () => undefined,
  })
  // graphile-worker listens to pools whose errors are not listened to; the connection's owner listens.
  const pool = Object.assign(new EventEmitter(), { connect })
  pool.on('error', () => undefined)
  pool.on('connect', () => undefined)
  return pool as unknown as pg.Pool
}

/**
 * Makes the schema, or brings it up to date; does nothing when it is.
 *
 * @throws StartError when the role may not; Postgres' own error when a migration fails
 */
export async function installTasks(client: pg.Client): Promise<void> {
  try {
    await runMigrations({ pgPool: poolOf(client), schema: TASK_SCHEMA, logger: QUIET })
  } catch (error) {
    if (!(error instanceof Error) || sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error
    throw new StartError(
      `The role of DATABASE_URL may not make or change the schema ${TASK_SCHEMA} (${error.message}); ` +
        'grant it CREATE on the database, or start once with the role that owns it.',
      { cause: error },
    )
  }
}

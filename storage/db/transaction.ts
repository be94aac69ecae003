/** Runs one transaction on a connection of the pool. */
import type pg from 'pg'
import { OutcomeUnknown, type Reader, type SqlStatement } from './connection.ts'
import type { Database } from './database.ts'
import { asUnavailable } from './pool.ts'
import { provesRollback } from './sqlstates.ts'
import { beginUnit, endUnit } from './unit.ts'

/** The connection on which the statements of a transaction run. */
export type TransactionClient = pg.ClientBase

/** Runs named statements, with rows as arrays: on any connection of the pool, or on the connection of a transaction. */
export type Queries = Pick<Database, 'query'>

/**
 * Wraps the pool for loaders that also read through the connection of a lane. @throws DatabaseUnavailable, and what the
 * driver throws
 */
export function readerOf(database: Queries): Reader {
  return { query: async (statement) => ({ rows: await database.query(statement) }) }
}

/** Wraps the connection of a transaction, for functions that can also read through the pool. */
export function through(client: Pick<TransactionClient, 'query'>): Queries {
  return {
    query: async <Row extends unknown[]>(statement: SqlStatement) =>
      (await client.query({ ...statement, rowMode: 'array' })).rows as Row[],
  }
}

/** The connections whose transaction has written events. */
const EVENTFUL = new WeakSet<TransactionClient>()

/** Notes that the transaction of a connection writes events: the listeners of its database hear of the commit. */
export function writesEvents(client: TransactionClient): void {
  EVENTFUL.add(client)
}

/**
 * Runs the work between `begin` and `commit`; when the work throws, everything is rolled back. Within the work, and
 * within all code that it calls, requests to the pool throw SecondConnection: all statements go through `client`.
 *
 * @throws DatabaseUnavailable, OutcomeUnknown when the connection broke during the commit, and the errors of the work
 * and of the driver
 */
export async function inTransaction<Result>(
  database: Database,
  work: (client: TransactionClient) => Promise<Result>,
): Promise<Result> {
  return await database.hold(async (client, broken) => {
    let committing = false
    beginUnit(client)
    try {
      await client.query('begin')
      const result = await work(client)
      committing = true
      await client.query('commit')
      if (EVENTFUL.delete(client)) database.noteEvents()
      return result
    } catch (error) {
      // An error of the work leaves the connection usable; only a failed rollback closes it.
      EVENTFUL.delete(client)
      await client.query('rollback').catch(broken)
      if (committing && !provesRollback(error))
        throw new OutcomeUnknown('The connection was lost during a commit.', { cause: error })
      throw asUnavailable(error)
    } finally {
      endUnit(client)
    }
  })
}

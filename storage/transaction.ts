/** One transaction on a connection of the pool. */
import type pg from 'pg'
import { OutcomeUnknown, provesNothingWritten } from './connection.ts'
import { asUnavailable, type Database } from './database.ts'

/** What statements run on inside of one. */
export type TransactionClient = pg.ClientBase

/**
 * Runs the work between `begin` and `commit`; when it throws, nothing of it has happened.
 *
 * @throws DatabaseUnavailable, OutcomeUnknown when the connection broke during the commit, and what the work or the driver throws
 */
export async function inTransaction<Result>(database: Database, work: (client: TransactionClient) => Promise<Result>): Promise<Result> {
  const client = await database.pool.connect()
  let failure: Error | undefined
  let committing = false
  try {
    await client.query('begin')
    const result = await work(client)
    committing = true
    await client.query('commit')
    return result
  } catch (error) {
    // A refusal is no fault of the connection.
    await client.query('rollback').catch((broken: Error) => { failure = broken })
    if (committing && !provesNothingWritten(error)) throw new OutcomeUnknown('The connection was lost during a commit.', { cause: error })
    throw asUnavailable(error)
  } finally {
    client.release(failure)
  }
}

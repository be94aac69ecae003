/** One transaction on a connection of the pool. */
import type pg from 'pg'
import type { Database } from './database.ts'

/**
 * Runs the work between `begin` and `commit`; when it throws, nothing of it has happened.
 *
 * @throws what the work or the driver throws
 */
export async function inTransaction<Result>(database: Database, work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
  const client = await database.pool.connect()
  let failure: Error | undefined
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    // A refusal is no fault of the connection.
    await client.query('rollback').catch((broken: Error) => { failure = broken })
    throw error
  } finally {
    client.release(failure)
  }
}

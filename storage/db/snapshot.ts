/** Reads of one moment, over several statements, handed on while they are made. */
import type { Database } from './database.ts'
import type { TransactionClient } from './transaction.ts'

/**
 * Runs `read` in a transaction that only reads and sees one moment, on a connection of its own, and yields what it
 * yields. The connection is taken at the first item, and goes back to the pool when the caller stops or fails.
 *
 * @throws DatabaseUnavailable, and what `read` throws
 */
export async function* inSnapshot<Item>(
  database: Database,
  read: (client: TransactionClient) => AsyncGenerator<Item>,
): AsyncGenerator<Item> {
  const client = await database.pool.connect()
  let failure: Error | undefined
  try {
    await client.query('begin isolation level repeatable read read only')
    yield* read(client)
  } catch (error) {
    failure = error as Error
    throw error
  } finally {
    await client.query('rollback').catch((error: Error) => {
      failure = error
    })
    client.release(failure)
  }
}

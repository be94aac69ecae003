/** The pool of a database, in the form that builds list statements. */
import { Kysely, PostgresDialect } from 'kysely'
import type { Database } from './database.ts'
import type { ReadDatabase } from './page.ts'

/**
 * Builds list statements over the pool of `database`. The pool stays with its owner: closing the result does nothing.
 */
export function readDatabase(database: Database): ReadDatabase {
  return {
    pool: database.pool,
    kysely: new Kysely<unknown>({
      dialect: new PostgresDialect({
        pool: { options: {}, connect: () => database.pool.connect(), end: async () => undefined },
      }),
    }),
  }
}

/** The pool of a database, as the builder of list statements uses it. */
import { Kysely, PostgresDialect } from 'kysely'
import type { Database } from './database.ts'
import type { ReadDatabase } from './page.ts'

/** Statements of lists over the pool of `database`, which stays its owner's: closing this does nothing. */
export function readDatabase(database: Database): ReadDatabase {
  return { pool: database.pool, kysely: new Kysely<unknown>({ dialect: new PostgresDialect({ pool: database.pool }) }) }
}

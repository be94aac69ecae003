/**
 * The pool behind reads and background work. Statements are named, so each connection plans them once: a third less
 * time for a single-row read than parsing it anew.
 */
import pg from 'pg'
import { DatabaseUnavailable, sqlState, type Statement } from './connection.ts'

/** More than the readers of one event loop can keep busy; commits have connections of their own. */
const POOL_MAX = 8

export class Database {
  /** Whatever is asked of it is refused with DatabaseUnavailable when the database is slow or gone, as `query` is. */
  readonly pool: pg.Pool

  constructor(url: string, max: number = POOL_MAX) {
    this.pool = telling(new pg.Pool({ connectionString: url, max, application_name: 'vostro', connectionTimeoutMillis: 5_000, keepAlive: true }))
    // A pooled connection that dies while idle is replaced at its next use; without a listener it would end the process.
    this.pool.on('error', () => { /* See above. */ })
    // So would one that dies while a transaction has it and nothing is being asked; the next statement on it says so.
    this.pool.on('connect', (client) => { client.on('error', () => { /* See above. */ }) })
  }

  /** Rows as arrays, in the order of the statement's columns. @throws DatabaseUnavailable, and what the driver throws */
  async query<Row extends unknown[]>(statement: Statement): Promise<Row[]> {
    const { rows } = await this.pool.query({ ...statement, rowMode: 'array' })
    return rows as Row[]
  }

  async close(): Promise<void> {
    await this.pool.end()
  }
}

/** A pool that says of an error whether the database is slow or gone: one place, so that no reader has to think of it. */
function telling(pool: pg.Pool): pg.Pool {
  for (const method of ['query', 'connect'] as const) {
    const ask = pool[method].bind(pool) as (...args: readonly unknown[]) => unknown
    // Asked with a callback, as the pool asks itself, it returns nothing.
    const told = (...args: readonly unknown[]): unknown => {
      const answer = ask(...args)
      return answer instanceof Promise ? answer.catch((error: unknown) => { throw asUnavailable(error) }) : answer
    }
    Object.assign(pool, { [method]: told })
  }
  return pool
}

/** The server is stopping, starting, read-only, or out of disk, memory or connections; or it has cut the connection. */
const WORLD_SQLSTATES = /^(08...|25006|53...|57...|58...)$/
/** Errors of sockets and names have a code of Node's; the driver's own have only words. */
const SOCKET_CODES = /^E(?!RR_)[A-Z_]+$/
const DRIVER_WORDS = /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/

/** DatabaseUnavailable for an error that says that the database is slow or gone; any other error as it is, a bug. */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const state = sqlState(error)
  const code = (error as NodeJS.ErrnoException).code
  const gone = state !== null ? WORLD_SQLSTATES.test(state) : typeof code === 'string' ? SOCKET_CODES.test(code) : DRIVER_WORDS.test(error.message)
  return gone ? new DatabaseUnavailable('The database cannot be read at present.', { cause: error }) : error
}

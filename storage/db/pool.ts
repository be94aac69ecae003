/**
 * The pool of a database: the calls of the driver's pool that this service uses, with the errors of a slow or lost
 * database translated in one place, so that readers need not.
 */
import pg from 'pg'
import { DatabaseUnavailable } from './connection.ts'
import { sqlState, UNAVAILABLE_SQLSTATES } from './sqlstates.ts'

const CONNECTION_TIMEOUT_MS = 5_000
/**
 * Longer than the 30 s after which a node at rest looks at everything: a new connection costs Postgres and the node some
 * 25 ms of processor time, and a pool that lets go of them after ten seconds makes eleven a minute.
 */
const IDLE_TIMEOUT_MS = 90_000
/** A connection that dies is replaced at its next use; without a listener its error would end the process. */
const ignore = (): void => undefined

export class Pool {
  readonly #pool: pg.Pool
  readonly #before: () => void

  /** `before` runs before each call; it may throw. */
  constructor(url: string, max: number, before: () => void) {
    this.#before = before
    this.#pool = new pg.Pool({
      connectionString: url,
      max,
      application_name: 'vostro',
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      keepAlive: true,
    })
    this.#pool.on('error', ignore)
    // A connection that dies idle within a transaction would also end the process; the next statement on it fails with
    // the error.
    this.#pool.on('connect', (client) => client.on('error', ignore))
  }

  /** Runs a statement on any connection. @throws DatabaseUnavailable and the driver's errors */
  query<Row extends unknown[]>(statement: pg.QueryArrayConfig): Promise<pg.QueryArrayResult<Row>>
  query<Row extends pg.QueryResultRow>(
    statement: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>>
  async query(statement: string | pg.QueryConfig, values?: unknown[]): Promise<unknown> {
    this.#before()
    return await this.#pool.query(statement as pg.QueryConfig, values).catch(throwUnavailable)
  }

  /** Takes a connection, which the caller gives back with `release`. @throws DatabaseUnavailable */
  async connect(): Promise<pg.PoolClient> {
    this.#before()
    return await this.#pool.connect().catch(throwUnavailable)
  }

  async end(): Promise<void> {
    await this.#pool.end()
  }
}

function throwUnavailable(error: unknown): never {
  throw asUnavailable(error)
}

/** Errors of sockets and of name lookups have a code of Node's; the driver's own errors have only a message. */
const SOCKET_CODES = /^E(?!RR_)[A-Z_]+$/
const DRIVER_WORDS =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/

/**
 * Returns DatabaseUnavailable for an error that means a slow or lost database; any other error unchanged, because it is
 * a bug.
 */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const state = sqlState(error)
  const code = (error as NodeJS.ErrnoException).code
  const gone =
    state !== null
      ? UNAVAILABLE_SQLSTATES.test(state)
      : typeof code === 'string'
        ? SOCKET_CODES.test(code)
        : DRIVER_WORDS.test(error.message)
  return gone ? new DatabaseUnavailable('The database cannot be read at present.', { cause: error }) : error
}

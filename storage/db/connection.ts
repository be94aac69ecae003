/**
 * A dedicated connection of a commit lane. Pools hand out whatever is free; a lane wants its prepared statements, and
 * wants to know the moment its connection is gone.
 */
import pg from 'pg'
import { OperatingError } from '../../lib/base/errors.ts'

export interface Statement {
  readonly name: string
  readonly text: string
  readonly values: unknown[]
}

/** The database cannot be reached, or not just now. Nothing was sent, so nothing was written. */
export class DatabaseUnavailable extends OperatingError {
  override readonly name = 'DatabaseUnavailable'
}

/**
 * The connection was lost while a transaction was on its way: it may or may not have happened (I7). Never repeated here;
 * the caller repeats under the same Idempotency-Key and finds the truth.
 */
export class OutcomeUnknown extends OperatingError {
  override readonly name = 'OutcomeUnknown'
}

export class Connection {
  readonly #client: pg.Client
  #lost = false

  private constructor(client: pg.Client) {
    this.#client = client
    client.on('error', () => { this.#lost = true })
    client.on('end', () => { this.#lost = true })
  }

  /** @throws DatabaseUnavailable */
  static async open(url: string, applicationName: string): Promise<Connection> {
    const client = new pg.Client({ connectionString: url, application_name: applicationName, connectionTimeoutMillis: 5_000, keepAlive: true })
    // From the first moment: an error without a listener would end the process, and `connect` rejects by itself.
    client.on('error', () => { /* The constructor's listener remembers it; before that, the query below rejects. */ })
    try {
      await client.connect()
      // Plans are made once for the shape of a statement, not for its values: arrays of any length run the same way. The
      // planner takes an array for ten rows, so it must be told: a nested loop over 256 rows made a commit eight times as
      // long, and a sequential scan, planned while a table was still empty, five times once it was not.
      await client.query(`set plan_cache_mode = force_generic_plan; set jit = off; set enable_nestloop = off; set enable_seqscan = off; set idle_in_transaction_session_timeout = '20s'`)
    } catch (cause) {
      await client.end().catch(() => { /* It never was a connection. */ })
      throw new DatabaseUnavailable('The database cannot be reached.', { cause })
    }
    return new Connection(client)
  }

  get lost(): boolean { return this.#lost }

  /** Runs a prepared statement; rows come back as arrays. @throws what the driver throws */
  async query(statement: Statement): Promise<{ rows: unknown[][] }> {
    return await this.#client.query({ ...statement, rowMode: 'array' })
  }

  /** Begins a transaction. @throws what the driver throws */
  async begin(): Promise<void> {
    await this.run('begin')
  }

  /** Ends the transaction: with its effects, or without them. @throws what the driver throws */
  async end(kept: boolean): Promise<void> {
    await this.run(kept ? 'commit' : 'rollback')
  }

  /** Runs plain text such as `begin`. */
  async run(text: string): Promise<void> {
    await this.#client.query(text)
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => { /* Already gone, which is what was wanted. */ })
  }
}

export interface Reader {
  query(statement: Statement): Promise<{ rows: unknown[][] }>
}

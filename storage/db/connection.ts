/**
 * A dedicated connection of a commit lane. A pool gives out any free connection; a lane needs its own prepared
 * statements, and must learn immediately that its connection is lost.
 */
import pg from 'pg'
import { OperatingError } from '../../lib/base/errors.ts'

export interface SqlStatement {
  readonly name: string
  readonly text: string
  readonly values: unknown[]
}

/** The database cannot be reached at present. The statement was not sent, so nothing was written. */
export class DatabaseUnavailable extends OperatingError {
  override readonly name = 'DatabaseUnavailable'
}

/**
 * The connection was lost during a transaction, which may or may not have committed (I7). The statement is never
 * repeated here; the caller repeats under the same Idempotency-Key and finds the recorded outcome.
 */
export class OutcomeUnknown extends OperatingError {
  override readonly name = 'OutcomeUnknown'
}

export class Connection {
  readonly #client: pg.Client
  #lost = false

  private constructor(client: pg.Client) {
    this.#client = client
    client.on('error', () => {
      this.#lost = true
    })
    client.on('end', () => {
      this.#lost = true
    })
  }

  /** Opens a connection. @throws DatabaseUnavailable */
  static async open(url: string, applicationName: string): Promise<Connection> {
    const client = new pg.Client({
      connectionString: url,
      application_name: applicationName,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    })
    // Attached first: an error without a listener would end the process, and `connect` rejects by itself.
    client.on('error', () => {
      /* The constructor's listener remembers it; before that, the query below rejects. */
    })
    try {
      await client.connect()
      // Plans are made once for the shape of a statement, not for its values: arrays of any length run the same way.
      // The planner assumes ten rows for an array, so two kinds of plan are switched off: a nested loop over 256 rows
      // made a commit take eight times as long, and a sequential scan, planned while a table was still empty, five
      // times once the table was not.
      await client.query(
        `set plan_cache_mode = force_generic_plan; set jit = off; set enable_nestloop = off; set enable_seqscan = off; set idle_in_transaction_session_timeout = '20s'`,
      )
    } catch (cause) {
      await client.end().catch(() => {
        /* The connection was never established. */
      })
      throw new DatabaseUnavailable('The database cannot be reached.', { cause })
    }
    return new Connection(client)
  }

  get lost(): boolean {
    return this.#lost
  }

  /** Runs a prepared statement; returns rows as arrays. @throws the driver's errors */
  async query(statement: SqlStatement): Promise<{ rows: unknown[][] }> {
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
    await this.#client.end().catch(() => {
      /* Closed already. */
    })
  }
}

/** The connection of a lane, or the pool in its form, from which loaders read the states of actors. */
export interface Reader {
  query(statement: SqlStatement): Promise<{ rows: unknown[][] }>
}

/**
 * Which nodes live: each pool of workers holds an advisory lock on one connection of its node, under the name that
 * graphile-worker writes into the tasks that the pool works on. A task whose pool holds no lock is freed, so another
 * node begins it; graphile-worker itself would wait for four hours.
 *
 * A node that is killed loses its connection, and with it the locks, at once. A node that stalls, or whose network is
 * gone without a word, sends nothing for `SILENCE_MS`; Postgres then ends its session. Every node looks for tasks to be
 * freed every `LOOK_MS`, with a statement that also keeps its own session alive: 0.25 statements a second at rest.
 *
 * A node that finds its connection lost gives up the work in progress and goes on with pools of other names, so a name
 * whose tasks were freed is never used again. Whatever such a node still writes is fenced by the rows that it writes.
 */
import pg from 'pg'

/** The interval of looks for tasks of dead nodes: the longest wait of such a task, beside `SILENCE_MS` of a stall. */
const LOOK_MS = 4_000
/** Three looks: a busy event loop is not taken for a stall. */
const SILENCE_MS = 12_000
const RETRY_MS = 250
const RETRY_MAX_MS = 5_000

const KEY = `hashtextextended($1, 46)`

// The lock of a dead pool is granted, and held until the statement ends.
const FREE = `with pools as materialized (
    select distinct locked_by as name from graphile_worker.jobs where locked_by is not null and locked_by <> all($1::text[])),
  dead as materialized (select name from pools where pg_try_advisory_xact_lock(hashtextextended(name, 46)))
  select graphile_worker.force_unlock_workers(array(select name from dead)), array(select name from dead) as names where exists (select from dead)`

export interface TaskLocksOptions {
  readonly url: string
  /** Called when tasks of dead nodes have been freed. */
  readonly onFreed: (pools: readonly string[]) => void
  /** Called when the locks are lost: the pools under these names must end. */
  readonly onLost: () => void
  readonly onError: (error: unknown, what: string) => void
}

export class TaskLocks {
  readonly #options: TaskLocksOptions
  readonly #names = new Set<string>()
  #client: pg.Client | null = null
  #connected = Promise.withResolvers<pg.Client>()
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  /** Settled when the statement before has its answer. */
  #last: Promise<unknown> = Promise.resolve()
  #stopped = false

  constructor(options: TaskLocksOptions) {
    this.#options = options
    this.#connected.promise.catch(() => undefined)
  }

  /** Connects, and frees what dead nodes hold; resolves when it has, or when the first attempt has failed. */
  async start(): Promise<void> {
    await this.#connect()
  }

  /** Takes the lock of a pool, which takes no task before. @throws Error when the connection is lost meanwhile */
  async hold(name: string): Promise<void> {
    const client = await this.#connected.promise
    await this.#query(client, { text: `select pg_advisory_lock(${KEY})`, values: [name] })
    this.#names.add(name)
    if (this.#client !== client) throw new Error('The connection that holds the locks was lost.')
  }

  /** Gives the lock of a pool back, which has ended. */
  async release(name: string): Promise<void> {
    if (!this.#names.delete(name)) return
    if (this.#client === null) return
    await this.#query(this.#client, { text: `select pg_advisory_unlock(${KEY})`, values: [name] }).catch(() => {
      /* The connection is lost, and the lock with it. */
    })
  }

  /** Frees the tasks of dead nodes now. @throws the driver's errors */
  async free(): Promise<void> {
    if (this.#client === null) return
    const found = await this.#query<{ names: string[] }>(this.#client, {
      name: 'free_tasks',
      text: FREE,
      values: [[...this.#names]],
    })
    const names = found.rows[0]?.names
    if (names !== undefined) this.#options.onFreed(names)
  }

  /** Ends the session, which gives the locks back. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    const client = this.#client
    this.#client = null
    this.#connected.reject(new Error('The node stops.'))
    await client?.end().catch(() => undefined)
  }

  /** Runs a statement after those before it: the driver wants one at a time on a connection. */
  async #query<Row extends pg.QueryResultRow>(
    client: pg.Client,
    statement: pg.QueryConfig,
  ): Promise<pg.QueryResult<Row>> {
    const before = this.#last
    const result = before.then(() => client.query<Row>(statement))
    this.#last = result.catch(() => undefined)
    return await result
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      application_name: 'vostro tasks',
      connectionTimeoutMillis: 5_000,
      query_timeout: SILENCE_MS,
      keepAlive: true,
    })
    client.on('error', (error) => this.#lost(client, error))
    client.on('end', () => this.#lost(client, null))
    try {
      await client.connect()
      await client.query(`set idle_session_timeout = ${SILENCE_MS}`)
    } catch (error) {
      await client.end().catch(() => undefined)
      this.#retry(error)
      return
    }
    if (this.#stopped) {
      await client.end().catch(() => undefined)
      return
    }
    this.#client = client
    this.#failures = 0
    this.#connected.resolve(client)
    await this.#look(client)
  }

  async #look(client: pg.Client): Promise<void> {
    try {
      await this.free()
    } catch (error) {
      this.#lost(client, error)
      return
    }
    if (this.#client !== client) return
    this.#timer = setTimeout(() => void this.#look(client), LOOK_MS)
    this.#timer.unref()
  }

  #lost(client: pg.Client, error: unknown): void {
    if (this.#client !== client) return
    this.#client = null
    this.#names.clear()
    clearTimeout(this.#timer)
    this.#connected = Promise.withResolvers()
    this.#connected.promise.catch(() => undefined)
    void client.end().catch(() => undefined)
    this.#options.onLost()
    this.#retry(error)
  }

  #retry(error: unknown): void {
    if (this.#stopped) return
    if (error !== null) this.#options.onError(error, 'the connection that holds the locks of tasks')
    const delay = Math.min(RETRY_MS * 2 ** this.#failures, RETRY_MAX_MS)
    this.#failures += 1
    this.#timer = setTimeout(() => void this.#connect(), delay)
    this.#timer.unref()
  }
}

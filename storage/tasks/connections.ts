/** The connections of a node in the form that graphile-worker takes: the part of a driver's pool that it uses. */
import { EventEmitter } from 'node:events'
import type pg from 'pg'
import type { Database } from '../db/database.ts'
import { TASKS_CHANNEL } from './task-rows.ts'

type Connected = (error: Error | undefined, client: Listening | undefined, release: () => void) => void

/** The connection on which graphile-worker listens. */
class Listening extends EventEmitter {
  async query(): Promise<void> {
    // LISTEN and UNLISTEN: the node's listener listens as long as the node runs.
  }
}

/**
 * The answer to a statement of workers that have ended: they find no task, and write no result. An error in its place
 * would be printed by graphile-worker to the terminal, past the log; so would the error of a search for a task while the
 * workers stop.
 */
const NOTHING = { rows: [], rowCount: 0 }

/** Returns the name that graphile-worker gives a prepared statement; empty where it has none. */
const nameOf = (statement: unknown): string => (statement as { readonly name?: string } | null)?.name ?? ''

/** Whether a statement looks for a task. */
const isSearch = (statement: unknown): boolean => nameOf(statement).startsWith('get_job')

/** Whether a statement writes the end or the failure of tasks. */
const isResult = (statement: unknown): boolean => /^(complete|fail)_job/.test(nameOf(statement))

export class Connections extends EventEmitter {
  readonly #database: Database
  readonly #onResult: () => void
  readonly #listening = new Listening()
  #ready: Promise<void> = Promise.resolve()
  #stopping = false
  #ended = false

  /** @param onResult called when the end or the failure of a task was written: other tasks may be due by it */
  constructor(database: Database, onResult: () => void = () => undefined) {
    super()
    this.#database = database
    this.#onResult = onResult
    // graphile-worker warns of pools whose errors are not listened to; the database listens to its own.
    this.on('error', () => undefined)
    this.on('connect', () => undefined)
  }

  giveAfter(ready: Promise<void>): void {
    this.#ready = ready
    ready.catch(() => undefined)
  }

  notify(count: number): void {
    this.#listening.emit('notification', { channel: TASKS_CHANNEL, payload: JSON.stringify({ count }) })
  }

  /** The workers take no more tasks; results of those under way are written. */
  stop(): void {
    this.#stopping = true
  }

  /** The workers have ended: nothing is written any more. */
  end(): void {
    this.#ended = true
  }

  /** With a callback: the connection to listen on. Without: a connection for statements. */
  connect(connected?: Connected): Promise<pg.PoolClient> | undefined {
    if (connected === undefined) return this.#take()
    queueMicrotask(() => connected(undefined, this.#listening, () => undefined))
    return undefined
  }

  async query(statement: string | pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult> {
    const client = await this.#take()
    try {
      return await client.query(statement as pg.QueryConfig, values)
    } finally {
      client.release()
    }
  }

  async #take(): Promise<pg.PoolClient> {
    const client = await this.#connected().catch((error: unknown) => {
      if (!this.#ended && !this.#stopping) throw error
      // Each statement meets the error, and is treated as one that a connection failed.
      return { query: () => Promise.reject(error), release: () => undefined }
    })
    const query = async (...statement: Parameters<pg.PoolClient['query']>): Promise<unknown> => {
      if (this.#ended) return NOTHING
      try {
        const result: unknown = await client.query(...statement)
        if (isResult(statement[0])) this.#onResult()
        return result
      } catch (error) {
        if (this.#ended || (this.#stopping && isSearch(statement[0]))) return NOTHING
        throw error
      }
    }
    return { query, release: () => client.release() } as unknown as pg.PoolClient
  }

  async #connected(): Promise<pg.PoolClient> {
    await this.#ready
    return await this.#database.pool.connect()
  }
}

/** Gives the connections the type of a driver's pool. */
export const asPool = (connections: Connections): pg.Pool => connections as unknown as pg.Pool

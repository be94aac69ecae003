/**
 * Receives messages of other nodes through Postgres: a connection of its own that listens, and reconnects by itself.
 *
 * While the connection is lost no message arrives. A cache that depends on the messages is notified after the
 * reconnect, and drops all its entries.
 *
 * Each listener confirms on a second channel each message it has acted on, so a sender can wait until every node has
 * confirmed. An unreachable node does not hold the others up: the wait is bounded.
 */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Queries } from './transaction.ts'

export interface PgListenerOptions {
  readonly url: string
  readonly channel: string
  /** Called with each payload. */
  readonly onMessage: (payload: string) => void
  /** Called when messages may have been missed. */
  readonly onGap: () => void
  readonly onError: (error: unknown, what: string) => void
}

const RETRY_MS = 250
const RETRY_MAX_MS = 5_000
/** Interval of test queries, which detect a connection that a firewall has dropped without notice. */
const PROBE_MS = 15_000
/** The application name includes the channel, so that a sender waits only for listeners of its own channel. */
const applicationName = (channel: string) => `vostro listener ${channel}`
/** Confirmed messages that are remembered; a sender waits for its message within milliseconds. */
const HEARD_MAX = 1_000
const HEARD_LOOK_MS = 5
const LISTENERS = `select pid from pg_stat_activity where application_name = $1 and datname = current_database() and pid <> pg_backend_pid()`

/** Sends a message to the listeners on a channel. Resolves when it is sent, not when it is heard. @throws DatabaseUnavailable, and what the driver throws */
export async function notifyShard(database: Queries, channel: string, shard: number): Promise<void> {
  await database.query({ name: 'ring_shard', text: 'select pg_notify($1, $2)', values: [channel, String(shard)] })
}

export class PgListener {
  readonly #options: PgListenerOptions
  #client: pg.Client | null = null
  #timer: NodeJS.Timeout | undefined
  #stopped = false
  #failures = 0
  /** The connections that have acted on a message, by its payload. */
  readonly #heard = new Map<string, Set<number>>()

  constructor(options: PgListenerOptions) {
    this.#options = options
  }

  /** Begins to listen. Resolves when it listens, or when the first attempt has failed and later ones follow. */
  async start(): Promise<void> {
    await this.#connect()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    const client = this.#client
    this.#client = null
    await client?.end().catch(() => {
      /* Closed already. */
    })
  }

  /**
   * Resolves when every listening node has acted on a message, or after `withinMs`. The caller must call it after the
   * commit of the transaction that sent the message.
   */
  async heard(payload: string, withinMs: number): Promise<boolean> {
    const until = performance.now() + withinMs
    const wanted =
      (await this.#client?.query<{ pid: number }>(LISTENERS, [applicationName(this.#options.channel)]).then(
        ({ rows }) => rows,
        () => null,
      )) ?? null
    while (!this.#stopped) {
      const by = this.#heard.get(payload)
      if (wanted?.every(({ pid }) => by?.has(pid) === true) === true) {
        this.#heard.delete(payload)
        return true
      }
      if (performance.now() >= until) return false
      await pause(HEARD_LOOK_MS)
    }
    return false
  }

  #note(payload: string, pid: number): void {
    let by = this.#heard.get(payload)
    if (by === undefined) {
      by = new Set()
      this.#heard.set(payload, by)
      for (const oldest of this.#heard.keys()) {
        if (this.#heard.size <= HEARD_MAX) break
        this.#heard.delete(oldest)
      }
    }
    by.add(pid)
  }

  async #connect(): Promise<void> {
    const { url, channel, onMessage, onGap } = this.#options
    const heard = `${channel}_heard`
    const client = new pg.Client({
      connectionString: url,
      application_name: applicationName(channel),
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    })
    client.on('notification', (message) => {
      const { payload = '', processId } = message
      if (message.channel === heard) {
        this.#note(payload, processId)
        return
      }
      onMessage(payload)
      client.query('select pg_notify($1, $2)', [heard, payload]).catch(() => {
        /* The connection is lost; the cache is dropped after the reconnect. */
      })
    })
    client.on('error', (error) => this.#lost(client, error))
    client.on('end', () => this.#lost(client, null))
    try {
      await client.connect()
      await client.query(`listen ${pg.escapeIdentifier(channel)}; listen ${pg.escapeIdentifier(heard)}`)
    } catch (error) {
      await client.end().catch(() => {
        /* The connection was never established. */
      })
      this.#retry(error)
      return
    }
    if (this.#stopped) {
      await client.end().catch(() => {
        /* Closed already. */
      })
      return
    }
    this.#client = client
    this.#failures = 0
    onGap()
    this.#probe(client)
  }

  #probe(client: pg.Client): void {
    this.#timer = setTimeout(() => {
      client.query('select 1').then(
        () => {
          if (this.#client === client) this.#probe(client)
        },
        (error: unknown) => this.#lost(client, error),
      )
    }, PROBE_MS)
    this.#timer.unref()
  }

  #lost(client: pg.Client, error: unknown): void {
    if (this.#client !== client) return
    this.#client = null
    clearTimeout(this.#timer)
    void client.end().catch(() => {
      /* Closed already. */
    })
    this.#retry(error)
  }

  #retry(error: unknown): void {
    if (this.#stopped) return
    if (error !== null) this.#options.onError(error, `the listener on ${this.#options.channel} is away`)
    const delay = Math.min(RETRY_MS * 2 ** this.#failures, RETRY_MAX_MS)
    this.#failures += 1
    this.#timer = setTimeout(() => {
      void this.#connect()
    }, delay)
    this.#timer.unref()
  }
}

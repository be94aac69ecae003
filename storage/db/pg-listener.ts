/**
 * Receives the messages of other nodes through Postgres: one connection of a node listens on the channels of all nouns,
 * and reconnects by itself.
 *
 * While the connection is lost no message arrives. After the reconnect every channel is told that messages may have
 * been missed; a cache then drops its entries, a poller polls.
 *
 * A sender can wait until every node has acted on a message of a channel that confirms: each node confirms on a second
 * channel, which all of them listen on. An unreachable node does not hold the others up, because the wait is bounded.
 */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Queries } from './transaction.ts'

export interface PgListenerOptions {
  readonly url: string
  readonly onError: (error: unknown, what: string) => void
}

/** The subscription of a noun to a channel. */
export interface ChannelOptions {
  /** Called with each payload. */
  readonly onMessage: (payload: string) => void
  /** Called when messages may have been missed: after the first connection and after each reconnect. */
  readonly onGap: () => void
  /** Confirms each message to its sender, which waits with `heard`. */
  readonly confirms?: true
}

/** A channel that confirms its messages. */
export interface Channel {
  /**
   * Resolves with true when every other node has acted on a message, or with false after `withinMs`. The caller must
   * call it after the commit of the transaction that sent the message.
   */
  heard(payload: string, withinMs: number): Promise<boolean>
}

const RETRY_MS = 250
const RETRY_MAX_MS = 5_000
/** Interval of test queries, which detect a connection that a firewall has dropped without notice. */
const PROBE_MS = 15_000
/** A sender counts the connections of this name, one for each node, to know how many confirmations to wait for. */
const APPLICATION_NAME = 'vostro listener'
/** The channel of the confirmations: `<channel> <payload>`. */
const CONFIRMATIONS = 'heard'
/** Confirmed messages that are remembered; a sender waits for its message within milliseconds. */
const HEARD_MAX = 1_000
const HEARD_LOOK_MS = 5
const OTHER_LISTENERS = `select pid from pg_stat_activity where application_name = $1 and datname = current_database() and pid <> pg_backend_pid()`

/**
 * Sends a message to the listeners on a channel. Resolves when it is sent, not when a node has acted on it.
 *
 * @throws DatabaseUnavailable and the driver's errors
 */
export async function notifyShard(database: Queries, channel: string, shard: number): Promise<void> {
  await database.query({ name: 'ring_shard', text: 'select pg_notify($1, $2)', values: [channel, String(shard)] })
}

export class PgListener {
  readonly #options: PgListenerOptions
  readonly #channels = new Map<string, ChannelOptions>()
  #client: pg.Client | null = null
  #connecting: Promise<void> | null = null
  #timer: NodeJS.Timeout | undefined
  #stopped = false
  #failures = 0
  /** Settles when the last statement of the connection has ended. */
  #turn: Promise<unknown> = Promise.resolve()
  /** The connections that have acted on a message, by `<channel> <payload>`. */
  readonly #heard = new Map<string, Set<number>>()

  constructor(options: PgListenerOptions) {
    this.#options = options
  }

  /** Subscribes to a channel. Each channel has one subscriber, which subscribes before `start`. */
  subscribe(channel: string, options: ChannelOptions): Channel {
    if (this.#connecting !== null || this.#channels.has(channel))
      throw new Error(`The channel ${channel} has a subscriber, or the listener has started.`)
    this.#channels.set(channel, options)
    return { heard: (payload, withinMs) => this.#awaitConfirmations(`${channel} ${payload}`, withinMs) }
  }

  /**
   * Listens on all channels that have a subscriber. Resolves when it listens, or when the first attempt has failed and
   * later ones follow.
   */
  async start(): Promise<void> {
    this.#connecting ??= this.#channels.size === 0 ? Promise.resolve() : this.#connect()
    await this.#connecting
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    const client = this.#client
    this.#client = null
    await closeQuietly(client)
  }

  async #awaitConfirmations(message: string, withinMs: number): Promise<boolean> {
    const until = performance.now() + withinMs
    const client = this.#client
    const others =
      client === null
        ? undefined
        : await this.#run<{ pid: number }>(client, OTHER_LISTENERS, [APPLICATION_NAME]).then(
            ({ rows }) => rows,
            () => undefined,
          )
    while (!this.#stopped) {
      const by = this.#heard.get(message)
      if (others?.every(({ pid }) => by?.has(pid) === true) === true) {
        this.#heard.delete(message)
        return true
      }
      if (performance.now() >= until) return false
      await pause(HEARD_LOOK_MS)
    }
    return false
  }

  #noteConfirmation(message: string, pid: number): void {
    let by = this.#heard.get(message)
    if (by === undefined) {
      by = new Set()
      this.#heard.set(message, by)
      for (const oldest of this.#heard.keys()) {
        if (this.#heard.size <= HEARD_MAX) break
        this.#heard.delete(oldest)
      }
    }
    by.add(pid)
  }

  #receive(client: pg.Client, { channel, payload = '', processId }: pg.Notification): void {
    if (channel === CONFIRMATIONS) {
      this.#noteConfirmation(payload, processId)
      return
    }
    const subscriber = this.#channels.get(channel)
    if (subscriber === undefined) return
    subscriber.onMessage(payload)
    if (subscriber.confirms === true)
      this.#run(client, 'select pg_notify($1, $2)', [CONFIRMATIONS, `${channel} ${payload}`]).catch(() => {
        /* The connection is lost; the sender's wait ends by itself, and `onGap` follows the reconnect. */
      })
  }

  /**
   * Runs a statement when those before it have ended: messages arrive while a statement runs, and the driver's next
   * major version refuses a statement then.
   */
  #run<Row extends pg.QueryResultRow>(
    client: pg.Client,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<pg.QueryResult<Row>> {
    const result = this.#turn.then(() => client.query<Row>(text, [...values]))
    this.#turn = result.catch(ignore)
    return result
  }

  async #connect(): Promise<void> {
    // Statements that wait for a lost connection do not hold up those of the next.
    this.#turn = Promise.resolve()
    const client = new pg.Client({
      connectionString: this.#options.url,
      application_name: APPLICATION_NAME,
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
      keepAlive: true,
    })
    client.on('notification', (message) => this.#receive(client, message))
    client.on('error', (error) => this.#lost(client, error))
    client.on('end', () => this.#lost(client, null))
    try {
      await client.connect()
      await this.#run(
        client,
        [CONFIRMATIONS, ...this.#channels.keys()].map((channel) => `listen ${pg.escapeIdentifier(channel)}`).join('; '),
      )
    } catch (error) {
      await closeQuietly(client)
      this.#retry(error)
      return
    }
    if (this.#stopped) {
      await closeQuietly(client)
      return
    }
    this.#client = client
    this.#failures = 0
    for (const { onGap } of this.#channels.values()) onGap()
    this.#probe(client)
  }

  #probe(client: pg.Client): void {
    this.#timer = setTimeout(() => {
      this.#run(client, 'select 1').then(
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
    void closeQuietly(client)
    this.#retry(error)
  }

  #retry(error: unknown): void {
    if (this.#stopped) return
    if (error !== null) this.#options.onError(error, 'the listener for messages of other nodes has lost its connection')
    const delay = Math.min(RETRY_MS * 2 ** this.#failures, RETRY_MAX_MS)
    this.#failures += 1
    this.#timer = setTimeout(() => {
      this.#connecting = this.#connect()
    }, delay)
    this.#timer.unref()
  }
}

const ignore = (): void => undefined

/** Closes a connection that may be closed or may never have been established. */
async function closeQuietly(client: pg.Client | null): Promise<void> {
  await client?.end().catch(() => {
    /* Closed already, or never established. */
  })
}

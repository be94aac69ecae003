/**
 * What other nodes tell this one, through Postgres: a connection of its own that listens, and comes back by itself.
 *
 * While it is away nothing is heard, so whoever keeps something because of it is told when it is back, and forgets all of it.
 */
import pg from 'pg'

export interface NotificationOptions {
  readonly url: string
  readonly channel: string
  /** Called with each payload. */
  readonly onMessage: (payload: string) => void
  /** Called when something may have been missed. */
  readonly onGap: () => void
  readonly onError: (error: unknown, what: string) => void
}

const RETRY_MS = 250
const RETRY_MAX_MS = 5_000
/** A connection that a firewall has dropped in silence is noticed by asking. */
const PROBE_MS = 15_000

export class Notifications {
  readonly #options: NotificationOptions
  #client: pg.Client | null = null
  #timer: NodeJS.Timeout | undefined
  #stopped = false
  #failures = 0

  constructor(options: NotificationOptions) {
    this.#options = options
  }

  /** Begins to listen. Resolves when it does, or when the first attempt has failed and others follow. */
  async start(): Promise<void> {
    await this.#connect()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    const client = this.#client
    this.#client = null
    await client?.end().catch(() => { /* Gone already, which is what was wanted. */ })
  }

  async #connect(): Promise<void> {
    const { url, channel, onMessage, onGap } = this.#options
    const client = new pg.Client({ connectionString: url, application_name: 'vostro listener', connectionTimeoutMillis: 5_000, keepAlive: true })
    client.on('notification', ({ payload }) => onMessage(payload ?? ''))
    client.on('error', (error) => this.#lost(client, error))
    client.on('end', () => this.#lost(client, null))
    try {
      await client.connect()
      await client.query(`listen ${pg.escapeIdentifier(channel)}`)
    } catch (error) {
      await client.end().catch(() => { /* It never was a connection. */ })
      this.#retry(error)
      return
    }
    if (this.#stopped) {
      await client.end().catch(() => { /* Gone already. */ })
      return
    }
    this.#client = client
    this.#failures = 0
    onGap()
    this.#probe(client)
  }

  #probe(client: pg.Client): void {
    this.#timer = setTimeout(() => {
      client.query('select 1').then(() => { if (this.#client === client) this.#probe(client) }, (error: unknown) => this.#lost(client, error))
    }, PROBE_MS)
    this.#timer.unref()
  }

  #lost(client: pg.Client, error: unknown): void {
    if (this.#client !== client) return
    this.#client = null
    clearTimeout(this.#timer)
    void client.end().catch(() => { /* Gone already. */ })
    this.#retry(error)
  }

  #retry(error: unknown): void {
    if (this.#stopped) return
    if (error !== null) this.#options.onError(error, `the listener on ${this.#options.channel} is away`)
    const delay = Math.min(RETRY_MS * 2 ** this.#failures, RETRY_MAX_MS)
    this.#failures += 1
    this.#timer = setTimeout(() => { void this.#connect() }, delay)
    this.#timer.unref()
  }
}

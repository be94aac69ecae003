/**
 * The connections to banking partners that this node has open, each with its adapter. Only here are credentials opened.
 *
 * A connection is opened when it is first needed, so that one made over the API is usable at once on every node. When a
 * row has changed, nodes are told (trigger connection_changed), read it again, and open it anew if what its adapter
 * sees is no longer the same; what is under way on the old one is finished.
 */
import { LRUCache } from 'lru-cache'
import { atMost } from '../../lib/base/at-most.ts'
import type { Clock } from '../../lib/base/clock.ts'
import { credentialsContext, webhookSecretContext } from '../../lib/providers/connection.ts'
import type { CallOutcome } from '../../lib/providers/health.ts'
import type { ProviderCall } from '../../lib/providers/provider-call.ts'
import type { CommonConfig, ProviderDescription, ProviderId } from '../../lib/providers/provider.ts'
import { redactor, textsIn } from '../../lib/providers/redaction.ts'
import type { SecretBox } from '../../lib/security/secret-box.ts'
import type { ProviderTargets } from '../../lib/providers/provider-targets.ts'
import { SHARD_COUNT } from '../../lib/shards/shard.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import type { Queries } from '../../storage/db/transaction.ts'
import { connectionToOpen, type ConnectionToOpen } from '../../storage/providers/opened-connections.ts'
import type { Adapter, AdapterConnection, AdapterIo, OpenConnection, ProbeAnswer } from './adapters/adapter.ts'
import type { PartnerHttp } from './adapters/partner-http.ts'
import { CallLimiter } from './io/call-limiter.ts'
import { measuredFiles } from './io/measured-files.ts'
import { PartnerHttpClient } from './io/partner-http-client.ts'

/** More than an operator's connections on all nodes; the sandboxes of developers are many, and small. */
const OPEN_MAX = 10_000

/** The adapters of a node, by provider; a node without a sandbox has none for it. */
export type Adapters = { readonly [provider in ProviderId]?: Adapter }

/** A connection that is open. */
export interface OpenedConnection {
  readonly id: string
  readonly operatorId: string
  readonly description: ProviderDescription
  readonly adapter: AdapterConnection
  /** Null: none is set, so no webhook is believed. */
  readonly webhookSecret: string | null
}

export interface OpenConnectionsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly secrets: SecretBox
  readonly shards: Pick<Shards, 'owned'>
  readonly adapters: Adapters
  readonly files: AdapterIo['files']
  /** The addresses that providers may have. */
  readonly targets: ProviderTargets
  readonly health: { record(connectionId: string, outcome: CallOutcome): void }
  readonly record: (call: Omit<ProviderCall, 'id'>) => void
  readonly onError: (error: unknown, what: string) => void
}

/** A connection cannot be opened: its secrets were sealed with another key, or its adapter refuses its configuration. */
export class ConnectionUnusable extends Error {
  override readonly name = 'ConnectionUnusable'
}

/** An opened connection, with what it was made from and what closes it. */
interface Kept {
  readonly connection: OpenedConnection
  readonly fingerprint: string
  close(): Promise<void>
}

export class OpenConnections {
  readonly #options: OpenConnectionsOptions
  readonly #kept = new LRUCache<string, Kept>({
    ...atMost(OPEN_MAX),
    dispose: (kept) => this.#end(kept),
  })
  /** Connections that are to be read again before they are used. */
  readonly #stale = new Set<string>()
  readonly #reading = new Map<string, Promise<OpenedConnection | null>>()
  /** The fingerprints of connections that cannot be opened: each is logged once. */
  readonly #unusable = new LRUCache<string, string>({ max: OPEN_MAX })

  constructor(options: OpenConnectionsOptions) {
    this.#options = options
  }

  /**
   * Opens a connection, or finds it open; null when there is none, when it is retired, and when this node has no adapter
   * for its provider.
   *
   * @param transaction the transaction that the caller is in, which then reads the connection where it has to be read
   * @throws ConnectionUnusable, which is logged once for each state of the connection and counts as a failed call; the
   *   driver's errors
   */
  async open(id: string, transaction?: Queries): Promise<OpenedConnection | null> {
    const known = this.#kept.get(id)
    if (known !== undefined && !this.#stale.has(id)) return known.connection
    if (transaction !== undefined) return await this.#read(id, transaction)
    const underWay = this.#reading.get(id)
    if (underWay !== undefined) {
      if (!this.#stale.has(id)) return await underWay
      // The connection was changed during that read, which may have found its row as it was before.
      await underWay.catch(() => null)
      return await this.open(id)
    }
    // A change that is told during the read makes it stale again.
    this.#stale.delete(id)
    const reading = this.#read(id, this.#options.database).finally(() => this.#reading.delete(id))
    this.#reading.set(id, reading)
    return await reading
  }

  /** Whether calls of a connection leave this process; true for a connection that was not opened yet. */
  isOutside(id: string): boolean {
    return this.#kept.get(id)?.connection.description.rate !== null
  }

  /** Notes that the row of a connection has changed: whoever opens it from now on finds it as it is. */
  changed(id: string): void {
    this.#stale.add(id)
  }

  /** Notes that any row may have changed. */
  allChanged(): void {
    for (const id of this.#kept.keys()) this.#stale.add(id)
    for (const id of this.#reading.keys()) this.#stale.add(id)
  }

  /** Closes all connections; what is under way on them is finished. */
  async close(): Promise<void> {
    const kept = [...this.#kept.values()]
    await Promise.all(kept.map((each) => each.close()))
  }

  async #read(id: string, queries: Queries): Promise<OpenedConnection | null> {
    const { adapters } = this.#options
    try {
      const row = await connectionToOpen(queries, id)
      const adapter = row === null ? undefined : adapters[row.provider as ProviderId]
      if (row === null || adapter === undefined) {
        this.#kept.delete(id)
        return null
      }
      const fingerprint = fingerprintOf(row)
      const known = this.#kept.peek(id)
      if (known?.fingerprint === fingerprint) return known.connection
      const opened = this.#tryToKeep(adapter, row, fingerprint)
      this.#unusable.delete(id)
      this.#kept.set(id, opened)
      return opened.connection
    } catch (error) {
      this.#stale.add(id)
      throw error
    }
  }

  /** Opens a connection for one probe, with credentials in the open. Never throws for the provider's faults. */
  async probe({ provider, ...connection }: OpenConnection & { readonly provider: string }): Promise<ProbeAnswer> {
    const adapter = this.#options.adapters[provider as ProviderId]
    if (adapter === undefined) return { ok: false, latencyMs: 0, message: 'This service has no adapter for it.' }
    const { open, close } = this.#openWith(adapter, connection, null)
    try {
      return await open.probe(this.#options.clock.now())
    } finally {
      await close()
    }
  }

  /** @throws ConnectionUnusable */
  #tryToKeep(adapter: Adapter, row: ConnectionToOpen, fingerprint: string): Kept {
    try {
      return this.#keep(adapter, row, fingerprint)
    } catch (cause) {
      const { id } = row
      const error = new ConnectionUnusable((cause as Error).message, { cause })
      this.#options.health.record(id, { ok: false, latencyMs: 0, error: error.message })
      if (this.#unusable.get(id) !== fingerprint) this.#options.onError(error, `opening the connection ${id}`)
      this.#unusable.set(id, fingerprint)
      throw error
    }
  }

  /** Opens the secrets of a connection, and the connection with them. */
  #keep(adapter: Adapter, row: ConnectionToOpen, fingerprint: string): Kept {
    const { secrets } = this.#options
    const { id, operatorId, environment, settings: config } = row
    const credentials =
      row.credentials === null ? null : opened(secrets.open(row.credentials, credentialsContext(id)), 'credentials')
    const webhookSecret =
      row.webhookSecret === null
        ? null
        : opened(secrets.open(row.webhookSecret, webhookSecretContext(id)), 'webhook secret')
    const { open, close } = this.#openWith(
      adapter,
      { id, operatorId, environment, config, credentials: credentials === null ? null : JSON.parse(credentials) },
      webhookSecret,
    )
    const description = adapter.description
    return { fingerprint, close, connection: { id, operatorId, description, adapter: open, webhookSecret } }
  }

  #openWith(
    adapter: Adapter,
    connection: OpenConnection,
    webhookSecret: string | null,
  ): { readonly open: AdapterConnection; close(): Promise<void> } {
    const secrets = [...textsIn(connection.credentials), ...textsIn(webhookSecret)]
    const ways = this.#waysOut(connection, adapter.description, secrets)
    const open = adapter.open(connection, ways)
    return {
      open,
      async close() {
        await ways.close()
        await open.close?.()
      },
    }
  }

  /** Makes what an adapter calls its provider with; all clients of a connection share its rate. */
  #waysOut(
    { id, config }: OpenConnection,
    { rate }: ProviderDescription,
    secrets: readonly string[],
  ): AdapterIo & { close(): Promise<void> } {
    const { clock, record, health, files, shards, targets } = this.#options
    const redact = redactor(secrets)
    const report = (outcome: CallOutcome): void => health.record(id, outcome)
    const clients: PartnerHttpClient[] = []
    const { perSecond, concurrent } = rate ?? { perSecond: 1, concurrent: 1 }
    const atOnce = Math.min(concurrent, (config as CommonConfig | null)?.maxConcurrency ?? concurrent)
    const share = (): number => Math.max(1, shards.owned()?.length ?? SHARD_COUNT) / SHARD_COUNT
    const limiter = new CallLimiter({ perSecond, concurrent: atOnce, share })
    const shared = { connectionId: id, targets, concurrent: atOnce, limiter, redact, clock, record, report }
    return {
      http: (endpoint): PartnerHttp => {
        const client = new PartnerHttpClient(shared, endpoint)
        clients.push(client)
        return client
      },
      files: measuredFiles(files, { redact, report }),
      async close() {
        limiter.close()
        await Promise.all(clients.map((client) => client.close()))
      },
    }
  }

  #end(kept: Kept): void {
    kept.close().catch((error: unknown) => this.#options.onError(error, 'closing a connection to a provider'))
  }
}

/** @throws Error for a secret that was sealed under another key of the service */
function opened(secret: string | null, what: string): string {
  if (secret === null)
    throw new Error(`The ${what} of the connection cannot be opened with the key of this service; set it again.`)
  return secret
}

/** A text that is the same as long as an adapter sees the same connection. */
const fingerprintOf = ({ provider, environment, settings, credentials, webhookSecret }: ConnectionToOpen): string =>
  JSON.stringify([provider, environment, settings, hexOf(credentials), hexOf(webhookSecret)])

const hexOf = (bytes: Uint8Array | null): string | null => (bytes === null ? null : Buffer.from(bytes).toString('hex'))

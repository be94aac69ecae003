/**
 * Tells the node where a shard is at home that there is something to do for it: what has become due by a request that another node
 * answered is begun at once, and not when the home looks the next time. It may get lost; the next look finds it all the same.
 */
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import { notifyShard, PgListener } from '../../storage/db/pg-listener.ts'

/** Rings for one shard within this time are one. */
const TOGETHER_MS = 20

export interface ShardBellOptions {
  readonly url: string
  readonly database: Database
  readonly shards: Shards
  /** Of the database; each bell has its own. */
  readonly channel: string
  /** Something is to be done for a shard that is at home here, or may be. */
  readonly onRing: () => void
  readonly onError: (error: unknown, what: string) => void
}

export class ShardBell {
  readonly #options: ShardBellOptions
  readonly #notifications: PgListener
  readonly #ringing = new Map<number, NodeJS.Timeout>()

  constructor(options: ShardBellOptions) {
    this.#options = options
    const { url, channel, shards, onRing, onError } = options
    this.#notifications = new PgListener({ url, channel, onMessage: (shard) => { if (shards.owns(Number(shard))) onRing() }, onGap: onRing, onError })
  }

  /** Begins to listen. */
  async start(): Promise<void> {
    await this.#notifications.start()
  }

  async stop(): Promise<void> {
    for (const timer of this.#ringing.values()) clearTimeout(timer)
    await this.#notifications.stop()
  }

  /** Tells whoever is home to the shard. Does not wait for them. */
  ring(shard: number): void {
    if (this.#ringing.has(shard)) return
    this.#ringing.set(shard, setTimeout(() => {
      this.#ringing.delete(shard)
      const { database, channel, onError } = this.#options
      notifyShard(database, channel, shard).catch((error: unknown) => onError(error, channel))
    }, TOGETHER_MS).unref())
  }
}

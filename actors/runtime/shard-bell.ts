/**
 * Notifies the node that owns a shard that there is work for it. Rows that became due by a request on another node are
 * then taken at once, and not only by the owner's next poll. A notification may get lost; the next poll finds the rows.
 */
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import { notifyShard, type PgListener } from '../../storage/db/pg-listener.ts'

/** Calls of `ring` for one shard within this time send one notification. */
const TOGETHER_MS = 20

export interface ShardBellOptions {
  readonly listener: Pick<PgListener, 'subscribe'>
  readonly database: Database
  readonly shards: Shards
  /** Notification channel of the database; each bell has its own. */
  readonly channel: string
  /** Called when there is work for a shard of this node, and after a gap in listening, when there may be work. */
  readonly onRing: () => void
  readonly onError: (error: unknown, what: string) => void
}

export class ShardBell {
  readonly #options: ShardBellOptions
  readonly #ringing = new Map<number, NodeJS.Timeout>()

  constructor(options: ShardBellOptions) {
    this.#options = options
    const { listener, channel, shards, onRing } = options
    listener.subscribe(channel, {
      onMessage: (shard) => {
        if (shards.owns(Number(shard))) onRing()
      },
      onGap: onRing,
    })
  }

  /** Sends no more notifications. */
  stop(): void {
    for (const timer of this.#ringing.values()) clearTimeout(timer)
  }

  /** Notifies the node that owns the shard. Returns at once; errors go to `onError`. */
  ring(shard: number): void {
    if (this.#ringing.has(shard)) return
    this.#ringing.set(
      shard,
      setTimeout(() => {
        this.#ringing.delete(shard)
        const { database, channel, onError } = this.#options
        notifyShard(database, channel, shard).catch((error: unknown) => onError(error, channel))
      }, TOGETHER_MS).unref(),
    )
  }
}

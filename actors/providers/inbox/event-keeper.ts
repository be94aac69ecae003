/**
 * Keeps events as they arrive: while one statement writes, the events that arrive meanwhile gather for the next. So an
 * event that meets no other waits for nothing, and a flood is written a hundred at a time.
 */
import { createHash } from 'node:crypto'
import type { IdSource } from '../../../lib/base/ids.ts'
import { EVENT_ID_MAX, EVENT_TYPE_MAX } from '../../../lib/providers/provider-event.ts'
import { shardOf } from '../../../lib/shards/shard.ts'
import type { Queries } from '../../../storage/db/transaction.ts'
import { keepInboxEvents, type NewInboxEvent } from '../../../storage/providers/provider-inbox.ts'

/** Events of one statement: its cost for each row no longer falls beyond. */
const BATCH_MAX = 100
/** Bytes of bodies of one statement, unless a single one is larger. */
const BATCH_BYTES_MAX = 8 * 1024 * 1024

/** An event as it arrives. */
export type ArrivedEvent = Omit<NewInboxEvent, 'id' | 'shard' | 'hash'>

interface Waiting {
  readonly event: NewInboxEvent
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class EventKeeper {
  readonly #deps: { readonly database: Queries; readonly ids: IdSource }
  #waiting: Waiting[] = []
  #isWriting = false

  constructor(deps: { readonly database: Queries; readonly ids: IdSource }) {
    this.#deps = deps
  }

  /**
   * Keeps an event; resolves when it is stored. One that was kept before changes nothing.
   *
   * @throws DatabaseUnavailable, and what the driver throws
   */
  async keep(arrived: ArrivedEvent): Promise<void> {
    const hash = createHash('sha256').update(arrived.body).digest()
    const { partnerEventId, type, connectionId } = arrived
    const event: NewInboxEvent = {
      ...arrived,
      id: this.#deps.ids.next(),
      shard: shardOf(connectionId),
      hash,
      type: plain(type).slice(0, EVENT_TYPE_MAX),
      partnerEventId: nameOf(partnerEventId, hash),
    }
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ event, resolve, reject })
      if (!this.#isWriting) void this.#write()
    })
  }

  async #write(): Promise<void> {
    this.#isWriting = true
    while (this.#waiting.length > 0) {
      const batch = this.#take()
      try {
        await keepInboxEvents(
          this.#deps.database,
          batch.map(({ event }) => event),
        )
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#isWriting = false
  }

  #take(): readonly Waiting[] {
    let bytes = 0
    let count = 0
    for (const { event } of this.#waiting) {
      bytes += event.body.byteLength
      if (count > 0 && (count === BATCH_MAX || bytes > BATCH_BYTES_MAX)) break
      count += 1
    }
    return this.#waiting.splice(0, count)
  }
}

// A text with NUL cannot be stored.
const plain = (text: string): string => text.replaceAll('\0', '')

/** The name of an event: the provider's, or the hash of the body where it has none that can be kept. */
function nameOf(partnerEventId: string, hash: Buffer): string {
  const name = plain(partnerEventId)
  if (name === '') return hash.toString('hex')
  return name.length <= EVENT_ID_MAX ? name : createHash('sha256').update(name).digest('hex')
}

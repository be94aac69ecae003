/**
 * Caches per node the facts of a balance that hardly change: its customer, its currency, and its connection, of whose
 * change (L96) nodes are told.
 */
import { LRUCache } from 'lru-cache'
import { atMost } from '../../lib/base/at-most.ts'
import type { Database } from '../db/database.ts'

/** About 200 bytes each. */
const REMEMBERED_MAX = 100_000

export interface KnownBalance {
  readonly customerId: string
  readonly currency: string
  readonly connectionId: string
}

export class BalanceCache {
  readonly #database: Database
  readonly #remembered: LRUCache<string, KnownBalance>

  constructor(database: Database) {
    this.#database = database
    this.#remembered = new LRUCache({ ...atMost(REMEMBERED_MAX), fetchMethod: async (id) => await load(database, id) })
  }

  /** Forgets a balance, which has moved to another connection. */
  forget(id: string): void {
    this.#remembered.delete(id)
  }

  forgetAll(): void {
    this.#remembered.clear()
  }

  /** Finds one balance, or null. @throws the driver's errors */
  async find(id: string): Promise<KnownBalance | null> {
    this.#database.assertFree()
    return this.#remembered.get(id) ?? (await this.#remembered.fetch(id)) ?? null
  }
}

async function load(database: Database, id: string): Promise<KnownBalance | undefined> {
  const [row] = await database.query<[string, string, string]>({
    name: 'known_balance',
    text: 'select customer_id, currency, connection_id from balance where id = $1',
    values: [id],
  })
  return row === undefined ? undefined : { customerId: row[0], currency: row[1], connectionId: row[2] }
}

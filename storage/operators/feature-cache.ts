/** Caches the features of a tenant per node, until anything about an operator changes. */
import { LRUCache } from 'lru-cache'
import { flagsOf, type FeatureSet } from '../../lib/operators/features.ts'
import type { Database } from '../db/database.ts'

const REMEMBERED_MAX = 20_000

export class FeatureCache {
  readonly #database: Database
  /** Contains reads under way too, so that concurrent requests share one read. */
  readonly #remembered = new LRUCache<string, Promise<FeatureSet>>({ max: REMEMBERED_MAX })

  constructor(database: Database) {
    this.#database = database
  }

  /** Returns the flags of an operator, or those of a customer's operator. @throws the driver's errors */
  of(tenantId: string): Promise<FeatureSet> {
    this.#database.assertFree()
    const known = this.#remembered.get(tenantId)
    if (known !== undefined) return known
    const reading = this.#read(tenantId)
    this.#remembered.set(tenantId, reading)
    reading.catch(() => {
      if (this.#remembered.peek(tenantId) === reading) this.#remembered.delete(tenantId)
    })
    return reading
  }

  /** Drops all entries and reads under way, because a read may have seen the state before the change. */
  forgetAll(): void {
    this.#remembered.clear()
  }

  async #read(tenantId: string): Promise<FeatureSet> {
    const [row] = await this.#database.query<[Readonly<Record<string, boolean>>]>({
      name: 'features_of',
      text: 'select features from operator where id = coalesce((select operator_id from customer where id = $1), $1)',
      values: [tenantId],
    })
    return flagsOf(row?.[0] ?? {})
  }
}

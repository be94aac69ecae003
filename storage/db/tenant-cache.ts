/** Caches one fact about each tenant per node, until the node is told that the fact may have changed. */
import { LRUCache } from 'lru-cache'
import { atMost } from '../../lib/base/at-most.ts'
import type { Database } from './database.ts'

const REMEMBERED_MAX = 20_000

export class TenantCache<Fact extends object> {
  readonly #database: Database
  readonly #read: (database: Database, tenantId: string) => Promise<Fact>
  /** Contains reads under way too, so that concurrent requests share one read. */
  readonly #remembered = new LRUCache<string, Promise<Fact>>(atMost(REMEMBERED_MAX))

  constructor(database: Database, read: (database: Database, tenantId: string) => Promise<Fact>) {
    this.#database = database
    this.#read = read
  }

  /** Returns the fact of a tenant. @throws what the read throws */
  of(tenantId: string): Promise<Fact> {
    this.#database.assertFree()
    const known = this.#remembered.get(tenantId)
    if (known !== undefined) return known
    const reading = this.#read(this.#database, tenantId)
    this.#remembered.set(tenantId, reading)
    reading.catch(() => {
      if (this.#remembered.peek(tenantId) === reading) this.#remembered.delete(tenantId)
    })
    return reading
  }

  /** Drops a tenant's fact, or a read of it under way, which may have seen the state before the change. */
  forget(tenantId: string): void {
    this.#remembered.delete(tenantId)
  }

  /** Drops all facts and reads under way. */
  forgetAll(): void {
    this.#remembered.clear()
  }
}

/**
 * Reads of single balances. All reads requested while others are under way go in one statement, and rows that have not
 * changed since their last read come back without their columns.
 *
 * Every answer is a state that Postgres held at some moment after the request, so a client reads its own writes,
 * whichever node answers. A thousand pollers cost a few statements in a hundredth of a second; a shared read costs each
 * of them some 3 µs. A row's xmin names the transaction that wrote it, so an equal xmin means an unchanged row.
 */
import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { atMost } from '../../lib/base/at-most.ts'
import { plainArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'

/** Cached rows: about 2 kB each. */
const KEPT_MAX = 20_000
/** Statements under way at once. With only 1, a read requested just after a statement began would wait for two. */
const FLIGHTS_MAX = 2
/** Balances in one statement. */
const BATCH_MAX = 256

export interface BalanceReaderOptions<Kept> {
  readonly database: Pick<Database, 'query' | 'assertFree'>
  /** Columns of the balance `b`, in the order in which `keep` receives them. */
  readonly columns: string
  /** Makes the result from a changed row; the same object is returned for as long as the row is the same. */
  readonly keep: (columns: unknown[]) => Kept
}

interface Waiting<Kept> {
  readonly promise: Promise<Kept | null>
  readonly resolve: (kept: Kept | null) => void
  readonly reject: (error: unknown) => void
}

export class BalanceReader<Kept extends object> {
  readonly #options: BalanceReaderOptions<Kept>
  readonly #text: string
  readonly #kept = new LRUCache<string, { readonly xmin: string; readonly value: Kept }>(atMost(KEPT_MAX))
  #waiting = new Map<string, Waiting<Kept>>()
  #flights = 0

  constructor(options: BalanceReaderOptions<Kept>) {
    this.#options = options
    this.#text = `select b.id, x.* from unnest($1::uuid[], $2::xid[]) u(id, known) join balance b on b.id = u.id
      left join lateral (select b.xmin::text, ${options.columns} where u.known is null or b.xmin <> u.known) x on true`
  }

  /** Finds one balance; null when it does not exist. @throws the database's errors */
  find(id: string): Promise<Kept | null> {
    this.#options.database.assertFree()
    let waiting = this.#waiting.get(id)
    if (waiting === undefined) {
      waiting = Promise.withResolvers<Kept | null>()
      this.#waiting.set(id, waiting)
      if (this.#flights < FLIGHTS_MAX) void this.#fly()
    }
    return waiting.promise
  }

  async #fly(): Promise<void> {
    this.#flights += 1
    // Wait for requests that arrive in this turn of the event loop, so that the same statement reads their balances.
    await setImmediate()
    while (this.#waiting.size > 0) await this.#read(this.#take())
    this.#flights -= 1
  }

  #take(): Map<string, Waiting<Kept>> {
    const all = this.#waiting
    if (all.size <= BATCH_MAX) {
      this.#waiting = new Map()
      return all
    }
    const taken = new Map([...all].slice(0, BATCH_MAX))
    for (const id of taken.keys()) all.delete(id)
    return taken
  }

  async #read(batch: ReadonlyMap<string, Waiting<Kept>>): Promise<void> {
    try {
      const ids = [...batch.keys()]
      const known = ids.map((id) => this.#kept.get(id))
      const rows = await this.#options.database.query<unknown[]>({
        name: 'read_balances',
        text: this.#text,
        values: [plainArray(ids), plainArray(known.map((one) => one?.xmin ?? null))],
      })
      const found = new Map<unknown, unknown[]>()
      for (const row of rows) found.set(row[0], row)
      ids.forEach((id, nth) => batch.get(id)!.resolve(this.#valueOf(id, found.get(id), known[nth])))
    } catch (error) {
      for (const { reject } of batch.values()) reject(error)
    }
  }

  #valueOf(id: string, row: unknown[] | undefined, known: { readonly value: Kept } | undefined): Kept | null {
    if (row === undefined) return null
    const xmin = row[1] as string | null
    if (xmin === null) return known!.value
    const value = this.#options.keep(row.slice(2))
    this.#kept.set(id, { xmin, value })
    return value
  }
}

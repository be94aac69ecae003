/**
 * The counter of order numbers. Postgres allocates blocks, so a number costs no round trip. Numbers of a block that a
 * stopped node did not use are lost, which is harmless.
 */
import type { Database } from '../db/database.ts'

/**
 * Numbers in a block. At ten thousand orders a second a block lasts more than a second, and the next one is fetched
 * when half is used.
 */
const BLOCK = 16_384n

export class OrderNumbers {
  readonly #database: Database
  #next = 0n
  #end = 0n
  #following: Promise<bigint> | undefined

  constructor(database: Database) {
    this.#database = database
  }

  /** Takes a number that is never given out twice. @throws the driver's errors */
  async take(): Promise<bigint> {
    this.#database.assertFree()
    while (this.#next === this.#end) {
      const following = (this.#following ??= this.#prefetch())
      const start = await following
      // Many callers wait for the same block; the first to wake installs it. A caller that wakes after the block is
      // used up must not install it again.
      if (this.#following === following) {
        this.#following = undefined
        this.#next = start
        this.#end = start + BLOCK
      }
    }
    const taken = this.#next
    this.#next += 1n
    if (this.#following === undefined && this.#end - this.#next < BLOCK / 2n) this.#following = this.#prefetch()
    return taken
  }

  /**
   * Drops the block: after a failover the new server may have lost the block's allocation and give its numbers out
   * again.
   */
  forget(): void {
    this.#next = 0n
    this.#end = 0n
    this.#following = undefined
  }

  /** Fetches the next block. A failed fetch is dropped; otherwise every later order would fail with it. */
  #prefetch(): Promise<bigint> {
    const fetched = this.#fetch()
    fetched.catch(() => {
      if (this.#following === fetched) this.#following = undefined
    })
    return fetched
  }

  async #fetch(): Promise<bigint> {
    const [row] = await this.#database.query<[string]>({
      name: 'order_number_block',
      text: `select nextval('order_number_block')`,
      values: [],
    })
    return (BigInt((row as [string])[0]) - 1n) * BLOCK
  }
}

/** Rows of a file that repeat a payment: one that was made before, or one that an earlier row requests. */
import { DAY_MS, type Clock } from '../../lib/base/clock.ts'
import { paymentsAlike, traitsKey, type PaymentTraits } from '../../storage/bulk-payments/bulk-lookups.ts'
import type { CheckedRow } from '../../storage/bulk-payments/checked-rows.ts'
import type { Database } from '../../storage/db/database.ts'

/** Payments made within this time can count as duplicates, milliseconds. */
const DUPLICATE_MS = 10 * DAY_MS

interface DuplicateRowsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly customerId: string
}

/** The rows of one file that were checked so far, batch after batch. */
export class DuplicateRows {
  readonly #options: DuplicateRowsOptions
  readonly #earlier = new Set<string>()

  constructor(options: DuplicateRowsOptions) {
    this.#options = options
  }

  /**
   * Adds a warning to valid rows when a similar payment was made before, or a similar row stands above. `traits` are
   * those of the rows, null for invalid ones.
   */
  async warn(rows: readonly CheckedRow[], traits: readonly (PaymentTraits | null)[]): Promise<CheckedRow[]> {
    const { database, clock, customerId } = this.#options
    const now = clock.now()
    const asked = traits.filter((each) => each !== null)
    const paid =
      asked.length === 0
        ? new Set<string>()
        : await paymentsAlike(database, customerId, asked, { since: now - DUPLICATE_MS, now })
    return rows.map((row, nth) => {
      const alike = traits[nth] ?? null
      if (alike === null) return row
      const key = traitsKey(alike)
      const message = paid.has(key)
        ? 'A payment like this was made in the last ten days.'
        : this.#earlier.has(key)
          ? 'An earlier row is like this one.'
          : null
      this.#earlier.add(key)
      return message === null
        ? row
        : { ...row, warnings: [...row.warnings, { column: '', code: 'possible_duplicate', message }] }
    })
  }
}

/**
 * Closes sub-balances that have been empty for a year, for customers whose preferences ask for it. Each is decided
 * under
 * the lock of its row, so two runs at once close it once.
 */
import { isEmpty } from '../../lib/balances/closing.ts'
import { DAY_MS, type Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { lockOneBalance } from '../../storage/balances/balance-changes.ts'
import { idleSubBalances } from '../../storage/balances/balance-lookups.ts'
import { openSubBalances, underWayOf } from '../../storage/balances/balance-ties.ts'
import type { Database } from '../../storage/db/database.ts'
import { SYSTEM, writeAudit } from '../../storage/trail/trail.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import { beginClosing } from './account-details.ts'
import type { Task } from '../runtime/tasks.ts'

/** The number of balances that are read at a time. */
const TAKEN_MAX = 64
const YEAR_MS = 365 * DAY_MS

export interface IdleBalancesOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly onError: (error: unknown, what: string) => void
}

export class IdleBalances {
  readonly #options: IdleBalancesOptions

  constructor(options: IdleBalancesOptions) {
    this.#options = options
  }

  /** After a year an hour more or less does not matter. */
  task(): Task {
    return { name: 'accounts.idle_balances', cron: '23 * * * *', run: () => this.close() }
  }

  /** Closes the balances that are idle now. */
  async close(): Promise<void> {
    const { database, clock, onError } = this.#options
    const before = clock.now() - YEAR_MS
    for (let after: string | null = null; ; ) {
      const idle = await idleSubBalances(database, { before, after, max: TAKEN_MAX })
      for (const { id, customerId } of idle)
        await this.#close(id, customerId).catch((error: unknown) => onError(error, `balance ${id}`))
      if (idle.length < TAKEN_MAX) return
      after = idle.at(-1)!.id
    }
  }

  async #close(id: string, customerId: string): Promise<void> {
    const { database, clock, ids } = this.#options
    await inTransaction(database, async (client) => {
      const now = clock.now()
      const balance = await lockOneBalance(client, customerId, id)
      if (balance === null || balance.status !== 'active') return
      const ties = { subBalances: await openSubBalances(client, id), underWay: await underWayOf(client, balance) }
      if (!isEmpty(balance, ties)) return
      const status = await beginClosing(client, balance, { ids, now })
      await writeAudit(client, {
        ...SYSTEM,
        id: ids.next(),
        tenantId: customerId,
        at: now,
        action: 'balance.closed',
        object: { type: 'balance', id },
        before: { status: 'active' },
        after: { status },
      })
    })
  }
}

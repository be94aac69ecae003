/**
 * Closes sub-balances that have been empty for a year, for customers whose preferences ask for it. The node that owns
 * their shard polls for them. Each is decided under the lock of its row, so two polls at once close it once.
 */
import { isEmpty } from '../../lib/balances/closing.ts'
import { DAY_MS, MINUTE_MS, type Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { lockOneBalance } from '../../storage/balances/balance-changes.ts'
import { idleSubBalances } from '../../storage/balances/balance-lookups.ts'
import { openSubBalances, underWayOf } from '../../storage/balances/balance-ties.ts'
import type { Database } from '../../storage/db/database.ts'
import { SYSTEM, writeAudit } from '../../storage/trail/trail.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import { beginClosing } from './account-details.ts'
import { Poller } from '../runtime/poller.ts'

const TICK_MS = MINUTE_MS
const TAKEN_MAX = 64
const YEAR_MS = 365 * DAY_MS

export interface IdleBalancesOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly shards: Pick<Shards, 'owned'>
  readonly onError: (error: unknown, what: string) => void
}

export class IdleBalances extends Poller {
  readonly #options: IdleBalancesOptions

  constructor(options: IdleBalancesOptions) {
    super({ everyMs: TICK_MS, poll: () => this.poll(), onError: (error) => options.onError(error, 'idle balances') })
    this.#options = options
  }

  /** Closes the idle balances of one poll, `TAKEN_MAX` at most. */
  async poll(): Promise<void> {
    const { database, clock, shards, onError } = this.#options
    const idle = await idleSubBalances(database, {
      before: clock.now() - YEAR_MS,
      owned: shards.owned(),
      max: TAKEN_MAX,
    })
    for (const { id, customerId } of idle)
      await this.#close(id, customerId).catch((error: unknown) => onError(error, `balance ${id}`))
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

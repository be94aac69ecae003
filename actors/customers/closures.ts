/**
 * Closes customers that have asked for it. The node that owns a customer's shard polls for them.
 *
 *   closing ──▶ closing, begun     no money is left: the accounts are closed at the partner; there is no way back
 *                  └──▶ closed     with the last balance: keys, users and endpoints of the customer end
 *
 * Each step is decided under the lock of the customer's row, so nodes that poll at the same time take turns. A customer
 * with money left stays `closing`: its users cancel the closure, pay the money out, and request the closure again.
 */
import { isEmpty } from '../../lib/balances/closing.ts'
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { lockDetails } from '../../storage/accounts/account-requests.ts'
import { plainArrayOrNull } from '../../storage/db/array-literal.ts'
import { lockOpenBalances, type BalanceRecord } from '../../storage/balances/balance-changes.ts'
import {
  hasMoneyUnderReview,
  lockCustomer,
  noteBegun,
  openBusiness,
  takeDueClosures,
  type DueClosure,
} from '../../storage/balances/closure.ts'
import type { Database } from '../../storage/db/database.ts'
import { SYSTEM } from '../../storage/trail/trail.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import { beginClosing } from '../accounts/account-details.ts'
import { Poller } from '../runtime/poller.ts'
import { untilDue } from '../runtime/rest.ts'
import type { Wakes } from '../runtime/wakes.ts'
import { closeCustomer } from './close-customer.ts'

/** Time between two polls, and the most customers that one poll takes. */
const TICK_MS = 500
const TAKEN_MAX = 16

export interface ClosuresOptions {
  readonly wakes: Wakes
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly shards: Shards
  readonly onError: (error: unknown, what: string) => void
}

export class Closures extends Poller {
  readonly #options: ClosuresOptions

  constructor(options: ClosuresOptions) {
    super({
      everyMs: TICK_MS,
      poll: () => this.#poll(),
      rest: untilDue(options, ['customer_closure']),
      onError: (error) => options.onError(error, 'closing customers'),
    })
    this.#options = options
  }

  async #poll(): Promise<void> {
    const { database, clock, shards, onError } = this.#options
    const owned = shards.owned()
    const due = await takeDueClosures(database, { now: clock.now(), shards: plainArrayOrNull(owned), max: TAKEN_MAX })
    for (const closure of due)
      await this.#step(closure).catch((error: unknown) => onError(error, `customer ${closure.customerId}`))
  }

  async #step({ customerId, requestedBy }: DueClosure): Promise<void> {
    const { database, clock, ids } = this.#options
    await inTransaction(database, async (client) => {
      const now = clock.now()
      const standing = await lockCustomer(client, customerId)
      // A suspended customer has no access to its money, so the closure waits until staff have lifted the measure.
      if (standing?.customerStatus !== 'closing' || standing.customerMeasure === 'suspended') return
      const balances = await lockOpenBalances(client, customerId)
      if (!(await isDone(client, customerId, balances))) return
      await noteBegun(client, customerId, now)
      let left = 0
      for (const balance of balances) {
        const begun = (await lockDetails(client, balance.id)).some(({ status }) => status === 'closing')
        if (begun || (await beginClosing(client, balance, { ids, now })) === 'closing') left += 1
      }
      if (left === 0)
        await closeCustomer({ client, ids, now }, SYSTEM, customerId, {
          previousStatus: 'closing',
          endedBy: requestedBy,
        })
    })
  }
}

/**
 * Whether no money of a customer is left: every balance is closing and empty, no payment, transfer, exchange or direct
 * debit is under way, and no money is under review.
 */
async function isDone(
  client: TransactionClient,
  customerId: string,
  balances: readonly BalanceRecord[],
): Promise<boolean> {
  const { payments, transfers, exchanges, mandates, collections } = await openBusiness(client, customerId)
  const underWay = payments + transfers + exchanges + mandates + collections
  if (!balances.every((balance) => balance.status === 'closing' && isEmpty(balance, { subBalances: 0, underWay })))
    return false
  return underWay === 0 && !(await hasMoneyUnderReview(client, customerId))
}

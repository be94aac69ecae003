/**
 * Tells the banks of the cash that moves between two connections (L21). The ledger has moved it with the money of the
 * customer. A bank that moves cash at our word books its leg; a leg at any other bank waits for the operator,
 * whose staff see the sums with the connection, and is booked when the bank's statement shows it or staff explain it.
 */
import { DueRowPoller } from '../../runtime/due-row-poller.ts'
import type { Node } from '../../runtime/node.ts'
import { inTransaction, type TransactionClient } from '../../../storage/db/transaction.ts'
import { cashOrderTold, takeDueCashOrders, type DueCashOrder } from '../../../storage/providers/cash/cash-orders.ts'

/** Time between two polls, and the most orders that one poll claims. */
const TICK_MS = 250
const TAKEN_MAX = 64
/** The time after which another node claims an order whose node died: longer than a transaction takes. */
const TAKEN_MS = 15_000

/** Cash that moves between two connections. The amount is minor units, below zero for cash that moves back. */
export interface CashMove {
  /** By which the bank knows the move; it is booked once. */
  readonly id: string
  readonly fromConnectionId: string
  readonly toConnectionId: string
  readonly currency: string
  readonly amount: bigint
  readonly movedAt: number
}

/**
 * Has the banks that move cash at our word book their legs, within a transaction.
 *
 * @returns the connections whose leg is booked
 */
export type MoveCash = (client: TransactionClient, move: CashMove) => Promise<readonly string[]>

export interface CashOrdersOptions extends Pick<Node, 'wakes' | 'database' | 'clock' | 'shards' | 'onError'> {
  readonly moveCash: MoveCash
}

export class CashOrders extends DueRowPoller<DueCashOrder> {
  constructor(options: CashOrdersOptions) {
    const { database, clock, moveCash } = options
    super({
      ...options,
      work: 'cash_order',
      also: ['events'],
      everyMs: TICK_MS,
      max: TAKEN_MAX,
      takenMs: TAKEN_MS,
      what: 'cash between connections',
      take: (claim) => takeDueCashOrders(database, claim),
      follow: async (order) => {
        const now = clock.now()
        await inTransaction(database, async (client) => {
          const booked = await moveCash(client, { ...order, movedAt: now })
          await cashOrderTold(client, order.id, booked, now)
        })
      },
      nameOf: ({ id }) => `cash order ${id}`,
    })
  }
}

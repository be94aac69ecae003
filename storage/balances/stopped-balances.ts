/**
 * Balances of which no payment leaves: frozen ones, and those of customers that do not pay, by a measure of staff or by
 * their status.
 */
import { WAITING_STATUSES } from '../../lib/customers/money-access.ts'
import { WORK_CHANNEL } from '../db/due-work.ts'
import type { TransactionClient } from '../db/transaction.ts'

const WAITING = WAITING_STATUSES.map((status) => `'${status}'`).join(', ')

const stopped = (row: string): string =>
  `${row}status = 'frozen' or ${row}customer_measure is not null or ${row}customer_status in (${WAITING})`

/** SQL condition of the index `balance_stopped`. A change of the statuses needs a migration that makes the index anew. */
export const STOPPED_INDEX = stopped('')

/**
 * SQL condition: the balance with this alias pays nothing for the present. Few balances do, and they have an index
 * (`balance_stopped`), whose condition this is.
 */
export const paysNothing = (balance: string): string => `(${stopped(`${balance}.`)})`

/** Wakes the queues of payments on all nodes when the transaction commits: a balance that was stopped pays again. */
export async function wakePaymentQueues(client: TransactionClient): Promise<void> {
  await client.query(`select pg_notify('${WORK_CHANNEL}', 'balance')`)
}

/** The cash that moves from one connection to another, as far as it is at the sandbox bank. */
import { through, type TransactionClient } from '../../storage/db/transaction.ts'
import type { CashMove } from '../providers/cash/cash-orders.ts'
import { providerOfConnection } from '../../storage/providers/provider-connections.ts'
import { insertSandboxBookings, type SandboxBooking } from '../../storage/sandbox/sandbox-book.ts'
import { creditId } from './sandbox-book-transfers.ts'

/**
 * Books the legs of a move that are at the sandbox bank; a leg at another partner is booked when the operator has moved
 * the cash.
 *
 * @returns the connections whose leg is booked
 */
export async function moveSandboxCash(
  client: TransactionClient,
  { id: reference, fromConnectionId, toConnectionId, currency, amount, movedAt: at }: CashMove,
): Promise<readonly string[]> {
  if (amount === 0n) return []
  const leg = { currency, reference, amount: amount < 0n ? -amount : amount, at, code: 'BOOK', text: null }
  const [payer, payee] = amount < 0n ? [toConnectionId, fromConnectionId] : [fromConnectionId, toConnectionId]
  const legs: SandboxBooking[] = [
    { ...leg, id: reference, connectionId: payer, direction: 'DBIT' },
    { ...leg, id: creditId(reference), connectionId: payee, direction: 'CRDT' },
  ]
  const booked: SandboxBooking[] = []
  for (const each of legs) if ((await providerOfConnection(client, each.connectionId)) === 'sandbox') booked.push(each)
  if (booked.length > 0) await insertSandboxBookings(through(client), booked)
  return booked.map(({ connectionId }) => connectionId)
}

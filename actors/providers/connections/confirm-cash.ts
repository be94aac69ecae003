/**
 * Cash between two connections that staff have moved, or found at the bank: where a bank neither moves cash at our word nor
 * tells of it by a statement, nothing else ends the orders.
 */
import type { CurrencyCode } from '../../../lib/base/currency.ts'
import { moneyJson } from '../../../lib/base/money.ts'
import { refuseField } from '../../../lib/base/problems.ts'
import type { Caller } from '../../../lib/identity/caller.ts'
import type { CashConfirmation } from '../../../lib/providers/connection-schema.ts'
import type { ProviderConnectionRecord } from '../../../lib/providers/connection.ts'
import { bookCashToMove } from '../../../storage/providers/cash/cash-orders.ts'
import { recordChange } from '../../commands/changes.ts'
import { auditCaller } from '../../commands/trail.ts'
import type { ConnectionDeps } from './connection-deps.ts'
import { changeLocked } from './record-connection.ts'

/**
 * Confirms one sum of `cashToMove` of a connection. The sum has to be as staff have seen it.
 *
 * @throws ProblemError `not-found`, `validation-error` where the sum is another one
 */
export async function confirmCash(
  deps: ConnectionDeps,
  by: Caller<'person'>,
  id: string,
  { direction, otherConnectionId, amount, evidence }: CashConfirmation,
): Promise<ProviderConnectionRecord> {
  return await changeLocked(deps, by, id, async (tx, { before }) => {
    const { currency, amountMinor } = amount
    const sum = await bookCashToMove(tx.client, { connectionId: id, direction, otherConnectionId, currency }, tx.now)
    if (sum.amount !== BigInt(amountMinor)) {
      const known = moneyJson({ amountMinor: sum.amount, currency: currency as CurrencyCode })
      refuseField('/amount/amountMinor', 'invalid_value', `The sum to move is ${known.amountMinor}.`)
    }
    await recordChange(tx, auditCaller(by), by.tenant.id, {
      action: 'provider_connection.cash_confirmed',
      object: { type: 'provider_connection', id },
      before: null,
      after: { direction, otherConnectionId, amount, evidence, payments: sum.payments },
    })
    return before
  })
}

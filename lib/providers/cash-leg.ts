/**
 * The cash leg between two connections (L21): an entry of a customer's balance names the accounts of the connection at
 * which its bank books, and the balance may sit at another one. Then the cash follows within the same commit, and an
 * order has the banks, or the operator, move it. Pure.
 */
import { dateIn } from '../base/clock.ts'
import type { IdSource } from '../base/ids.ts'
import type { Effects } from '../decisions/effects.ts'
import { entry, NO_BALANCE, type InternalAccounts } from '../ledger/entry.ts'
import type { CashSubject } from './effects.ts'

/** A connection, and its internal accounts in one currency. */
export interface ConnectionAccounts {
  readonly connectionId: string
  readonly accounts: InternalAccounts
}

export interface CashLeg {
  readonly subject: { readonly object: CashSubject; readonly id: string }
  /** The customer whose balance the money is of; the operator, for its own money. */
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly currency: string
  /** Minor units, above zero. */
  readonly amount: bigint
  readonly from: ConnectionAccounts
  readonly to: ConnectionAccounts
  readonly description: string
}

/** Moves the cash, and orders it to be moved at the banks. Each leg has an id of its own, by which the banks know it. */
export function moveCash(
  { subject, customerId, operatorId, shard, currency, amount, from, to, description }: CashLeg,
  { ids, now }: { readonly ids: IdSource; readonly now: number },
): Required<Pick<Effects, 'postings' | 'cashOrders'>> {
  const id = ids.next()
  return {
    postings: entry({
      rule: 'L21',
      amounts: { A: amount },
      currency,
      accounts: from.accounts,
      toAccounts: to.accounts,
      balances: NO_BALANCE,
      entryId: ids.next(),
      customerId,
      source: { object: 'cash_order', id },
      description,
      bookedAt: now,
      valueDate: dateIn(now, 'UTC'),
    }),
    cashOrders: [
      {
        id,
        subjectObject: subject.object,
        subjectId: subject.id,
        customerId,
        operatorId,
        shard,
        fromConnectionId: from.connectionId,
        toConnectionId: to.connectionId,
        currency,
        amount,
        createdAt: now,
        dueAt: now,
      },
    ],
  }
}

/**
 * The cash leg between two connections (L21): an entry of a customer's balance names the accounts of the connection at
 * which its bank books, and the balance may sit at another one. Then the cash follows within the same commit, and an
 * order has the banks, or the operator, move it. Pure.
 */
import { dateIn } from '../base/clock.ts'
import type { IdSource } from '../base/ids.ts'
import type { Effects } from '../decisions/effects.ts'
import { together } from '../decisions/merge.ts'
import type { AccountKey } from '../ledger/chart.ts'
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

/** The accounts of a connection against which its bank takes in and pays out the money of a balance. */
const BANK_KEYS: readonly AccountKey[] = ['nostro', 'dd_clearing', 'out_transit', 'unallocated']

/** Adds to postings the cash that has to follow them, and the place of the balance on which that rests. */
export function withCash(
  effects: Effects,
  {
    balanceId,
    at,
    home,
    ...leg
  }: Omit<CashLeg, 'amount' | 'from' | 'to'> & {
    readonly balanceId: string
    /** The connection whose bank books the money. */
    readonly at: ConnectionAccounts
    /** The connection of the balance, where that is another one. */
    readonly home: ConnectionAccounts | undefined
  },
  context: { readonly ids: IdSource; readonly now: number },
): Effects {
  const bank = new Set(BANK_KEYS.map((key) => at.accounts[key]))
  const crossing = (effects.postings ?? []).filter(
    ({ debit, credit }) =>
      (debit.id === balanceId && bank.has(credit.id)) || (credit.id === balanceId && bank.has(debit.id)),
  )
  if (crossing.length === 0) return effects
  let written = together(effects, { places: [{ balanceId, connectionId: (home ?? at).connectionId }] })
  if (home === undefined) return written
  for (const { debit, amount } of crossing) {
    const [from, to] = debit.id === balanceId ? [home, at] : [at, home]
    written = together(written, moveCash({ ...leg, amount, from, to }, context))
  }
  return written
}

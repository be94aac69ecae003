/** The postings of adjustments. Pure: accounts, ids and time are given. */
import { creditRef, debitRef } from '../ledger/account-ref.ts'
import { entry, NO_BALANCE, type InternalAccounts } from '../ledger/entry.ts'
import type { Posting } from '../ledger/posting.ts'
import type { IdSource } from '../base/ids.ts'
import { timestamp } from '../base/clock.ts'
import { ADJUSTMENTS, type AdjustmentRecord, type OwnMoney, type OwnMoneyKey } from './adjustment.ts'

/** The accounts of the adjustment's connection and currency, the source of ids and the time, epoch milliseconds. */
export interface AdjustmentContext {
  readonly accounts: InternalAccounts
  readonly ids: IdSource
  readonly now: number
}

/**
 * Makes the entry of an adjustment of a balance, a break or the house account. The balance decides by itself, so its
 * version is the fence of the commit.
 */
export function adjustmentPostings(
  { id, operatorId, kind, currency, amount, balanceId, customerId, breakId, description }: AdjustmentRecord,
  { accounts, ids, now }: AdjustmentContext,
): Posting[] {
  const { rule, variant } = ADJUSTMENTS[kind]
  return entry({
    rule,
    ...(variant === undefined ? {} : { variant }),
    amounts: { A: amount ?? 0n },
    currency,
    accounts,
    balances: balanceId === null ? NO_BALANCE : { from: balanceId, to: { id: balanceId, fence: 'own_turn' } },
    entryId: ids.next(),
    customerId: customerId ?? operatorId,
    // The first entry of a break is that of suspense; what explains it is the second, whoever explains it (G2).
    ...(breakId === null
      ? { source: { object: 'adjustment' as const, id } }
      : { source: { object: 'reconciliation_break' as const, id: breakId }, occurrence: 2 }),
    description,
    bookedAt: now,
    valueDate: timestamp(now).slice(0, 10),
  })
}

/** One pair of an entry as it is stored. */
export interface PostedPair extends Omit<Posting, 'debit' | 'credit'> {
  readonly debitAccount: string
  readonly creditAccount: string
  /** Whether the account is a customer's balance. */
  readonly debitsBalance: boolean
  readonly creditsBalance: boolean
}

/** Makes the entry that reverses another one: its pairs with the sides swapped, in their order. */
export function reversalPostings(
  { id, description }: Pick<AdjustmentRecord, 'id' | 'description'>,
  pairs: readonly PostedPair[],
  { ids, now }: Omit<AdjustmentContext, 'accounts'>,
): Posting[] {
  const entryId = ids.next()
  return pairs.map(({ debitAccount, creditAccount, debitsBalance, creditsBalance, ...pair }) => ({
    ...pair,
    entryId,
    occurrence: 1,
    sourceObject: 'adjustment',
    sourceId: id,
    debit: creditsBalance ? debitRef(creditAccount) : { kind: 'internal', id: creditAccount },
    credit: debitsBalance ? creditRef({ id: debitAccount, fence: 'own_turn' }) : { kind: 'internal', id: debitAccount },
    description,
    reversalOf: pair.entryId,
    bookedAt: now,
    valueDate: timestamp(now).slice(0, 10),
  }))
}

/** The ids of the accounts of the operator's own money, and which of them are expenses. */
export type OwnMoneyAccounts = ReadonlyMap<string, OwnMoneyKey>

/** The operator's own money after these postings. */
export function ownMoneyAfter(before: OwnMoney, postings: readonly Posting[], accounts: OwnMoneyAccounts): OwnMoney {
  let { funds, expenses } = before
  const move = (accountId: string, amount: bigint): void => {
    const key = accounts.get(accountId)
    if (key === undefined) return
    if (key.startsWith('exp_')) expenses -= amount
    else funds += amount
  }
  for (const { debit, credit, amount } of postings) {
    move(debit.id, -amount)
    move(credit.id, amount)
  }
  return { funds, expenses }
}

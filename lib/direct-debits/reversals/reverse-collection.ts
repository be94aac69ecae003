/**
 * The decision of a balance to send collected money back to its payer. The balance has the funds; the collection travels
 * with the command, and its version is a fence. Pure.
 */
import type { BalanceState } from '../../balances/balance.ts'
import { insufficientFunds, refuse, unrecorded, type BalanceDecision, type Recorded } from '../../balances/decision.ts'
import { idsFrom } from '../../base/ids.ts'
import { transitionProblem } from '../../base/problems.ts'
import { moneyProblem } from '../../customers/money-access.ts'
import { together } from '../../decisions/merge.ts'
import { outcomeRecord } from '../../decisions/outcome-record.ts'
import type { InternalAccounts } from '../../ledger/entry.ts'
import type { ConnectionAccounts } from '../../providers/cash-leg.ts'
import { moneyOf, withCashOfCollection } from '../collection-money.ts'
import { COLLECTION_MOVES, moveCollection } from '../collection-moves.ts'
import { collectionJson } from '../collection-view.ts'
import { returnableOf, type CollectionRecord } from '../collection.ts'
import { movedRows } from '../debit-rows.ts'
import { reversalProblem, type ReversalReason } from '../reversal.ts'
import type { MandateCounterparty } from '../mandate.ts'

export interface ReverseCollection extends Recorded {
  readonly kind: 'reverse_collection'
  /** The collection as it was read. */
  readonly collection: CollectionRecord
  /** The payer of the mandate. */
  readonly counterparty: Pick<MandateCounterparty, 'name' | 'kind'>
  readonly reasonCode: ReversalReason
  readonly note: string | null
  readonly accounts: InternalAccounts
  /** The connection of the balance as it was read, where that is another one. */
  readonly home?: ConnectionAccounts | undefined
  /** `YYYY-MM-DD`. */
  readonly valueDate: string
  /** The seed of the ids of the rows (`idsFrom`). */
  readonly seed: string
}

export interface CollectionReversed {
  readonly kind: 'collection_reversed'
  readonly collection: CollectionRecord
}

/**
 * Decides a reversal: within its time, and only with funds. The reserve of the collection is free for it. Refusals are
 * decided on freshly loaded state (I4).
 */
export function reverseCollection(
  balance: BalanceState | null,
  command: ReverseCollection,
  now: number,
): BalanceDecision<CollectionReversed> {
  const { collection, counterparty, reasonCode, note, accounts, home, valueDate, key } = command
  if (balance === null) throw new Error(`The collection ${collection.id} is of a balance that does not exist.`)
  const late = reversalProblem(collection, counterparty.kind, now)
  if (late !== null) return refuse(balance, command, now, late)
  const barred = moneyProblem(balance, 'pay')
  if (barred !== null) return unrecorded(balance, barred)
  if (balance.status !== 'active')
    return unrecorded(
      balance,
      transitionProblem(`The balance of the collection is ${balance.status}.`, collection.status, []),
    )
  const amount = returnableOf(collection)
  const reserved = collection.reserveHoldId === null ? 0n : collection.amount
  if (balance.available + reserved < amount)
    return { ...refuse(balance, command, now, insufficientFunds(balance, amount)), refused: true }
  const ids = idsFrom(command.seed)
  const move = { kind: 'reverse', id: ids.next(), reasonCode, note, amount } as const
  const moved = moveCollection(collection, move, now)
  if ('refused' in moved) return refuse(balance, command, now, moved.refused)
  const context = {
    ...({ ids, by: 'member', accounts, home, valueDate, reserveUntil: null } as const),
    counterparty: counterparty.name,
  }
  const { effects } = moneyOf(collection, moved.collection, move, context, now)
  return {
    state: { ...balance, available: balance.available + reserved - amount },
    reply: { kind: 'collection_reversed', collection: moved.collection },
    effects: together(
      together(
        movedRows(collection, moved.collection, COLLECTION_MOVES.reverse.message, context, now),
        withCashOfCollection(effects, collection, context, now),
      ),
      outcomeRecord(
        key,
        200,
        { type: 'collection', id: collection.id },
        key === null ? null : JSON.stringify(collectionJson(moved.collection)),
        now,
      ),
    ),
  }
}

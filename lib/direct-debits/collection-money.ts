/**
 * The money of a collection's moves (L50 to L54, and L11 after a reversal). Pure: amounts are minor units, times epoch milliseconds.
 *
 * Collected money is credited at once (L51). With a reserve a hold of the same amount is placed in the same commit, so
 * that what the balance has available stays as it was. A hold rather than a later L51: the money is the customer's from
 * the settlement on, the customer sees it on its statement of that day, and a return within the reserve takes what it
 * finds there. `dd_clearing` is then empty after every commit, which the audit asks for.
 *
 * A balance cannot be closed while a collection may still bring money, so only reinstated money meets a closed one: it
 * waits in suspense for its owner. What comes back after that is taken from the balance of the collection, closed or not:
 * below zero it is what the customer owes, until staff write it off (L91), and the money in suspense stays the
 * customer's to be allocated.
 */
import type { Effects } from '../decisions/effects.ts'
import { entry, type EntryOptions, type InternalAccounts } from '../ledger/entry.ts'
import type { Posting } from '../ledger/posting.ts'
import type { Amounts, RuleId } from '../ledger/postings.ts'
import { transactionId } from '../ledger/transaction-id.ts'
import { withCash, type ConnectionAccounts } from '../providers/cash-leg.ts'
import type { CollectionMove } from './collection-moves.ts'
import { returnableOf, type CollectionRecord } from './collection.ts'
import type { DebitRowContext } from './debit-rows.ts'
import { reversalsOf } from './reversal.ts'

/** The facts that the postings of a move need beside the move. */
export interface DebitContext extends DebitRowContext {
  /** The accounts of the mandate's connection and currency. */
  readonly accounts: InternalAccounts
  /** The connection of the balance, where that is another one: the cash follows the money (L21). */
  readonly home?: ConnectionAccounts | undefined
  /** The business day for which the money counts. */
  readonly valueDate: string
  /** Until when collected money is held as a reserve, epoch milliseconds; null: it is not. */
  readonly reserveUntil: number | null
}

/** The same, with the name of the mandate's counterparty, which lines of the balance show. */
export interface DebitMoneyContext extends DebitContext {
  readonly counterparty: string
}

/** How often money was collected, or came back, before: each time is an entry of its own (`occurrence`). */
function timesBefore({ rTransactions, collectedAt }: CollectionRecord, what: 'collected' | 'returned'): number {
  const returns = rTransactions.filter(
    ({ type, amountMinor }) => amountMinor !== undefined && type !== 'reinstatement' && type !== 'reversal',
  ).length
  if (what === 'returned') return returns
  // Each return but the last was followed by money that came again.
  return collectedAt === null ? 0 : Math.max(1, returns)
}

const TEXTS: Partial<Record<RuleId, string>> = {
  L52: ' returned',
  L53: ', return fee',
  L16: ', charge of the bank',
  L54: ' sent back to the payer',
  L11: ' sent back to the payer',
}

function booked(
  collection: CollectionRecord,
  rule: RuleId,
  amounts: Amounts,
  { ids, accounts, valueDate, counterparty }: DebitMoneyContext,
  now: number,
  occurrence: number,
  { entryId = ids.next(), reverses }: { readonly entryId?: string; readonly reverses?: EntryOptions['reverses'] } = {},
): Posting[] {
  const { id, customerId, currency, number, reference, balanceId } = collection
  return entry({
    rule,
    amounts,
    currency,
    accounts,
    balances: { from: balanceId, to: { id: balanceId, fence: 'open' } },
    entryId,
    ...(reverses === undefined ? {} : { reverses }),
    customerId,
    source: { object: 'collection', id },
    occurrence,
    description: `Collection ${number}${TEXTS[rule] ?? ''}`,
    reference,
    counterparty,
    bookedAt: now,
    valueDate,
  })
}

/**
 * Builds the postings of collected money (L50, L51). The entry of the first credit is derived, so that its transaction
 * has the id of the collection, as the transaction of a payment has the payment's.
 */
function collected(before: CollectionRecord, amount: bigint, context: DebitMoneyContext, now: number): Posting[] {
  const occurrence = timesBefore(before, 'collected') + 1
  const entryOf = occurrence === 1 ? { entryId: transactionId(before.id, 'other_side') } : {}
  return [
    ...booked(before, 'L50', { C: amount }, context, now, occurrence),
    ...booked(before, 'L51', { C: amount }, context, now, occurrence, entryOf),
  ]
}

/**
 * Builds the postings of returned money: L52 up to what is there of the collection, the excess (compensation) as a charge
 * of the bank that the operator bears (L16), and the fee that the customer pays (L53).
 */
function returned(
  before: CollectionRecord,
  { amount, fee }: Extract<CollectionMove, { kind: 'return' }>,
  context: DebitMoneyContext,
  now: number,
): Posting[] {
  const occurrence = timesBefore(before, 'returned') + 1
  const there = returnableOf(before)
  const back = amount > there ? there : amount
  return [
    ...booked(before, 'L52', { C: back }, context, now, occurrence),
    ...(amount > back ? booked(before, 'L16', { P: amount - back }, context, now, occurrence) : []),
    ...(fee > 0n ? booked(before, 'L53', { P: fee }, context, now, occurrence) : []),
  ]
}

/**
 * Builds the postings of a reversal: L54 when it is asked for, L11 when the bank has confirmed it, and L54 with its
 * sides swapped when the bank has refused it. Each reversal takes two occurrences of L54.
 */
function reversalMoney(
  before: CollectionRecord,
  { reversal }: CollectionRecord,
  { kind }: Pick<CollectionMove, 'kind'>,
  context: DebitMoneyContext,
  now: number,
): Effects {
  if (reversal === null) throw new Error(`The collection ${before.id} has no reversal.`)
  const { id: entryId, amountMinor } = reversal
  const amount = BigInt(amountMinor)
  const nth = reversalsOf(before)
  switch (kind) {
    case 'confirm_reversal':
      return { postings: booked(before, 'L11', { A: amount }, context, now, nth) }
    case 'refuse_reversal':
      return {
        postings: booked(before, 'L54', { C: amount }, context, now, 2 * nth, { reverses: { entryId, rule: 'L54' } }),
      }
    default:
      return {
        postings: booked(before, 'L54', { C: amount }, context, now, 2 * nth + 1, { entryId }),
        ...reserveEnds(before, now),
      }
  }
}

/** Adds the cash that follows the money of a collection (L21). */
export function withCashOfCollection(
  effects: Effects,
  record: CollectionRecord,
  { accounts, home, ids }: DebitContext,
  now: number,
): Effects {
  const { id, customerId, balanceId, operatorId, shard, currency, connectionId, number } = record
  const at = { connectionId, accounts }
  const subject = { object: 'collection', id } as const
  const description = `Cash of collection ${number}`
  return withCash(
    effects,
    { subject, customerId, balanceId, operatorId, shard, currency, at, home, description },
    { ids, now },
  )
}

/** Builds the rows that the money of a move needs, and the collection after it: it names the hold of a reserve. */
export function moneyOf(
  before: CollectionRecord,
  after: CollectionRecord,
  move: CollectionMove,
  context: DebitMoneyContext,
  now: number,
): { readonly collection: CollectionRecord; readonly effects: Effects } {
  switch (move.kind) {
    // A collection that was returned once has had its reserve.
    case 'reinstate':
      return { collection: after, effects: { postings: collected(before, move.amount, context, now) } }
    case 'collect': {
      const { amount } = before
      const postings = collected(before, amount, context, now)
      if (context.reserveUntil === null) return { collection: after, effects: { postings } }
      const holdId = context.ids.next()
      const { customerId, balanceId, id: subjectId, number } = before
      return {
        collection: {
          ...after,
          reserveHoldId: holdId,
          reserveUntil: context.reserveUntil,
          dueAt: context.reserveUntil,
        },
        effects: {
          postings,
          holds: [
            {
              id: holdId,
              balanceId,
              customerId,
              amount,
              subjectType: 'collection_reserve',
              subjectId,
              description: `Reserve of collection ${number}`,
              createdAt: now,
            },
          ],
        },
      }
    }
    case 'release_reserve':
      return { collection: after, effects: reserveEnds(before, now) }
    case 'return': {
      // From an exception the money was collected and came back at once.
      const first = before.status === 'exception' ? collected(before, before.amount, context, now) : []
      return {
        collection: after,
        effects: { postings: [...first, ...returned(before, move, context, now)], ...reserveEnds(before, now) },
      }
    }
    case 'reverse':
    case 'confirm_reversal':
    case 'refuse_reversal':
      return { collection: after, effects: reversalMoney(before, after, move, context, now) }
    default:
      return { collection: after, effects: {} }
  }
}

/** Releases the hold of a reserve; nothing where there is none. */
export function reserveEnds(
  { reserveHoldId, balanceId, amount }: CollectionRecord,
  now: number,
): Pick<Effects, 'holdResolutions'> {
  return reserveHoldId === null
    ? {}
    : {
        holdResolutions: [
          { id: reserveHoldId, balanceId, amount, status: 'released', capturedAmount: null, resolvedAt: now },
        ],
      }
}

/**
 * The reversal of a collection by its creditor (C8): the money leaves the customer at once (L54) and is in transit until
 * the bank has sent it back to the payer (L11), or has refused to, after which the customer has it again. Pure: amounts
 * are minor units, times epoch milliseconds.
 *
 * A reversal is asked for within the days of the scheme, counted from the settlement. It needs no approval: the money
 * goes nowhere but to the account that it came from.
 */
import { timestamp } from '../base/clock.ts'
import { transitionProblem, type Problem } from '../base/problems.ts'
import type { CollectionRecord, Reversal, RTransaction } from './collection.ts'
import { isWithin, schemeDate } from './dates.ts'
import type { CounterpartyKind } from './schemes.ts'
import { collectionReason, DEBIT_SCHEMES } from './schemes.ts'

/** The reasons of a creditor: its own decision, an amount that it collected twice, the same collection twice. */
export const REVERSAL_REASONS = ['MS02', 'AM05', 'DUPL'] as const
export type ReversalReason = (typeof REVERSAL_REASONS)[number]

/** Finds why a collection cannot be reversed now; null: it can. */
export function reversalProblem(
  { status, scheme, collectedAt }: Pick<CollectionRecord, 'status' | 'scheme' | 'collectedAt'>,
  kind: CounterpartyKind,
  now: number,
): Problem | null {
  if (status !== 'collected' || collectedAt === null)
    return transitionProblem(`The collection is ${status}.`, status, ['collected'])
  const terms = DEBIT_SCHEMES[scheme]
  const days = { from: schemeDate(terms, collectedAt), on: schemeDate(terms, now) }
  return isWithin(terms, days, terms.windows[kind].reversal)
    ? null
    : transitionProblem('The time for a reversal is over.', status, [])
}

/** Asks the bank to send collected money back. `id` names the order at the bank, and the entry of the ledger. */
export interface ReverseMove {
  readonly kind: 'reverse'
  readonly id: string
  readonly reasonCode: string
  readonly note: string | null
  readonly amount: bigint
}

/** Reverses a collection; `same` is the collection with the status and the version of the move. */
export function reversed(
  collection: CollectionRecord,
  same: CollectionRecord,
  { id, reasonCode, note, amount }: ReverseMove,
  now: number,
): CollectionRecord {
  const reversal: Reversal = {
    id,
    reasonCode,
    note,
    amountMinor: String(amount),
    requestedAt: timestamp(now),
    decidedAt: null,
    refusalCode: null,
  }
  const told: RTransaction = {
    type: 'reversal',
    reasonCode,
    reason: collectionReason(collection.scheme, reasonCode, 'reversal')?.text ?? 'Reversed by the creditor',
    at: timestamp(now),
    amountMinor: String(amount),
  }
  return {
    ...same,
    statusReason: reasonCode,
    reversedAt: now,
    reversal,
    reversalStatus: 'pending',
    reversalSentAt: null,
    reversalRef: null,
    reserveHoldId: null,
    reserveUntil: null,
    dueAt: null,
    rTransactions: [...collection.rTransactions, told],
  }
}

/** Ends a reversal. Refused, the collection is collected as before, and what it counts for goes on. */
export function reversalEnded(
  collection: CollectionRecord,
  same: CollectionRecord,
  { refusalCode, isConfirmed }: { readonly refusalCode: string | null; readonly isConfirmed: boolean },
  now: number,
): CollectionRecord {
  const { reversal, statusReason, rTransactions } = collection
  if (reversal === null) throw new Error(`The collection ${collection.id} has no reversal.`)
  const at = timestamp(now)
  const ended = { ...same, reversal: { ...reversal, decidedAt: at, refusalCode } }
  if (isConfirmed) return { ...ended, statusReason, reversalStatus: 'confirmed' }
  return {
    ...ended,
    reversalStatus: 'refused',
    reversedAt: null,
    rTransactions: [
      ...rTransactions,
      {
        type: 'reinstatement',
        reasonCode: refusalCode,
        reason: 'Reversal refused by the bank',
        at,
        amountMinor: reversal.amountMinor,
      },
    ],
  }
}

/** The number of reversals that a collection has had: each is an entry of its own. */
export const reversalsOf = ({ rTransactions }: Pick<CollectionRecord, 'rTransactions'>): number =>
  rTransactions.filter(({ type }) => type === 'reversal').length

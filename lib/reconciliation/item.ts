/**
 * An item of reconciliation: a difference between the partner's statement and the ledger, which staff resolve.
 *
 *   timing ──▶ open ──▶ in_suspense ──▶ resolved        at any time until both sides agree: ──▶ matched
 *                 └──────────────────────▶ resolved
 *
 * An item is `timing` on the day on which it is found, because one side may have booked before midnight and the other
 * after it. A day later it is a break (`open`). An entry that only the partner has is then booked to suspense, so that
 * the ledger agrees with the bank.
 */
import type { Direction } from './statement.ts'

/**
 * `missing_with_us` and `duplicate`: only the partner has the entry. `missing_with_partner`: only the ledger has it.
 */
export const BREAK_KINDS = ['missing_with_us', 'missing_with_partner', 'amount_differs', 'duplicate'] as const
export type BreakKind = (typeof BREAK_KINDS)[number]

export const BREAK_STATUSES = ['timing', 'open', 'in_suspense', 'matched', 'resolved'] as const
export type BreakStatus = (typeof BREAK_STATUSES)[number]

/**
 * `explained`: the cause is known, and nothing is booked. `charge`: the partner has taken a fee, which is booked as an
 * expense. Where money moves, two people must agree.
 */
export const BREAK_OUTCOMES = ['explained', 'charge'] as const
export type BreakOutcome = (typeof BREAK_OUTCOMES)[number]

/** The facts on which the possible outcomes of an item depend. */
export interface BreakFacts {
  readonly kind: BreakKind
  readonly status: BreakStatus
  readonly direction: Direction
  readonly ourAmount: bigint | null
  readonly partnerAmount: bigint | null
}

/** Computes by how much the partner's balance is above ours because of the item; negative where ours is above. */
export function differenceOf({
  direction,
  ourAmount,
  partnerAmount,
}: Pick<BreakFacts, 'direction' | 'ourAmount' | 'partnerAmount'>): bigint {
  const more = (partnerAmount ?? 0n) - (ourAmount ?? 0n)
  return direction === 'CRDT' ? more : -more
}

/** Returns the outcomes that are possible now. A credit in suspense is allocated or returned in the suspense list. */
export function outcomesOf(item: BreakFacts): readonly BreakOutcome[] {
  const { kind, status, direction } = item
  if (status === 'in_suspense') return direction === 'DBIT' ? ['charge'] : []
  if (status !== 'timing' && status !== 'open') return []
  return kind === 'amount_differs' && differenceOf(item) < 0n ? ['explained', 'charge'] : ['explained']
}

/** Lists the statuses in which a break of this kind can be resolved as `outcome`. */
export function statusesFor(item: BreakFacts, outcome: BreakOutcome): readonly BreakFacts['status'][] {
  return BREAK_STATUSES.filter((status) => outcomesOf({ ...item, status }).includes(outcome))
}

/** Tells whether an open break is booked to suspense: only whole entries that the ledger does not have. */
export function goesToSuspense({ kind, status }: BreakFacts): boolean {
  return status === 'open' && (kind === 'missing_with_us' || kind === 'duplicate')
}

/** Freezing of balances and holds by the operator's staff: the rules. Pure. */
import type { BalanceStatus } from './closing.ts'
import { moneyProblem, type MoneyUse } from '../customers/money-access.ts'
import type { CustomerStanding } from '../customers/status.ts'
import { type Problem, transitionProblem } from '../base/problems.ts'
import type { HoldSubjectType } from '../decisions/effects.ts'

/**
 * The reasons for which staff hold money. A `legal_order` is an order of an authority, of which the customer sees no more than of a
 * review; a `manual` hold has any other reason, and may end by itself.
 */
export const STAFF_HOLD_SUBJECTS = ['legal_order', 'manual'] as const satisfies readonly HoldSubjectType[]
export type StaffHoldSubject = (typeof STAFF_HOLD_SUBJECTS)[number]

export const STAFF_HOLD_STATUSES = ['active', 'released', 'expired'] as const

/** The text that customers see with a manual hold. Those of legal orders are veiled where holds are shown. */
export const STAFF_HOLD_DESCRIPTION = 'Reserved by the bank'

/** A hold that staff have placed. Amounts are minor units, times epoch milliseconds. */
export interface StaffHoldRecord {
  readonly id: string
  readonly balanceId: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly subjectType: StaffHoldSubject
  readonly amount: bigint
  readonly currency: string
  readonly status: (typeof STAFF_HOLD_STATUSES)[number]
  /** For staff alone. */
  readonly reason: string
  readonly placedBy: string
  readonly placedByName: string
  readonly releaseReason: string | null
  readonly version: number
  readonly expiresAt: number | null
  readonly resolvedAt: number | null
  readonly createdAt: number
}

/** The statuses from which staff freeze and unfreeze a balance. A frozen balance takes credits and pays nothing. */
const FREEZES = { freeze: { from: 'active', to: 'frozen' }, unfreeze: { from: 'frozen', to: 'active' } } as const

/**
 * Decides a freeze or its end: the next status, or the problem that refuses it. A balance that was frozen when its
 * customer began to close is closing when the freeze ends, as the others are.
 */
export function moveFreeze(
  { status, customerStatus }: Pick<PayingBalance, 'status' | 'customerStatus'>,
  move: keyof typeof FREEZES,
): { readonly status: 'active' | 'frozen' | 'closing' } | { readonly refused: Problem } {
  const { from, to } = FREEZES[move]
  const isClosing = to === 'active' && customerStatus === 'closing'
  return status === from
    ? { status: isClosing ? 'closing' : to }
    : { refused: transitionProblem(`The balance is ${status}.`, status, [from]) }
}

/** The facts of a balance that stop what it would pay. */
export interface PayingBalance extends CustomerStanding {
  readonly status: BalanceStatus
}

/**
 * Returns the problem of an approval of something that a balance would pay, or exchange; null when it may be approved.
 * A balance that does not exist stops nothing here.
 */
export function payingProblem(balance: PayingBalance | null, use: MoneyUse): Problem | null {
  if (balance === null) return null
  return balance.status === 'frozen'
    ? transitionProblem('The balance that pays is frozen; it can be approved when the freeze has ended.', 'frozen', [
        'active',
      ])
    : moneyProblem(balance, use)
}

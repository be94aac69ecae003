/**
 * The balance as its actor remembers it. A debit must be decided by the actor, a credit need not be: so the remembered
 * available amount can be too low but never too high, and an approval from memory is always valid (I4).
 */
import type { PolicyTerms } from '../approvals/policy.ts'
import type { PaymentLimits } from '../customers/limits.ts'
import type { CustomerStanding } from '../customers/status.ts'
import type { CalendarTerms } from '../rails/business-days.ts'
import type { FeeRule } from '../pricing/fees.ts'
import type { BalanceDebitControls } from './debit-controls.ts'

/** The maximum number of balances of one customer that are not closed. */
export const OPEN_BALANCES_MAX = 100

/**
 * The state that the actor remembers. A change of the customer's standing raises the version of every balance of the
 * customer, so decisions on an older standing are fenced.
 */
export interface BalanceState extends CustomerStanding {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly connectionId: string
  readonly shard: number
  readonly currency: string
  readonly name: string
  readonly status: 'active' | 'frozen' | 'closing' | 'closed'
  /** Minor units: posted amount less held amount. */
  readonly available: bigint
  readonly version: bigint
  /**
   * The customer's approval policy for payments; null where there is none. A change of the policy raises the version of
   * every balance of the customer in the same transaction, so a decision that used the old policy is fenced like any
   * stale one (I3).
   */
  readonly policy: PolicyTerms | null
  /** The policy for exchanges, or the one for payments if the former was never set. Fenced in the same manner. */
  readonly exchangePolicy: PolicyTerms | null
  /**
   * The limits of the customer and its members for payments in this currency, and the amounts already used; null where
   * there is no limit. Fenced as the policy is.
   */
  readonly limits: PaymentLimits | null
  /** The operator's fees in this currency. */
  readonly fees: readonly FeeRule[]
  /**
   * Raised when the operator changes the limits of rails, so that a rail chosen under the old limits is chosen again.
   * Fenced in the same manner.
   */
  readonly railVersion: number
  /** The calendar terms of the balance's connection; null where cut-offs and calendars are ignored. */
  readonly calendar: CalendarTerms | null
  /** The controls of the balance for direct debits. Fenced in the same manner. */
  readonly debitControls: BalanceDebitControls
}

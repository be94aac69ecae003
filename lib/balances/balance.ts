/**
 * The balance as its actor knows it. A debit needs its decision, a credit does not: so what is remembered can be low,
 * never high, and a yes from memory is always good (I4).
 */
import type { PolicyTerms } from '../approvals/policy.ts'
import type { PaymentLimits } from '../customers/limits.ts'
import type { CalendarTerms } from '../rails/business-days.ts'
import type { FeeRule } from '../pricing/fees.ts'

/** What the actor remembers. */
export interface BalanceState {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly connectionId: string
  readonly shard: number
  readonly currency: string
  readonly name: string
  readonly status: 'active' | 'frozen' | 'closing' | 'closed'
  /** Minor units: what is posted less what is held. */
  readonly available: bigint
  readonly version: bigint
  /**
   * The customer's approval policy for payments; null where there is none. Whoever changes it moves the version of every
   * balance of the customer in the same transaction, so a decision that rests on an older one is fenced like any other (I3).
   */
  readonly policy: PolicyTerms | null
  /** Its policy for exchanges, or where that was never set the one for payments. Fenced in the same manner. */
  readonly exchangePolicy: PolicyTerms | null
  /** What the customer and its members may pay out in this currency, and have; null where there is no limit. Fenced as the policy is. */
  readonly limits: PaymentLimits | null
  /** What the operator charges in this currency. */
  readonly fees: readonly FeeRule[]
  /** Moves with the limits that the operator sets for rails: a rail that was chosen by others is chosen again. Fenced in the same manner. */
  readonly railVersion: number
  /** What is set for the days of its connection; null where cut-offs and calendars are ignored. */
  readonly calendar: CalendarTerms | null
}

/** A posting: one debit and one credit of one amount. */
import type { CreditRef, DebitRef } from './account-ref.ts'

/** One debit and one credit of the same amount, so that the sum is always zero (I6). */
export interface Posting {
  readonly entryId: string
  readonly ordinal: number
  readonly customerId: string
  /** The posting rule, L01…L97. */
  readonly rule: string
  readonly occurrence: number
  readonly sourceObject: string
  readonly sourceId: string
  readonly currency: string
  readonly amount: bigint
  readonly debit: DebitRef
  readonly credit: CreditRef
  readonly description: string | null
  readonly reference: string | null
  readonly counterparty: string | null
  readonly reversalOf: string | null
  readonly bookedAt: number
  readonly valueDate: string
}

/** A posting: one debit and one credit of one amount. */
import type { RuleId } from './postings.ts'
import type { CreditRef, DebitRef } from './account-ref.ts'

/**
 * The kinds of objects that cause entries. `period_close` is a period of one operator and currency, so that it is closed
 * once.
 */
export const SOURCE_OBJECTS = [
  'payment',
  'transfer',
  'exchange',
  'incoming_payment',
  'incoming_suspense',
  'incoming_debit',
  'reconciliation_break',
  'connection_move',
  'cash_order',
  'adjustment',
  'collection',
  'period_close',
  'card_transaction',
] as const
export type SourceObject = (typeof SOURCE_OBJECTS)[number]

/** One debit and one credit of the same amount, so that the sum is always zero (I6). */
export interface Posting {
  readonly entryId: string
  readonly ordinal: number
  readonly customerId: string
  readonly rule: RuleId
  readonly occurrence: number
  readonly sourceObject: SourceObject
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

/**
 * Exposure: the amount of a customer's collections that a bank can still take back, or may yet collect, in one currency.
 * The operator owes it to its bank when the customer's balance does not cover a return. Pure: amounts are minor units.
 *
 * A collection counts from its creation, so that many pending ones cannot pass a limit together, until it ends without
 * money or until its payer can no longer have it back.
 */
import type { CurrencyCode } from '../base/currency.ts'
import { formatMajor, moneyJson } from '../base/money.ts'
import type { Problem } from '../base/problems.ts'
import type { CollectionRecord } from './collection.ts'
import { afterPeriod, type Period } from './dates.ts'
import { DEBIT_SCHEMES } from './schemes.ts'

/** The change of a customer's exposure that a move of a collection makes. */
export interface ExposureChange {
  readonly customerId: string
  readonly currency: string
  /** Minor units; below zero where less is exposed than before. */
  readonly amount: bigint
  /** The commit refuses a sum above it; null: no limit, and for every change but a new collection. */
  readonly max: bigint | null
}

/** What counts of a collection: its status, its amount, and until when it can come back. */
type Counted = Pick<CollectionRecord, 'customerId' | 'currency' | 'amount' | 'status' | 'exposedUntil'>

/** Returns the amount of a collection that counts. */
export function exposedAmount({ status, amount, exposedUntil }: Counted): bigint {
  switch (status) {
    case 'pending':
    case 'submitted':
    case 'exception':
      return amount
    case 'collected':
      return exposedUntil === null ? 0n : amount
    case 'failed':
    case 'returned':
    case 'reversed':
    case 'cancelled':
      return 0n
    default:
      return status satisfies never
  }
}

/** Returns the change of the exposure with a move, or with a new collection (`before` null); empty where it stays. */
export function exposureChanges(
  before: Counted | null,
  after: Counted,
  max: bigint | null = null,
): { readonly exposureChanges?: readonly ExposureChange[] } {
  const amount = exposedAmount(after) - (before === null ? 0n : exposedAmount(before))
  const { customerId, currency } = after
  return amount === 0n ? {} : { exposureChanges: [{ customerId, currency, amount, max }] }
}

/** For how long a collection counts whose payer has no last day (Bacs): as long as the longest window of SEPA. */
const EXPOSED_WITHOUT_END: Period = { count: 13, unit: 'months' }

/** Returns the moment until which a collected collection counts; `refundableUntil` null: its payer has no last day. */
export function exposedUntil(
  { scheme, dueDate }: Pick<CollectionRecord, 'scheme' | 'dueDate'>,
  refundableUntil: string | null,
): number {
  const terms = DEBIT_SCHEMES[scheme]
  return refundableUntil === null
    ? afterPeriod(terms, dueDate, EXPOSED_WITHOUT_END)
    : afterPeriod(terms, refundableUntil, { count: 0, unit: 'calendar' })
}

/** Builds the refusal of a collection beyond the largest exposure. */
export function exposureProblem(max: bigint, used: bigint, currency: CurrencyCode): Problem {
  const remaining = max > used ? max - used : 0n
  const money = (amountMinor: bigint) => moneyJson({ amountMinor, currency })
  return {
    slug: 'limit-exceeded',
    detail:
      `Collections that can still come back may be ${formatMajor(max, currency)} ${currency}, ` +
      `of which ${formatMajor(remaining, currency)} ${currency} remain.`,
    extra: { limit: { kind: 'exposure', amount: money(max), period: null, remaining: money(remaining) } },
  }
}

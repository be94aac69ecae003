/** An operator's terms for collections, in their stored form. */
import type { CollectionTerms } from '../../lib/operators/collection-terms.ts'

/** Minor units as text, by currency. */
export type MaxExposureJson = Readonly<Record<string, string>>

/** Converts the largest exposures to their stored form. */
export const maxExposureJson = (limits: CollectionTerms['maxExposure']): MaxExposureJson =>
  Object.fromEntries(Object.entries(limits).map(([currency, amount]) => [currency, amount.toString()]))

/** Converts the largest exposures from their stored form. */
export const maxExposureOf = (json: MaxExposureJson): CollectionTerms['maxExposure'] =>
  Object.fromEntries(Object.entries(json).map(([currency, amount]) => [currency, BigInt(amount)]))

/**
 * The terms of a customer's collections: those of its operator and its own, in its scheme. Pure: times are epoch
 * milliseconds.
 */
import type { CollectionTerms } from '../operators/collection-terms.ts'
import { afterPeriod, type Period } from './dates.ts'
import type { SchemeTerms } from './schemes.ts'

/** The terms of a customer for collections, read with its mandate. */
export interface DebitTerms extends CollectionTerms {
  /** The days of notice that the customer has set; null: those of its operator. */
  readonly customerNoticeDays: number | null
}

/** The unit in which operators and customers set the days of a notice. */
const SET_UNIT = 'calendar'
/** Schemes with at least this notice of their own follow the settings; shorter ones are the scheme's rule. */
const SET_FROM = 14

/**
 * Returns the notice that the payer of a mandate gets. What was agreed with the payer counts (`agreedDays`). Else, where
 * the scheme's notice is two weeks, as in SEPA, the operator's setting replaces it, and a customer may have set a shorter
 * one.
 */
export function noticeOf(
  { preNotification }: Pick<SchemeTerms, 'preNotification'>,
  { preNotificationDays, customerNoticeDays }: Pick<DebitTerms, 'preNotificationDays' | 'customerNoticeDays'>,
  agreedDays: number | null,
): Period {
  if (agreedDays !== null) return { count: agreedDays, unit: preNotification.unit }
  if (preNotification.unit !== SET_UNIT || preNotification.count < SET_FROM) return preNotification
  return { count: Math.min(preNotificationDays, customerNoticeDays ?? preNotificationDays), unit: SET_UNIT }
}

/** Returns until when money that is collected on a date is held as a reserve; null: it is not held. */
export const reserveUntil = (
  scheme: Pick<SchemeTerms, 'calendar' | 'zone'>,
  { reserveDays }: Pick<DebitTerms, 'reserveDays'>,
  collectedOn: string,
): number | null =>
  reserveDays === 0 ? null : afterPeriod(scheme, collectedOn, { count: reserveDays, unit: 'calendar' })

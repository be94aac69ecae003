/**
 * The times at which something is due on a collection or a mandate by itself. One function of the row computes the next
 * of them, so that every move sets the timer alike. Pure: times are epoch milliseconds.
 *
 * The submission has its own queue (the cut-off of a file, the orders of a bank).
 */
import type { CollectionRecord } from './collection.ts'
import { answerOverdueAt, dormantAt, schemeDate } from './dates.ts'
import type { MandateRecord } from './mandate.ts'
import { shiftOpenDays, zonedMoment } from '../rails/calendar-days.ts'
import { DEBIT_SCHEMES } from './schemes.ts'

/** Why a collection is due. */
export type CollectionDue =
  /** The notice to its payer has to be sent. */
  | 'notice'
  /** Its bank has not told the outcome in time. */
  | 'overdue'
  /** Its reserve ends. */
  | 'reserve'
  /** It counts for the exposure of its customer no longer. */
  | 'exposure'
  /** It waits to be presented again. */
  | 'retry'

interface Due<Reason> {
  readonly reason: Reason
  readonly at: number
}

/** Returns what is due next on a collection, and when; null: nothing. @throws CalendarUnknown */
export function dueOfCollection(collection: CollectionRecord): Due<CollectionDue> | null {
  const { status, scheme, dueDate, preNotification: notice, reserveUntil, exposedUntil, nextAttemptAt } = collection
  switch (status) {
    case 'pending':
      return notice === null || notice.sentBy === 'customer' || notice.sentAt !== null
        ? null
        : { reason: 'notice', at: zonedMoment(DEBIT_SCHEMES[scheme].zone, notice.sendBy, NOTICE_TIME) }
    case 'submitted':
      return { reason: 'overdue', at: answerOverdueAt(DEBIT_SCHEMES[scheme], dueDate) }
    case 'collected':
      if (reserveUntil !== null && (exposedUntil === null || reserveUntil <= exposedUntil))
        return { reason: 'reserve', at: reserveUntil }
      return exposedUntil === null ? null : { reason: 'exposure', at: exposedUntil }
    case 'failed':
    case 'returned':
      return nextAttemptAt === null ? null : { reason: 'retry', at: nextAttemptAt }
    case 'exception':
    case 'reversed':
    case 'cancelled':
      return null
    default:
      return status satisfies never
  }
}

/** Notices are sent in the morning of their day. */
const NOTICE_TIME = '08:00'

/** Why a mandate is due: silence of its bank is consent, or nothing was collected by it for too long. */
export type MandateDue = 'silence' | 'dormancy'

/** Returns what is due next on a mandate, and when; null: nothing. @throws CalendarUnknown */
export function dueOfMandate(mandate: MandateRecord): Due<MandateDue> | null {
  const { status, direction, scheme, management, submittedAt, activatedAt, createdAt } = mandate
  const terms = DEBIT_SCHEMES[scheme]
  if (direction !== 'collect') return null
  if (status === 'submitted') {
    const { days } = terms.lodging
    if (management !== 'client' || days === null || submittedAt === null) return null
    const last = shiftOpenDays(terms.calendar, schemeDate(terms, submittedAt), days)
    return { reason: 'silence', at: zonedMoment(terms.zone, last, '23:59') }
  }
  if (status !== 'active') return null
  const used = mandate.lastPresentedAt ?? mandate.signedAt ?? activatedAt ?? createdAt
  const at = dormantAt(terms, used)
  return at === null ? null : { reason: 'dormancy', at }
}

/** Returns a row with its timer set. */
export const timedCollection = (collection: CollectionRecord): CollectionRecord => ({
  ...collection,
  dueAt: dueOfCollection(collection)?.at ?? null,
})

export const timedMandate = (mandate: MandateRecord): MandateRecord => ({
  ...mandate,
  dueAt: dueOfMandate(mandate)?.at ?? null,
})

/**
 * What falls due again in an approved case, and what is done about it: reminders before the day, the end of the
 * capability to pay on the day, and its return once nothing is past due. Documents that expire and the statements of the
 * periodic review are treated alike. Pure.
 */
import { DAY_MS } from '../base/clock.ts'
import type { DueAgain } from './requirement.ts'
import { dueAgainOf, nextChangeAt, RENEWAL_LEAD_MS, requirementsOf, type CaseFacts } from './requirements.ts'

/** Reminders go out this long before a requirement becomes past due. */
const REMINDERS_MS = [RENEWAL_LEAD_MS, 7 * DAY_MS]
/** A case that has something past due is looked at again after this time. */
const OVERDUE_MS = DAY_MS

/** The action when an approved case is looked at. */
export interface CaseCheck {
  /** The requirements of which the customer is reminded. */
  readonly remind: readonly DueAgain[]
  /** Whether the time of the customer's lapse begins or ends: it cannot pay while something is past due. */
  readonly lapse: 'begins' | 'ends' | null
  /** Whether staff have to review the case: its review is due, and the customer has given all that it takes. */
  readonly review: boolean
}

const NOTHING: CaseCheck = { remind: [], lapse: null, review: false }

/** Whether something can fall due again: the case is approved, and its customer is not closed. */
const isChecked = ({ record, customer }: CaseFacts): boolean =>
  record.status === 'approved' && (customer.status === 'active' || customer.status === 'closing')

/**
 * Decides what is done with a case at `now`. Reminders whose time is from `since` on are due: the time for which this
 * look was planned. Times are epoch milliseconds.
 */
export function checkCase(
  facts: CaseFacts,
  { since, now }: { readonly since: number; readonly now: number },
): CaseCheck {
  if (!isChecked(facts)) return NOTHING
  const { nextReviewAt, lapsedAt } = facts.record
  const lapse = lapseOf(facts, now)
  const settled = lapse === 'ends' || (lapse === null && lapsedAt === null)
  const isDue = ({ dueAt }: DueAgain): boolean =>
    dueAt > now && REMINDERS_MS.some((lead) => dueAt - lead >= since && dueAt - lead <= now)
  return {
    remind: dueAgainOf(facts, now).filter(isDue),
    lapse,
    review: settled && nextReviewAt !== null && nextReviewAt <= now && !isScanned(facts, now),
  }
}

/** Decides whether the lapse of a customer begins or ends at a time in epoch milliseconds; null: it stays as it is. */
export function lapseOf(facts: CaseFacts, now: number): CaseCheck['lapse'] {
  if (!isChecked(facts)) return null
  const isPast = requirementsOf(facts, now).pastDue.length > 0
  if (facts.record.lapsedAt === null) return isPast ? 'begins' : null
  // A document that is being scanned may fail.
  return isPast || isScanned(facts, now) ? null : 'ends'
}

/** Whether a document that a requirement needs waits for its scan. */
const isScanned = (facts: CaseFacts, now: number): boolean =>
  requirementsOf(facts, now).pendingVerification.some(({ kind }) => kind === 'document')

/**
 * The next time at which a case has to be looked at, epoch milliseconds: its requirements change by themselves, a reminder
 * goes out, or something that is done at once. Null: never.
 */
export function nextCheckAt(facts: CaseFacts, now: number): number | null {
  const change = nextChangeAt(facts, now)
  if (!isChecked(facts)) return change
  const { lapse, review } = checkCase(facts, { since: now, now })
  if (lapse !== null || review) return now
  const { lapsedAt, nextReviewAt } = facts.record
  const times = [
    ...(change === null ? [] : [change]),
    ...dueAgainOf(facts, now).flatMap(({ dueAt }) => REMINDERS_MS.map((lead) => dueAt - lead)),
    ...(nextReviewAt === null ? [] : [nextReviewAt]),
    ...(lapsedAt === null ? [] : [now + OVERDUE_MS]),
  ]
  const later = times.filter((time) => time > now || time === change)
  return later.length === 0 ? null : Math.min(...later)
}

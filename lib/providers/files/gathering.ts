/** When a file that gathers orders is to be sent. Pure: moments are epoch milliseconds. */
import { cutOffOf, type CalendarTerms } from '../../rails/business-days.ts'
import { RAILS, type Rail } from '../../rails/rails.ts'

/** A file is sent this long before the cut-off of its rail, so that it arrives in time. */
const CUT_OFF_MARGIN_MS = 2 * 60_000

/**
 * Returns when a file with an order is to be sent: once others have been gathered with it, before the cut-off of its
 * day. An instant order waits for no other, and neither does an order whose cut-off is near or has passed.
 *
 * @throws CalendarUnknown when the cut-off of the day is not known
 */
export function fileDueAt(
  { rail, executionDate }: { readonly rail: Rail; readonly executionDate: string },
  { now, gatherMs, terms }: { readonly now: number; readonly gatherMs: number; readonly terms: CalendarTerms },
): number {
  if (RAILS.get(rail)?.speed === 'instant') return now
  return Math.max(now, Math.min(now + gatherMs, cutOffOf(rail, executionDate, terms) - CUT_OFF_MARGIN_MS))
}

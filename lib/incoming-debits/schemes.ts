/** The terms of direct debit schemes on the payer's side, computed of the table of schemes (lib/direct-debits/schemes.ts). */
import { addDays, dateIn } from '../base/clock.ts'
import { endOfWindow } from '../direct-debits/dates.ts'
import { DEBIT_SCHEMES, type Window } from '../direct-debits/schemes.ts'
import { zonedMoment } from '../rails/calendar-days.ts'
import type { MandateScheme } from '../rails/debit-schemes.ts'

/** The reasons for which a payer has a debit refunded: an authorised one (MD06), or one without a mandate (MD01). */
export const REFUND_REASONS = ['MD06', 'MD01'] as const
export type RefundReason = (typeof REFUND_REASONS)[number]

/**
 * Whether the first debit of a mandate waits until the payer has confirmed the mandate to its bank: in SEPA's scheme
 * between businesses the payer's bank checks each debit against what the payer has told it (EPC222-07).
 */
export const needsConfirmation = (scheme: MandateScheme): boolean => DEBIT_SCHEMES[scheme].lodging.by === 'debtor_bank'

/**
 * Returns the window of a refund; null: the scheme has none. An indemnity claim of Bacs covers both reasons. Windows are
 * those of consumers, which are the longer ones: the creditor's bank judges by the kind of the payer.
 */
function windowOf(scheme: MandateScheme, reason: RefundReason): Window | null {
  const windows = DEBIT_SCHEMES[scheme].windows.consumer
  return windows.indemnity_claim ?? (reason === 'MD06' ? windows.refund_authorised : windows.refund_unauthorised)
}

/** Returns when a due date (`YYYY-MM-DD`) begins where the scheme clears, epoch milliseconds. */
export const dueMoment = (scheme: MandateScheme, dueDate: string): number =>
  zonedMoment(DEBIT_SCHEMES[scheme].zone, dueDate, '00:00')

/**
 * Returns when the window of a refund ends, epoch milliseconds: the end of its last day in the scheme's zone. Infinity
 * where it never ends, null where the scheme has no such refund.
 *
 * @param debitedAt epoch milliseconds
 */
export function refundEnd(scheme: MandateScheme, reason: RefundReason, debitedAt: number): number | null {
  const window = windowOf(scheme, reason)
  if (window === null) return null
  const { zone } = DEBIT_SCHEMES[scheme]
  const last = endOfWindow(DEBIT_SCHEMES[scheme], dateIn(debitedAt, zone), window)
  return last === null ? Number.POSITIVE_INFINITY : zonedMoment(zone, addDays(last, 1), '00:00')
}

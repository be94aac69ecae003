/**
 * The rules for the terms of a scheduled payment. The rules that its payments will meet are checked when it is created
 * or changed, so that it does not fail only on its date; its dates have rules of their own.
 */
import { policyRefusal } from '../../lib/payments/payment-request.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { EXECUTION_DAYS_MAX, latestDate } from '../../lib/rails/timing.ts'
import { railDate, type CalendarTerms } from '../../lib/rails/business-days.ts'
import { checkReference, referenceMessage } from '../../lib/rails/reference.ts'
import { chooseRail } from '../../lib/rails/choose-rail.ts'
import { RAILS, speedOf, type Rail, type RailTerms } from '../../lib/rails/rails.ts'
import { ProblemError, refuseField } from '../../lib/base/problems.ts'
import { paymentFieldFault } from '../../lib/recipients/payment-fields.ts'
import { occurrenceFrom, type Occurrence } from '../../lib/scheduled-payments/occurrences.ts'
import { calendarOf } from '../../lib/scheduled-payments/rail-calendar.ts'
import { seriesFault, type ScheduleState } from '../../lib/scheduled-payments/schedule.ts'
import type { PayableRecipient } from '../../storage/recipients/recipient-cache.ts'

/** The terms of the future payments. */
export interface PaymentTerms {
  readonly amount: bigint
  readonly currency: string
  readonly requestedRail: Rail | null
  readonly reference: string
  readonly purposeCode: string | null
  readonly metadata: Readonly<Record<string, string>>
}

/** The rail that carries the payments today, and whether it works on every day, holidays included. */
export interface RailOfTerms {
  readonly rail: Rail
  readonly instant: boolean
}

/**
 * Chooses the rail of payments on these terms; `onPlatform` says whether `internal` can carry them.
 *
 * @throws ProblemError when a payment on these terms would be refused
 */
export function railOfTerms(
  recipient: PayableRecipient,
  { amount, currency, requestedRail, reference, purposeCode, metadata }: PaymentTerms,
  onPlatform: boolean,
): RailOfTerms {
  if (currency !== recipient.currency)
    refuseField('/amount/currency', 'currency_mismatch', `The recipient is paid in ${recipient.currency}.`)
  const choice = chooseRail(
    {
      currency: currency as CurrencyCode,
      amountMinor: amount,
      bankCountry: recipient.bankCountry,
      fields: recipient.fields,
      requested: requestedRail,
      onPlatform,
    },
    recipient.rails.table,
  )
  const refused = policyRefusal(amount, currency, choice)
  if (refused !== null) throw new ProblemError(refused)
  const { rail } = choice as { readonly rail: Rail }
  const fault = checkReference(rail, reference)
  if (fault !== null) refuseField('/reference', fault.code, referenceMessage(rail, fault), fault.params)
  const row = RAILS.get(rail) as RailTerms
  const wrong = paymentFieldFault(recipient, row, { reference, purposeCode, metadata })
  if (wrong !== null) refuseField(wrong.field, wrong.code, wrong.message, wrong.params)
  return { rail, instant: speedOf(row, amount) === 'instant' }
}

/** Refuses dates that contradict one another or the rail. @throws ProblemError */
export function checkSeries(terms: Pick<ScheduleState, 'series' | 'maxOccurrences'>, { instant }: RailOfTerms): void {
  const fault = seriesFault(terms, instant)
  if (fault !== null) refuseField(fault.field, fault.code, fault.message, fault.params)
}

/**
 * Computes the first occurrence of a new schedule.
 *
 * @throws ProblemError when it is not in the future; CalendarUnknown
 */
export function firstOccurrence(
  { series }: Pick<ScheduleState, 'series'>,
  { rail, instant }: RailOfTerms,
  calendar: CalendarTerms | null,
  now: number,
): Occurrence {
  const today = railDate(rail, now)
  const { startDate } = series
  if (startDate < today || (startDate === today && !instant)) {
    refuseField(
      '/startDate',
      'in_past',
      instant ? 'The start has passed.' : `Payments by ${rail} are scheduled from tomorrow on.`,
    )
  }
  if (startDate > latestDate(today))
    refuseField('/startDate', 'too_far_ahead', `The start is more than ${EXECUTION_DAYS_MAX} days ahead.`, {
      max: latestDate(today),
    })
  const first = occurrenceFrom(series, 0, null, calendarOf(rail, calendar).days)
  if (first === null) refuseField('/endDate', 'too_small', 'No occurrence lies before the end.')
  if (first.executionDate < today || (first.executionDate === today && !instant))
    refuseField('/startDate', 'in_past', 'The business day before the start has passed.')
  return first
}

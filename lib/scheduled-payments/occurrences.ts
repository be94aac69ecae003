/**
 * The dates of a scheduled payment: the planned date, and the day on which it is executed.
 *
 *  * Every planned date is counted from the start, never from the previous one, so a monthly payment of the 31st that
 *    was made on 28 February is made on 31 March again.
 *  * A day on which the rail is closed is moved to a business day. Planned dates that fall on one business day are one
 *    occurrence: a daily payment is made once on a Monday, not three times.
 *  * Business days come from the calendar of the rail, which the caller passes in.
 */

export const FREQUENCIES = [
  'once',
  'daily',
  'weekly',
  'fortnightly',
  'monthly',
  'quarterly',
  'semiannually',
  'annually',
] as const
export type Frequency = (typeof FREQUENCIES)[number]
export const DAY_POLICIES = ['next_business_day', 'previous_business_day', 'exact'] as const
export type DayPolicy = (typeof DAY_POLICIES)[number]

/** The terms that the dates follow from. Dates are `YYYY-MM-DD`. */
export interface Series {
  readonly frequency: Frequency
  readonly startDate: string
  /** The last possible planned date; null for no end. */
  readonly endDate: string | null
  readonly dayPolicy: DayPolicy
  /** Always the last day of the month; only for frequencies in months. */
  readonly lastDayOfMonth: boolean
}

/** One date of a series. */
export interface Occurrence {
  /** Its index in the series, from 0. */
  readonly index: number
  readonly plannedDate: string
  /** The day on which the payment is executed. */
  readonly executionDate: string
}

/**
 * The business days of a rail: the first on or after a date, and the last on or before it. May throw for a year that
 * the calendar does not cover.
 */
export interface WorkingDays {
  onOrAfter(date: string): string
  onOrBefore(date: string): string
}

/** The step from one date to the next. */
const STEPS: Readonly<Record<Exclude<Frequency, 'once'>, { readonly days: number } | { readonly months: number }>> = {
  daily: { days: 1 },
  weekly: { days: 7 },
  fortnightly: { days: 14 },
  monthly: { months: 1 },
  quarterly: { months: 3 },
  semiannually: { months: 6 },
  annually: { months: 12 },
}

/** Tells whether the frequency is in months, so that the last day of the month is possible. */
export function countsMonths(frequency: Frequency): boolean {
  return frequency !== 'once' && 'months' in STEPS[frequency]
}

/** Returns the planned date at an index of the series; null after its end. */
export function plannedDate({ frequency, startDate, endDate, lastDayOfMonth }: Series, index: number): string | null {
  if (frequency === 'once' && index > 0) return null
  const start = Temporal.PlainDate.from(startDate)
  const step = frequency === 'once' ? { days: 0 } : STEPS[frequency]
  // A day that a month does not have becomes its last day.
  const counted = 'days' in step ? start.add({ days: step.days * index }) : start.add({ months: step.months * index })
  const date = (lastDayOfMonth ? counted.with({ day: counted.daysInMonth }) : counted).toString()
  return endDate !== null && date > endDate ? null : date
}

/** Returns the day on which a planned payment is executed. */
export function executionDateOf(planned: string, policy: DayPolicy, days: WorkingDays): string {
  switch (policy) {
    case 'exact':
      return planned
    case 'next_business_day':
      return days.onOrAfter(planned)
    case 'previous_business_day':
      return days.onOrBefore(planned)
    default:
      return policy satisfies never
  }
}

/**
 * Returns the first occurrence from an index on that is executed later than `after` (null: any day); null when the
 * series ends before.
 */
export function occurrenceFrom(
  series: Series,
  from: number,
  after: string | null,
  days: WorkingDays,
): Occurrence | null {
  for (let index = from; ; index++) {
    const planned = plannedDate(series, index)
    if (planned === null) return null
    const executionDate = executionDateOf(planned, series.dayPolicy, days)
    if (after === null || executionDate > after) return { index, plannedDate: planned, executionDate }
  }
}

/** Returns the occurrence after the given one; null after the last. */
export function occurrenceAfter(
  series: Series,
  { index, executionDate }: Pick<Occurrence, 'index' | 'executionDate'>,
  days: WorkingDays,
): Occurrence | null {
  return occurrenceFrom(series, index + 1, executionDate, days)
}

/**
 * Returns an index shortly before a date, so that a search need not start at 0: two months earlier, because no calendar
 * moves a day by so much.
 */
export function placeNear(series: Series, date: string): number {
  const { frequency, startDate } = series
  if (frequency === 'once') return 0
  const step = STEPS[frequency]
  const start = Temporal.PlainDate.from(startDate)
  const near = Temporal.PlainDate.from(date).subtract({ months: 2 })
  if (Temporal.PlainDate.compare(near, start) <= 0) return 0
  const passed =
    'days' in step
      ? start.until(near, { largestUnit: 'days' }).days / step.days
      : start.until(near, { largestUnit: 'months' }).months / step.months
  return Math.max(0, Math.floor(passed))
}

/** Yields an occurrence and those after it, as far as they are read. */
export function* following(series: Series, first: Occurrence | null, days: WorkingDays): Generator<Occurrence, void> {
  for (let next = first; next !== null; next = occurrenceAfter(series, next, days)) yield next
}

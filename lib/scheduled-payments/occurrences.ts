/**
 * The dates of a scheduled payment: when it is planned, and on which day that is carried out.
 *
 *  * Every planned date is counted from the start, never from the one before, so a payment of the 31st that was made on the
 *    28th of February is made on the 31st of March again.
 *  * A day on which the rail rests is moved to a working one. Plans that fall on one working day are one occurrence: what is
 *    paid daily is paid once on a Monday, not three times.
 *  * Days are those of the rail's own calendar, which travels with the question; nothing here knows one.
 */

export const FREQUENCIES = ['once', 'daily', 'weekly', 'fortnightly', 'monthly', 'quarterly', 'semiannually', 'annually'] as const
export type Frequency = (typeof FREQUENCIES)[number]
export const DAY_POLICIES = ['next_business_day', 'previous_business_day', 'exact'] as const
export type DayPolicy = (typeof DAY_POLICIES)[number]

/** What the dates follow from. Dates are `YYYY-MM-DD`. */
export interface Series {
  readonly frequency: Frequency
  readonly startDate: string
  /** No planned date lies behind it; null for no end. */
  readonly endDate: string | null
  readonly dayPolicy: DayPolicy
  /** Always the last day of the month; only where the frequency counts months. */
  readonly lastDayOfMonth: boolean
}

/** One date of a series. */
export interface Occurrence {
  /** Its place in the series, from 0. */
  readonly index: number
  readonly plannedDate: string
  /** The day on which it is carried out. */
  readonly executionDate: string
}

/** The working days of a rail: the first on or behind a date, and the last on or before it. May throw where no calendar reaches. */
export interface WorkingDays {
  onOrAfter(date: string): string
  onOrBefore(date: string): string
}

/** How far one date is from the next. */
const STEPS: Readonly<Record<Exclude<Frequency, 'once'>, { readonly days: number } | { readonly months: number }>> = {
  daily: { days: 1 },
  weekly: { days: 7 },
  fortnightly: { days: 14 },
  monthly: { months: 1 },
  quarterly: { months: 3 },
  semiannually: { months: 6 },
  annually: { months: 12 },
}

/** Whether the frequency counts months, so that it has a last day. */
export function countsMonths(frequency: Frequency): boolean {
  return frequency !== 'once' && 'months' in STEPS[frequency]
}

/** The planned date at a place of the series; null behind its end. */
export function plannedDate({ frequency, startDate, endDate, lastDayOfMonth }: Series, index: number): string | null {
  if (frequency === 'once' && index > 0) return null
  const start = Temporal.PlainDate.from(startDate)
  const step = frequency === 'once' ? { days: 0 } : STEPS[frequency]
  // A day that a month does not have is its last one.
  const counted = 'days' in step ? start.add({ days: step.days * index }) : start.add({ months: step.months * index })
  const date = (lastDayOfMonth ? counted.with({ day: counted.daysInMonth }) : counted).toString()
  return endDate !== null && date > endDate ? null : date
}

/** The day on which a plan is carried out. */
export function executionDateOf(planned: string, policy: DayPolicy, days: WorkingDays): string {
  switch (policy) {
    case 'exact': return planned
    case 'next_business_day': return days.onOrAfter(planned)
    case 'previous_business_day': return days.onOrBefore(planned)
    default: return policy satisfies never
  }
}

/**
 * The first occurrence from a place on whose day is behind `after` (null: whatever its day); null when the series ends
 * before.
 */
export function occurrenceFrom(series: Series, from: number, after: string | null, days: WorkingDays): Occurrence | null {
  for (let index = from; ; index++) {
    const planned = plannedDate(series, index)
    if (planned === null) return null
    const executionDate = executionDateOf(planned, series.dayPolicy, days)
    if (after === null || executionDate > after) return { index, plannedDate: planned, executionDate }
  }
}

/** The occurrence after one; null when it was the last. */
export function occurrenceAfter(series: Series, { index, executionDate }: Pick<Occurrence, 'index' | 'executionDate'>, days: WorkingDays): Occurrence | null {
  return occurrenceFrom(series, index + 1, executionDate, days)
}

/**
 * The first place that can be carried out on a date or later, without looking at every one before: two months earlier, so
 * that no calendar moves a day across.
 */
export function placeNear(series: Series, date: string): number {
  const { frequency, startDate } = series
  if (frequency === 'once') return 0
  const step = STEPS[frequency]
  const start = Temporal.PlainDate.from(startDate)
  const near = Temporal.PlainDate.from(date).subtract({ months: 2 })
  if (Temporal.PlainDate.compare(near, start) <= 0) return 0
  const passed = 'days' in step ? start.until(near, { largestUnit: 'days' }).days / step.days : start.until(near, { largestUnit: 'months' }).months / step.months
  return Math.max(0, Math.floor(passed))
}

/** One occurrence and those after it, as far as they are asked for. */
export function* following(series: Series, first: Occurrence | null, days: WorkingDays): Generator<Occurrence, void> {
  for (let next = first; next !== null; next = occurrenceAfter(series, next, days)) yield next
}

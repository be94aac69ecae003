/** The dates of scheduled payments, against a second way of counting them and against what calendars do to people. */
import fc from 'fast-check'
import t from 'tap'
import {
  countsMonths,
  DAY_POLICIES,
  following,
  FREQUENCIES,
  occurrenceAfter,
  occurrenceFrom,
  placeNear,
  plannedDate,
  type Series,
  type WorkingDays,
} from '../../../lib/scheduled-payments/occurrences.ts'

/** Saturdays and Sundays are free, and so are these. */
const HOLIDAYS = new Set(['2026-12-25', '2026-12-26', '2027-01-01', '2027-03-26', '2027-03-29'])
const works = (date: Temporal.PlainDate): boolean => date.dayOfWeek <= 5 && !HOLIDAYS.has(date.toString())
function moved(date: string, step: 1 | -1): string {
  let day = Temporal.PlainDate.from(date)
  while (!works(day)) day = day.add({ days: step })
  return day.toString()
}
const WEEKDAYS: WorkingDays = { onOrAfter: (date) => moved(date, 1), onOrBefore: (date) => moved(date, -1) }
const EVERY_DAY: WorkingDays = { onOrAfter: (date) => date, onOrBefore: (date) => date }

const series = (overrides: Partial<Series> & Pick<Series, 'frequency' | 'startDate'>): Series => ({
  endDate: null,
  dayPolicy: 'next_business_day',
  lastDayOfMonth: false,
  ...overrides,
})
const datesOf = (of: Series, count: number, days = EVERY_DAY): string[] =>
  following(of, occurrenceFrom(of, 0, null, days), days)
    .take(count)
    .toArray()
    .map(({ executionDate }) => executionDate)

t.test('every frequency counts as its name says', async (t) => {
  const rows = [
    ['once', ['2027-01-04']],
    ['daily', ['2027-01-04', '2027-01-05', '2027-01-06', '2027-01-07']],
    ['weekly', ['2027-01-04', '2027-01-11', '2027-01-18', '2027-01-25']],
    ['fortnightly', ['2027-01-04', '2027-01-18', '2027-02-01', '2027-02-15']],
    ['monthly', ['2027-01-04', '2027-02-04', '2027-03-04', '2027-04-04']],
    ['quarterly', ['2027-01-04', '2027-04-04', '2027-07-04', '2027-10-04']],
    ['semiannually', ['2027-01-04', '2027-07-04', '2028-01-04', '2028-07-04']],
    ['annually', ['2027-01-04', '2028-01-04', '2029-01-04', '2030-01-04']],
  ] as const
  for (const [frequency, dates] of rows)
    t.strictSame(datesOf(series({ frequency, startDate: '2027-01-04' }), 4), dates, frequency)
  t.strictSame(
    rows.map(([frequency]) => frequency),
    FREQUENCIES,
  )
})

t.test('a day that a month lacks is its last one, and comes back', async (t) => {
  t.strictSame(datesOf(series({ frequency: 'monthly', startDate: '2027-01-31' }), 5), [
    '2027-01-31',
    '2027-02-28',
    '2027-03-31',
    '2027-04-30',
    '2027-05-31',
  ])
  t.strictSame(
    datesOf(series({ frequency: 'monthly', startDate: '2028-01-30' }), 3),
    ['2028-01-30', '2028-02-29', '2028-03-30'],
    'a leap year',
  )
  t.strictSame(datesOf(series({ frequency: 'annually', startDate: '2028-02-29' }), 5), [
    '2028-02-29',
    '2029-02-28',
    '2030-02-28',
    '2031-02-28',
    '2032-02-29',
  ])
  t.strictSame(
    datesOf(series({ frequency: 'monthly', startDate: '2027-02-28' }), 3),
    ['2027-02-28', '2027-03-28', '2027-04-28'],
    'the 28th is the 28th',
  )
  t.strictSame(datesOf(series({ frequency: 'monthly', startDate: '2027-02-10', lastDayOfMonth: true }), 3), [
    '2027-02-28',
    '2027-03-31',
    '2027-04-30',
  ])
  t.strictSame(datesOf(series({ frequency: 'quarterly', startDate: '2027-11-30', lastDayOfMonth: true }), 3), [
    '2027-11-30',
    '2028-02-29',
    '2028-05-31',
  ])
})

t.test('days of rest are moved by the policy', async (t) => {
  const saturday = { frequency: 'monthly', startDate: '2027-01-02' } as const
  t.strictSame(datesOf(series(saturday), 3, WEEKDAYS), ['2027-01-04', '2027-02-02', '2027-03-02'])
  t.strictSame(
    datesOf(series({ ...saturday, dayPolicy: 'previous_business_day' }), 1, WEEKDAYS),
    ['2026-12-31'],
    'over New Year',
  )
  t.strictSame(datesOf(series({ ...saturday, dayPolicy: 'exact' }), 1, WEEKDAYS), ['2027-01-02'])
  t.strictSame(
    datesOf(series({ frequency: 'daily', startDate: '2026-12-23' }), 5, WEEKDAYS),
    ['2026-12-23', '2026-12-24', '2026-12-28', '2026-12-29', '2026-12-30'],
    'days that fall together are one',
  )
})

t.test('the end ends it', async (t) => {
  t.strictSame(datesOf(series({ frequency: 'weekly', startDate: '2027-01-04', endDate: '2027-01-18' }), 12), [
    '2027-01-04',
    '2027-01-11',
    '2027-01-18',
  ])
  t.strictSame(datesOf(series({ frequency: 'weekly', startDate: '2027-01-04', endDate: '2027-01-17' }), 12), [
    '2027-01-04',
    '2027-01-11',
  ])
  t.strictSame(
    datesOf(series({ frequency: 'monthly', startDate: '2027-01-02', endDate: '2027-01-03' }), 12, WEEKDAYS),
    ['2027-01-04'],
    'the plan counts, not the day it is moved to',
  )
})

const DAY = fc
  .integer({ min: 0, max: 2_000 })
  .map((days) => Temporal.PlainDate.from('2026-01-01').add({ days }).toString())
const SERIES = fc
  .record({
    frequency: fc.constantFrom(...FREQUENCIES),
    startDate: DAY,
    dayPolicy: fc.constantFrom(...DAY_POLICIES),
    last: fc.boolean(),
  })
  .map(({ last, ...rest }) => series({ ...rest, lastDayOfMonth: last && countsMonths(rest.frequency) }))

t.test('days of execution rise, keep their policy, and come from the plans in order', async (t) => {
  fc.assert(
    fc.property(SERIES, fc.constantFrom(WEEKDAYS, EVERY_DAY), (of, days) => {
      const found = following(of, occurrenceFrom(of, 0, null, days), days)
        .take(40)
        .toArray()
      let last = ''
      let index = -1
      for (const occurrence of found) {
        if (occurrence.executionDate <= last || occurrence.index <= index) return false
        if (occurrence.plannedDate !== plannedDate(of, occurrence.index)) return false
        const day = Temporal.PlainDate.from(occurrence.executionDate)
        if (days === WEEKDAYS && of.dayPolicy !== 'exact' && !works(day)) return false
        if (of.dayPolicy === 'next_business_day' && occurrence.executionDate < occurrence.plannedDate) return false
        if (of.dayPolicy === 'previous_business_day' && occurrence.executionDate > occurrence.plannedDate) return false
        if (Math.abs(day.until(occurrence.plannedDate).days) > 5) return false
        // The skipped occurrence fell on the day of the one before.
        for (let skipped = index + 1; skipped < occurrence.index; skipped++) {
          const planned = plannedDate(of, skipped) as string
          const moved =
            of.dayPolicy === 'next_business_day'
              ? days.onOrAfter(planned)
              : of.dayPolicy === 'exact'
                ? planned
                : days.onOrBefore(planned)
          if (moved > last) return false
        }
        last = occurrence.executionDate
        index = occurrence.index
      }
      return of.frequency === 'once' ? found.length === 1 : found.length === 40
    }),
  )
  t.pass()
})

t.test('plans agree with counting day by day', async (t) => {
  const months = { monthly: 1, quarterly: 3, semiannually: 6, annually: 12 } as const
  fc.assert(
    fc.property(SERIES, fc.integer({ min: 0, max: 60 }), (of, index) => {
      const planned = plannedDate(of, index)
      const { frequency } = of
      if (frequency === 'once') return (planned === null) === index > 0
      const date = Temporal.PlainDate.from(planned as string)
      const start = Temporal.PlainDate.from(of.startDate)
      if (frequency === 'daily' || frequency === 'weekly' || frequency === 'fortnightly') {
        return (
          start.until(date, { largestUnit: 'days' }).days ===
          index * { daily: 1, weekly: 7, fortnightly: 14 }[frequency]
        )
      }
      const passed = (date.year - start.year) * 12 + date.month - start.month
      const wanted = of.lastDayOfMonth ? date.daysInMonth : Math.min(start.day, date.daysInMonth)
      return passed === index * months[frequency] && date.day === wanted
    }),
  )
  t.pass()
})

t.test('looking from near a date finds what looking from the start finds', async (t) => {
  fc.assert(
    fc.property(SERIES, DAY, (of, after) => {
      const slow = occurrenceFrom(of, 0, after, WEEKDAYS)
      const fast = occurrenceFrom(of, placeNear(of, after), after, WEEKDAYS)
      return (
        JSON.stringify(slow) === JSON.stringify(fast) ||
        (slow !== null && fast !== null && slow.executionDate === fast.executionDate)
      )
    }),
  )
  t.pass()
})

t.test('the one after is never before', async (t) => {
  const of = series({ frequency: 'daily', startDate: '2027-03-25' })
  const first = occurrenceFrom(of, 0, null, WEEKDAYS)!
  t.equal(occurrenceAfter(of, first, WEEKDAYS)?.executionDate, '2027-03-30', 'over Easter')
  t.equal(
    occurrenceAfter(of, { index: first.index, executionDate: '2027-04-10' }, WEEKDAYS)?.executionDate,
    '2027-04-12',
    'also behind one that was made late',
  )
})

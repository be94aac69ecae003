/** The dates of direct debits, as tables over all schemes. Easter of 2026: Good Friday is 3 April. */
import t from 'tap'
import { DAY_MS } from '../../../lib/base/clock.ts'
import {
  answerOverdueAt,
  cutOffOn,
  dormantAt,
  earliestDueDate,
  challengeUntil,
  endOfWindow,
  isWithin,
  faultOfDueDate,
  latestDueDate,
  nextAttemptDate,
  noticeDate,
  schemeDate,
  submissionDayFrom,
  submissionDeadline,
} from '../../../lib/direct-debits/dates.ts'
import { DEBIT_SCHEMES } from '../../../lib/direct-debits/schemes.ts'
import { zonedMoment } from '../../../lib/rails/calendar-days.ts'
import type { MandateScheme } from '../../../lib/rails/debit-schemes.ts'

const SEPA = DEBIT_SCHEMES.sepa_dd_core
const { preNotification: NOTICE } = SEPA

/** A moment on a date, so many minutes from the scheme's cut-off. */
const around = (name: MandateScheme, date: string, minutes: number) =>
  cutOffOn(DEBIT_SCHEMES[name], date) + minutes * 60_000

t.test('a collection is due when its scheme can submit it and its debtor has been told', async (t) => {
  for (const [name, before, after, noticed] of [
    ['sepa_dd_core', '2026-04-02', '2026-04-07', '2026-04-15'],
    ['sepa_dd_b2b', '2026-04-02', '2026-04-07', '2026-04-15'],
    ['bacs_dd', '2026-04-08', '2026-04-09', '2026-04-17'],
    ['ach_debit', '2026-04-02', '2026-04-03', '2026-04-03'],
    ['becs_dd', '2026-04-02', '2026-04-07', '2026-04-07'],
    ['pad', '2026-04-02', '2026-04-06', '2026-04-06'],
  ] as const) {
    const scheme = DEBIT_SCHEMES[name]
    const notice = scheme.preNotification
    const [early, late] = [around(name, '2026-04-01', -1), around(name, '2026-04-01', 0)]
    t.equal(earliestDueDate(scheme, early, null), before, `${name} before the cut-off`)
    t.equal(earliestDueDate(scheme, late, null), after, `${name} at the cut-off`)
    t.equal(earliestDueDate(scheme, early, notice), noticed, `${name} with notice`)
    // Never before a holiday is over, and a date of the earliest kind can always be asked for.
    for (let day = 0; day < 370; day++) {
      const now = early + day * DAY_MS
      for (const period of [null, notice]) {
        const due = earliestDueDate(scheme, now, period)
        if (faultOfDueDate(scheme, due, now, period) !== null || submissionDeadline(scheme, due) <= now)
          t.fail(`${name} due ${due} as of ${new Date(now).toISOString()}`)
      }
    }
  }
})

t.test('a due date is refused with the reason', async (t) => {
  for (const [name, due, fault] of [
    ['sepa_dd_core', '2026-04-14', 'too_early'],
    ['sepa_dd_core', '2026-04-15', null],
    ['sepa_dd_core', '2026-04-18', 'not_a_business_day'],
    ['sepa_dd_core', '2026-05-01', 'not_a_business_day'],
    ['sepa_dd_core', '2027-04-02', null],
    ['sepa_dd_core', '2027-04-05', 'too_late'],
    ['bacs_dd', '2026-05-04', 'not_a_business_day'],
    ['bacs_dd', '2026-05-01', null],
    ['ach_debit', '2026-07-03', null],
    ['ach_debit', '2026-05-25', 'not_a_business_day'],
    ['becs_dd', '2026-06-08', 'not_a_business_day'],
    ['pad', '2026-07-01', 'not_a_business_day'],
  ] as const)
    t.equal(
      faultOfDueDate(DEBIT_SCHEMES[name], due, around(name, '2026-04-01', -1), NOTICE),
      fault,
      `${name} on ${due}`,
    )
  t.equal(latestDueDate(SEPA, around('sepa_dd_core', '2026-04-01', 0)), '2027-04-02')
})

t.test('the deadline of a submission is the cut-off before the due date', async (t) => {
  for (const [name, due, day] of [
    ['sepa_dd_core', '2026-04-07', '2026-04-02'],
    ['sepa_dd_b2b', '2026-04-08', '2026-04-07'],
    ['bacs_dd', '2026-04-08', '2026-04-02'],
    ['bacs_dd', '2026-04-09', '2026-04-07'],
    ['ach_debit', '2026-04-06', '2026-04-03'],
    ['becs_dd', '2026-04-07', '2026-04-02'],
    ['pad', '2026-04-06', '2026-04-02'],
  ] as const)
    t.equal(submissionDeadline(DEBIT_SCHEMES[name], due), around(name, day, 0), `${name} due ${due}`)
  // Summer time began between the two.
  t.equal(submissionDeadline(SEPA, '2026-03-30'), Date.parse('2026-03-27T09:00:00Z'))
  t.equal(submissionDeadline(SEPA, '2026-03-31'), Date.parse('2026-03-30T08:00:00Z'))
  t.equal(submissionDayFrom(SEPA, Date.parse('2026-04-03T07:00:00Z')), '2026-04-07', 'made on a holiday')
})

t.test('windows end as rulebooks count them', async (t) => {
  for (const [name, kind, type, from, end] of [
    ['sepa_dd_core', 'consumer', 'return', '2026-03-31', '2026-04-09'],
    ['sepa_dd_core', 'consumer', 'refund_authorised', '2026-03-31', '2026-05-26'],
    ['sepa_dd_core', 'consumer', 'refund_unauthorised', '2026-01-31', '2027-02-28'],
    ['sepa_dd_core', 'consumer', 'indemnity_claim', '2026-03-31', 'none'],
    ['sepa_dd_b2b', 'business', 'return', '2026-03-31', '2026-04-07'],
    ['sepa_dd_b2b', 'business', 'refund_authorised', '2026-03-31', 'none'],
    ['sepa_dd_b2b', 'business', 'refund_unauthorised', '2026-03-31', 'none'],
    ['bacs_dd', 'consumer', 'return', '2026-04-02', '2026-04-08'],
    ['bacs_dd', 'consumer', 'indemnity_claim', '2026-04-02', null],
    ['ach_debit', 'consumer', 'refund_unauthorised', '2026-03-31', '2026-05-30'],
    ['ach_debit', 'business', 'refund_unauthorised', '2026-04-02', '2026-04-06'],
    ['becs_dd', 'consumer', 'reversal', '2026-04-02', '2026-04-13'],
    ['pad', 'consumer', 'refund_unauthorised', '2026-04-02', '2026-07-01'],
    ['pad', 'business', 'refund_unauthorised', '2026-04-02', '2026-04-17'],
  ] as const) {
    const scheme = DEBIT_SCHEMES[name]
    const window = scheme.windows[kind][type]
    const text = `${name} ${kind} ${type}`
    t.equal(window === null ? 'none' : endOfWindow(scheme, from, window), end, text)
    const within = (on: string) => isWithin(scheme, { from, on }, window)
    if (end === 'none') t.notOk(within(from), text)
    else if (end === null) t.ok(within('2036-01-01'), text)
    else
      t.strictSame([within(end), within(Temporal.PlainDate.from(end).add({ days: 1 }).toString())], [true, false], text)
  }
  t.equal(challengeUntil(DEBIT_SCHEMES.bacs_dd, '2026-03-31'), '2026-04-22')
  t.equal(challengeUntil(SEPA, '2026-03-31'), null)
})

t.test('debtors are told their period before the due date', async (t) => {
  for (const [name, due, told] of [
    ['sepa_dd_core', '2026-04-15', '2026-04-01'],
    ['sepa_dd_b2b', '2026-04-15', '2026-04-01'],
    ['bacs_dd', '2026-04-17', '2026-04-01'],
    ['ach_debit', '2026-04-06', '2026-04-04'],
    ['becs_dd', '2026-04-07', '2026-04-05'],
    ['pad', '2026-04-06', '2026-04-04'],
  ] as const)
    t.equal(noticeDate(DEBIT_SCHEMES[name], due, DEBIT_SCHEMES[name].preNotification), told, name)
})

t.test('an answer is overdue three business days after the due date', async (t) => {
  for (const [name, due, first] of [
    ['sepa_dd_core', '2026-04-01', '2026-04-09'],
    ['bacs_dd', '2026-04-01', '2026-04-09'],
    ['ach_debit', '2026-04-01', '2026-04-07'],
    ['becs_dd', '2026-04-01', '2026-04-09'],
    ['pad', '2026-04-01', '2026-04-08'],
  ] as const)
    t.equal(
      answerOverdueAt(DEBIT_SCHEMES[name], due),
      zonedMoment(DEBIT_SCHEMES[name].zone, first, '00:00'),
      `${name} due ${due}`,
    )
})

t.test('mandates are dormant by their scheme alone', async (t) => {
  const used = Date.parse('2026-02-28T12:00:00Z')
  for (const [name, last] of [
    ['sepa_dd_core', '2029-02-28'],
    ['sepa_dd_b2b', '2029-02-28'],
    ['bacs_dd', '2028-02-28'],
    ['ach_debit', null],
    ['becs_dd', null],
    ['pad', null],
  ] as const) {
    const scheme = DEBIT_SCHEMES[name]
    const at = dormantAt(scheme, used)
    t.equal(at === null ? null : schemeDate(scheme, at - 1), last, name)
  }
})

t.test('presentations are spread over the days allowed, on business days, up to the last', async (t) => {
  const failed = (name: MandateScheme, date: string) => around(name, date, 60)
  for (const [name, first, on, made, maxAttempts, withinDays, schemeMax, next] of [
    // 14 days for two: after a week, and after another.
    ['sepa_dd_core', '2026-06-01', '2026-06-02', 1, 2, 14, 3, '2026-06-08'],
    ['sepa_dd_core', '2026-06-01', '2026-06-09', 2, 2, 14, 3, '2026-06-15'],
    ['sepa_dd_core', '2026-06-01', '2026-06-16', 3, 2, 14, 3, null],
    // The ninth day is a Wednesday; the ACH allows two.
    ['ach_debit', '2026-06-01', '2026-06-02', 1, 3, 28, 2, '2026-06-15'],
    ['ach_debit', '2026-06-01', '2026-06-16', 2, 3, 28, 2, '2026-06-29'],
    ['ach_debit', '2026-06-01', '2026-06-30', 3, 3, 28, 2, null],
    // A share that falls on a weekend goes back to the Friday, so that no day after the last is needed.
    ['bacs_dd', '2026-06-01', '2026-06-02', 1, 1, 13, 3, '2026-06-12'],
    ['becs_dd', '2026-06-01', '2026-06-02', 1, 1, 13, 3, '2026-06-12'],
    ['pad', '2026-06-01', '2026-06-02', 1, 1, 13, 3, '2026-06-12'],
    // Too short for the scheme: the first date that it can reach, or none.
    ['bacs_dd', '2026-06-01', '2026-06-02', 1, 1, 7, 3, '2026-06-08'],
    ['bacs_dd', '2026-06-01', '2026-06-02', 1, 1, 3, 3, null],
    ['sepa_dd_b2b', '2026-06-01', '2026-06-02', 1, 1, 1, 3, null],
  ] as const)
    t.equal(
      nextAttemptDate(
        DEBIT_SCHEMES[name],
        { firstDueDate: first, made, retry: { maxAttempts, withinDays }, schemeMax },
        failed(name, on),
      ),
      next,
      `${name} attempt ${made + 1} of ${1 + maxAttempts} within ${withinDays}`,
    )
})

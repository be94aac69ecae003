/** The state machine of scheduled payments, row by row and against chance. */
import fc from 'fast-check'
import t from 'tap'
import { occurrenceKey } from '../../../lib/scheduled-payments/key.ts'
import { occurrenceFrom, type Series } from '../../../lib/scheduled-payments/occurrences.ts'
import { calendarOf, foreseeable } from '../../../lib/scheduled-payments/rail-calendar.ts'
import {
  begun,
  cancelled,
  changed,
  dueNow,
  FAILURES_MAX,
  isAllowed,
  made,
  opened,
  paused,
  paymentEnded,
  resumed,
  SCHEDULE_STATUSES,
  seriesFault,
  type ScheduleMove,
  type ScheduleState,
} from '../../../lib/scheduled-payments/schedule.ts'

const DAY_MS = 86_400_000
const INSTANT = calendarOf('sepa_instant')
const SEPA = calendarOf('sepa')
const NOW = Date.UTC(2026, 11, 1, 9)
const daily: Series = {
  frequency: 'daily',
  startDate: '2026-12-02',
  endDate: null,
  dayPolicy: 'next_business_day',
  lastDayOfMonth: false,
}

function open(series: Series = daily, maxOccurrences: number | null = null, calendar = INSTANT): ScheduleState {
  return opened(series, maxOccurrences, occurrenceFrom(series, 0, null, calendar.days)!, calendar, NOW)
}
const run = (
  state: ScheduleState,
  outcome: 'created' | 'refused' | 'skipped' = 'created',
  calendar = INSTANT,
): ScheduleState => made(begun(state), state.next!, outcome, calendar)

t.test('who may do what', async (t) => {
  const rows: Readonly<Record<ScheduleMove, readonly string[]>> = {
    update: ['active', 'paused'],
    pause: ['active'],
    resume: ['paused'],
    cancel: ['active', 'paused'],
    runNow: ['active'],
  }
  for (const [move, statuses] of Object.entries(rows)) {
    t.strictSame(
      SCHEDULE_STATUSES.filter((status) => isAllowed(move as ScheduleMove, status)),
      statuses,
      move,
    )
  }
})

t.test('the due time is five past midnight where the rail is', async (t) => {
  t.equal(new Date(open(daily, null, SEPA).nextOccurrenceAt!).toISOString(), '2026-12-01T23:05:00.000Z')
  t.equal(new Date(calendarOf('fedwire').dueAt('2026-12-02')).toISOString(), '2026-12-02T05:05:00.000Z')
  t.equal(open({ ...daily, startDate: '2026-12-01' }).nextOccurrenceAt, NOW, 'what is due already is due now')
})

t.test('occurrences follow one another until none is left', async (t) => {
  let state = open(daily, 3)
  const days: string[] = []
  while (state.status === 'active') {
    days.push(state.next!.executionDate)
    state = run(state)
  }
  t.strictSame(days, ['2026-12-02', '2026-12-03', '2026-12-04'])
  t.match(state, {
    status: 'completed',
    next: null,
    nextOccurrenceAt: null,
    occurrencesBegun: 3,
    occurrencesCreated: 3,
  })
  t.match(run(open({ ...daily, frequency: 'once' })), { status: 'completed' })
  t.match(run(open({ ...daily, endDate: '2026-12-02' })), { status: 'completed' })
})

t.test('what comes to nothing counts, in a row', async (t) => {
  let state = open()
  for (let failures = 1; failures < FAILURES_MAX; failures++) {
    state = run(state, 'refused')
    t.match(state, { status: 'active', consecutiveFailures: failures, occurrencesCreated: 0 })
  }
  t.match(run(state, 'refused'), {
    status: 'failed',
    next: null,
    nextOccurrenceAt: null,
    consecutiveFailures: FAILURES_MAX,
  })
  t.match(
    run(state, 'skipped'),
    { status: 'active', consecutiveFailures: FAILURES_MAX - 1 },
    'what was stopped does not',
  )
  t.match(paymentEnded(state, 'failed'), { status: 'failed', next: null })
  t.match(paymentEnded(state, 'completed'), { status: 'active', consecutiveFailures: 0 })
  t.equal(paymentEnded(state, 'withdrawn'), state)
  t.match(
    paymentEnded(paused(state, NOW), 'failed'),
    { status: 'paused', consecutiveFailures: FAILURES_MAX },
    'a pause is not ended by it',
  )
  t.match(paymentEnded(cancelled(state), 'failed'), { status: 'cancelled' })
  t.match(
    run(open(daily, 1), 'refused'),
    { status: 'completed', occurrencesBegun: 1, occurrencesCreated: 0 },
    'one that failed is one of the number',
  )
})

t.test('a pause keeps the place and passes over what it misses', async (t) => {
  const state = paused(open(), NOW)
  t.match(state, { status: 'paused', nextOccurrenceAt: null, pausedAt: NOW, next: { executionDate: '2026-12-02' } })
  const later = resumed(state, INSTANT, NOW + 10 * DAY_MS)
  t.match(later, { status: 'active', pausedAt: null, next: { plannedDate: '2026-12-12' } })
  t.ok(later.nextOccurrenceAt! > NOW + 10 * DAY_MS)
  t.match(resumed(state, INSTANT, NOW), { next: { plannedDate: '2026-12-02' } }, 'nothing was missed')
  t.match(resumed(state, INSTANT, NOW + 900 * DAY_MS), { next: { plannedDate: '2029-05-20' } }, 'also after years')
  t.match(resumed(paused(open({ ...daily, endDate: '2026-12-05' }), NOW), INSTANT, NOW + 10 * DAY_MS), {
    status: 'completed',
    next: null,
  })
})

t.test('what happens while an occurrence is being made is not undone by it', async (t) => {
  const taken = begun(open())
  const occurrence = taken.next!
  t.match(made(paused(taken, NOW), occurrence, 'created', INSTANT), {
    status: 'paused',
    nextOccurrenceAt: null,
    occurrencesCreated: 1,
    next: { plannedDate: '2026-12-03' },
  })
  t.match(made(cancelled(taken), occurrence, 'created', INSTANT), {
    status: 'cancelled',
    next: null,
    occurrencesCreated: 1,
  })
  const resumedLater = resumed(paused(taken, NOW), INSTANT, NOW + 5 * DAY_MS)
  t.match(made(resumedLater, occurrence, 'created', INSTANT), {
    status: 'active',
    next: resumedLater.next,
    nextOccurrenceAt: resumedLater.nextOccurrenceAt,
  })
})

t.test('other terms count from the next one on', async (t) => {
  const state = run(open())
  t.match(changed(state, { series: { ...daily, endDate: '2026-12-02' }, maxOccurrences: null }, INSTANT), {
    status: 'completed',
    next: null,
  })
  t.match(changed(state, { series: daily, maxOccurrences: 1 }, INSTANT), { status: 'completed' })
  t.match(changed(state, { series: daily, maxOccurrences: 2 }, INSTANT), { status: 'active', next: state.next })
  // The 5th is a Saturday.
  const saturday = run(run(state))
  t.equal(saturday.next!.executionDate, '2026-12-05')
  t.match(
    changed(saturday, { series: daily, maxOccurrences: null }, SEPA),
    { next: { plannedDate: '2026-12-05', executionDate: '2026-12-07' } },
    'another rail, another calendar',
  )
  t.match(changed(paused(state, NOW), { series: daily, maxOccurrences: null }, INSTANT), {
    status: 'paused',
    nextOccurrenceAt: null,
  })
  t.match(dueNow(state, NOW), { status: 'active', nextOccurrenceAt: NOW, next: state.next })
})

t.test('days beyond the calendar are not foretold', async (t) => {
  const years: Series = { ...daily, frequency: 'annually', startDate: '2045-03-01' }
  t.equal(foreseeable(years, occurrenceFrom(years, 0, null, SEPA.days), 12, 'sepa').length, 6)
  t.equal(
    foreseeable(years, occurrenceFrom(years, 0, null, INSTANT.days), 12, 'sepa_instant').length,
    12,
    'a rail that never rests needs none',
  )
})

t.test('dates that contradict one another', async (t) => {
  const fault = (change: Partial<Series>, maxOccurrences: number | null = null, instant = true) =>
    seriesFault({ series: { ...daily, ...change }, maxOccurrences }, instant)?.field
  t.equal(fault({}), undefined)
  t.equal(fault({ dayPolicy: 'exact' }), undefined)
  t.equal(fault({ dayPolicy: 'exact' }, null, false), '/dayPolicy')
  t.equal(fault({ lastDayOfMonth: true }), '/lastDayOfMonth')
  t.equal(fault({ endDate: '2026-12-03' }, 2), '/maxOccurrences')
  t.equal(fault({ endDate: '2026-12-01' }), '/endDate')
})

t.test('whatever happens, a schedule is in one piece', async (t) => {
  const STEPS = ['created', 'refused', 'skipped', 'pause', 'resume', 'completed', 'failed', 'now', 'cancel'] as const
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...STEPS), { maxLength: 30 }),
      fc.option(fc.integer({ min: 1, max: 8 }), { nil: null }),
      (steps, max) => {
        let state = open(daily, max)
        let now = NOW
        const days: string[] = []
        for (const step of steps) {
          now += DAY_MS
          if (step === 'created' || step === 'refused' || step === 'skipped') {
            if (state.status !== 'active') continue
            days.push(state.next!.executionDate)
            state = run(state, step)
          } else if (step === 'pause') state = state.status === 'active' ? paused(state, now) : state
          else if (step === 'resume') state = state.status === 'paused' ? resumed(state, INSTANT, now) : state
          else if (step === 'completed' || step === 'failed') state = paymentEnded(state, step)
          else if (step === 'now') state = state.status === 'active' ? dueNow(state, now) : state
          else if (step === 'cancel' && isAllowed('cancel', state.status)) state = cancelled(state)
          if ((state.status === 'active') !== (state.nextOccurrenceAt !== null)) return false
          if (state.status === 'active' && (state.next === null || state.consecutiveFailures >= FAILURES_MAX + 30))
            return false
          if (state.occurrencesCreated > state.occurrencesBegun || (max !== null && state.occurrencesBegun > max))
            return false
        }
        return days.every((day, index) => index === 0 || day > days[index - 1]!)
      },
    ),
  )
  t.pass()
})

t.test('an occurrence has one key, and no other has it', async (t) => {
  const one = occurrenceKey('01980d6e-0000-7000-8000-00000000c001', 1)
  t.strictSame(occurrenceKey('01980d6e-0000-7000-8000-00000000c001', 1), one)
  t.not(one.id, one.fingerprint)
  t.not(occurrenceKey('01980d6e-0000-7000-8000-00000000c001', 2).id, one.id)
  t.not(occurrenceKey('01980d6e-0000-7000-8000-00000000c002', 1).id, one.id)
  t.match(one.id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
})

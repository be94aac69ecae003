import fc from 'fast-check'
import t from 'tap'
import { addDays, dateIn, laterThan, ManualClock, systemClock, timestamp } from '../../../lib/base/clock.ts'

t.test('timestamps are RFC 3339 in UTC with milliseconds', (t) => {
  t.equal(timestamp(0), '1970-01-01T00:00:00.000Z')
  t.equal(timestamp(Date.UTC(2026, 2, 1, 9, 30, 0, 7)), '2026-03-01T09:30:00.007Z')
  t.equal(timestamp(-1), '1969-12-31T23:59:59.999Z')
  t.throws(() => timestamp(Date.UTC(10_000, 0, 1)), RangeError)
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), (ms) => timestamp(ms) === new Date(ms).toISOString()),
  )
  t.end()
})

t.test('a date follows the zone, also around midnight and daylight saving', (t) => {
  const table: readonly (readonly [string, string, string])[] = [
    ['2026-03-01T23:59:59.999Z', 'Europe/London', '2026-03-01'],
    ['2026-03-02T00:00:00.000Z', 'Europe/London', '2026-03-02'],
    ['2026-03-01T23:30:00.000Z', 'Europe/Brussels', '2026-03-02'],
    ['2026-03-01T22:59:59.999Z', 'Europe/Brussels', '2026-03-01'],
    ['2026-03-02T04:59:59.999Z', 'America/New_York', '2026-03-01'],
    ['2026-03-09T03:59:59.999Z', 'America/New_York', '2026-03-08'],
    ['2026-03-09T04:00:00.000Z', 'America/New_York', '2026-03-09'],
    ['2026-07-01T12:30:00.000Z', 'Pacific/Auckland', '2026-07-02'],
    ['2026-03-29T22:00:00.000Z', 'Europe/Brussels', '2026-03-30'],
    ['2026-03-29T21:59:59.999Z', 'Europe/Brussels', '2026-03-29'],
    ['2026-03-01T00:00:00.000Z', 'UTC', '2026-03-01'],
  ]
  // Twice, the second time backwards: what is remembered must never answer for another day.
  for (const [at, zone, date] of [...table, ...table.toReversed()])
    t.equal(dateIn(Date.parse(at), zone), date, `${at} ${zone}`)
  t.throws(() => dateIn(0, 'Europe/Atlantis'), RangeError)
  t.end()
})

t.test('days are added on the calendar', (t) => {
  t.equal(addDays('2026-02-28', 1), '2026-03-01')
  t.equal(addDays('2028-02-28', 1), '2028-02-29')
  t.equal(addDays('2026-01-01', -1), '2025-12-31')
  t.equal(addDays('2026-03-28', 2), '2026-03-30')
  t.throws(() => addDays('2026-02-30', 1), RangeError)
  t.end()
})

t.test('a manual clock moves only when it is moved', (t) => {
  const clock = new ManualClock(100)
  t.equal(clock.now(), 100)
  clock.advance(50)
  t.equal(clock.now(), 150)
  t.ok(Math.abs(systemClock.now() - Date.now()) < 1_000)
  t.end()
})

t.test('what follows is later than what it follows, whatever the clock shows', (t) => {
  t.equal(laterThan(100, 250), 250)
  for (const now of [100, 99, 0]) t.equal(laterThan(100, now), 101)
  t.equal(laterThan(100.5, 100), 101, 'by whole milliseconds')
  t.end()
})

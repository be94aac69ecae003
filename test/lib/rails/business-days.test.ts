import t from 'tap'
import {
  addBusinessDays,
  businessDayFrom,
  cutOffOf,
  endOfDay,
  isBusinessDay,
  momentOf,
  nextBusinessDay,
  previousBusinessDay,
  railDate,
} from '../../../lib/rails/business-days.ts'
import { CalendarUnknown } from '../../../lib/rails/calendar-days.ts'
import { railDays } from '../../../lib/rails/calendars.ts'
import { easterSunday, orthodoxEaster } from '../../../lib/rails/holidays.ts'
import { ENGLAND, FEDERAL_RESERVE, TARGET } from '../../../lib/rails/national-calendars.ts'
import { RAILS, type Rail } from '../../../lib/rails/rails.ts'

const closedIn = (rail: Rail, year: number): string[] => {
  const days: string[] = []
  for (let day = Temporal.PlainDate.from({ year, month: 1, day: 1 }); day.year === year; day = day.add({ days: 1 })) {
    if (day.dayOfWeek < 6 && !isBusinessDay(rail, day.toString())) days.push(day.toString().slice(5))
  }
  return days
}

t.test('Easter falls where the church says', (t) => {
  for (const date of [
    '2019-04-21',
    '2024-03-31',
    '2025-04-20',
    '2026-04-05',
    '2027-03-28',
    '2028-04-16',
    '2029-04-01',
    '2038-04-25',
    '2049-04-18',
  ]) {
    t.equal(easterSunday(Number(date.slice(0, 4))), date)
  }
  for (const date of ['2024-05-05', '2025-04-20', '2026-04-12', '2027-05-02', '2028-04-16', '2050-04-17'])
    t.equal(orthodoxEaster(Number(date.slice(0, 4))), date)
  t.end()
})

t.test('holidays are kept as each clearing keeps them', (t) => {
  const table: readonly (readonly [Rail, number, string])[] = [
    ['sepa', 2026, '01-01 04-03 04-06 05-01 12-25'],
    ['sepa', 2027, '01-01 03-26 03-29'],
    ['target2', 2025, '01-01 04-18 04-21 05-01 12-25 12-26'],
    // Boxing Day 2026 is a Saturday, Christmas 2027 another, New Year 2028 too.
    ['chaps', 2026, '01-01 04-03 04-06 05-04 05-25 08-31 12-25 12-28'],
    ['bacs', 2027, '01-01 03-26 03-29 05-03 05-31 08-30 12-27 12-28'],
    ['bacs', 2028, '01-03 04-14 04-17 05-01 05-29 08-28 12-25 12-26'],
    // Christmas 2033 is a Sunday, so Boxing Day stays and Christmas goes past it.
    ['chaps', 2033, '01-03 04-15 04-18 05-02 05-30 08-29 12-26 12-27'],
    // Independence Day 2026 is a Saturday: lost. Juneteenth 2027 too.
    ['fedwire', 2026, '01-01 01-19 02-16 05-25 06-19 09-07 10-12 11-11 11-26 12-25'],
    ['ach', 2027, '01-01 01-18 02-15 05-31 07-05 09-06 10-11 11-11 11-25'],
    ['ach_same_day', 2028, '01-17 02-21 05-29 06-19 07-04 09-04 10-09 11-23 12-25'],
    ['pl_elixir', 2024, '01-01 04-01 05-01 05-03 05-30 08-15 11-01 11-11 12-25 12-26'],
    ['pl_elixir', 2026, '01-01 01-06 04-06 05-01 06-04 11-11 12-24 12-25'],
    ['ch_sic', 2026, '01-01 01-02 04-03 04-06 05-01 05-14 05-25 12-25'],
    // Midsummer Eve 2026 is the Friday before the 20th of June.
    ['se_domestic', 2026, '01-01 01-06 04-03 04-06 05-01 05-14 06-19 12-24 12-25 12-31'],
    ['no_domestic', 2026, '01-01 04-02 04-03 04-06 05-01 05-14 05-25 12-25'],
    ['dk_domestic', 2026, '01-01 04-02 04-03 04-06 05-14 05-15 05-25 06-05 12-24 12-25 12-31'],
    ['cz_certis', 2025, '01-01 04-18 04-21 05-01 05-08 10-28 11-17 12-24 12-25 12-26'],
    ['hu_giro', 2026, '01-01 04-03 04-06 05-01 05-25 08-20 10-23 12-25'],
    // Orthodox Easter 2026 is a week after the other.
    ['ro_transfond', 2026, '01-01 01-02 01-06 01-07 04-10 04-13 05-01 06-01 11-30 12-01 12-25'],
    ['au_becs', 2026, '01-01 01-26 04-03 04-06 06-08 12-25 12-28'],
    ['au_becs', 2027, '01-01 01-26 03-26 03-29 06-14 12-27 12-28'],
    ['ca_eft', 2026, '01-01 04-03 05-18 07-01 09-07 09-30 10-12 11-11 12-25 12-28'],
    ['za_eft', 2026, '01-01 04-03 04-06 04-27 05-01 06-16 08-10 09-24 12-16 12-25'],
    // Between two holidays in September 2026 lies a third; the 3rd of May is a Sunday, and the next two days are taken.
    [
      'jp_zengin',
      2026,
      '01-01 01-02 01-12 02-11 02-23 03-20 04-29 05-04 05-05 05-06 07-20 08-11 09-21 09-22 09-23 10-12 11-03 11-23 12-31',
    ],
    [
      'jp_zengin',
      2024,
      '01-01 01-02 01-03 01-08 02-12 02-23 03-20 04-29 05-03 05-06 07-15 08-12 09-16 09-23 10-14 11-04 12-31',
    ],
    ['hk_chats', 2025, '01-01 01-29 01-30 01-31 04-04 04-18 04-21 05-01 05-05 07-01 10-01 10-07 10-29 12-25 12-26'],
    // The day of the graves is Easter Sunday; Buddha's birthday and Chung Yeung are Sundays, too.
    ['hk_chats', 2026, '01-01 02-17 02-18 02-19 04-03 04-06 04-07 05-01 05-25 06-19 07-01 10-01 10-19 12-25'],
    ['sg_giro', 2025, '01-01 01-29 01-30 03-31 04-18 05-01 05-12 10-20 12-25'],
    ['sg_giro', 2026, '01-01 02-17 02-18 04-03 05-01 05-27 06-01 08-10 11-09 12-25'],
    ['ae_uaefts', 2025, '01-01 03-31 04-01 06-05 06-06 06-26 09-04 12-02 12-03'],
    ['nz_becs', 2026, ''],
  ]
  for (const [rail, year, expected] of table) t.equal(closedIn(rail, year).join(' '), expected, `${rail} ${year}`)
  t.end()
})

t.test('days are counted over weekends and holidays', (t) => {
  t.equal(isBusinessDay('sepa', '2026-04-04'), false, 'a Saturday')
  t.equal(isBusinessDay('sepa_instant', '2026-12-25'), true, 'open around the clock')
  t.equal(nextBusinessDay('sepa', '2026-04-02'), '2026-04-07', 'over Easter')
  t.equal(nextBusinessDay('fedwire', '2026-04-02'), '2026-04-03', 'Good Friday is none of theirs')
  t.equal(businessDayFrom('sepa', '2026-04-07'), '2026-04-07')
  t.equal(businessDayFrom('sepa', '2026-12-25'), '2026-12-28')
  t.equal(previousBusinessDay('sepa', '2026-04-07'), '2026-04-02')
  t.equal(addBusinessDays('bacs', '2026-12-24', 2), '2026-12-30', 'the 25th and the 28th do not count')
  t.equal(addBusinessDays('bacs', '2026-12-26', 0), '2026-12-29')
  t.equal(
    isBusinessDay('sepa', '2026-07-21', { closedDays: { sepa: ['2026-07-21'] } }),
    false,
    'what is set for a connection',
  )
  t.equal(isBusinessDay('target2', '2026-07-21', { closedDays: { sepa: ['2026-07-21'] } }), true)
  t.throws(() => isBusinessDay('sepa', '2051-03-01'), CalendarUnknown, 'nobody guesses')
  t.throws(() => isBusinessDay('sepa', '2023-03-01'), CalendarUnknown)
  t.throws(
    () => isBusinessDay('sg_giro', '2027-03-01'),
    CalendarUnknown,
    'its festivals of that year have not been announced',
  )
  t.throws(() => isBusinessDay('sg_giro', '2028-03-01', { closedDays: { sg_giro: ['2027-03-10'] } }), CalendarUnknown)
  t.equal(
    isBusinessDay('sg_giro', '2027-03-01', { closedDays: { sg_giro: ['2027-03-10'] } }),
    true,
    'but what is set for a connection makes it known',
  )
  const always = {
    closedDays: {
      sepa: Array.from({ length: 100 }, (_, nth) =>
        Temporal.PlainDate.from('2026-03-02').add({ days: nth }).toString(),
      ),
    },
  }
  t.throws(
    () => businessDayFrom('sepa', '2026-03-02', always),
    CalendarUnknown,
    'a calendar without a business day ends the search',
  )
  t.throws(() => previousBusinessDay('sepa', '2026-06-01', always), CalendarUnknown)
  t.end()
})

t.test('cut-offs are moments in the zone of the rail, also when clocks change', (t) => {
  const at = (ms: number) => new Date(ms).toISOString().slice(0, 16)
  t.equal(at(cutOffOf('sepa', '2026-03-27')), '2026-03-27T14:00', 'winter in Brussels')
  t.equal(at(cutOffOf('sepa', '2026-03-30')), '2026-03-30T13:00', 'summer')
  t.equal(
    at(cutOffOf('ach_same_day', '2026-03-09')),
    '2026-03-09T19:00',
    'summer comes to New York three weeks earlier',
  )
  t.equal(at(cutOffOf('jp_zengin', '2026-03-09')), '2026-03-09T05:30')
  t.equal(
    at(cutOffOf('sepa', '2026-03-27', { cutOffs: { sepa: '09:30' } })),
    '2026-03-27T08:30',
    'set for a connection',
  )
  t.equal(at(cutOffOf('sepa_instant', '2026-03-27')), '2026-03-27T23:00', 'open around the clock: until the day ends')
  t.equal(endOfDay('sepa', '2026-03-29') - momentOf('sepa', '2026-03-29', '00:00'), 23 * 3_600_000, 'a short day')
  t.equal(endOfDay('sepa', '2026-10-25') - momentOf('sepa', '2026-10-25', '00:00'), 25 * 3_600_000, 'a long one')
  t.equal(
    at(momentOf('sepa', '2026-03-29', '02:30')),
    '2026-03-29T01:30',
    'a time that is skipped is the same after it',
  )
  t.equal(railDate('nz_becs', Date.parse('2026-03-27T12:00Z')), '2026-03-28')
  t.equal(railDate('ach', Date.parse('2026-03-27T03:00Z')), '2026-03-26')
  t.end()
})

t.test('every rail of the table has a zone that exists, and a calendar exactly when it has a cut-off', (t) => {
  for (const { rail, cutOff } of RAILS.values()) {
    const { zone, calendar } = railDays(rail)
    t.doesNotThrow(() => railDate(rail, 0), `${rail} in ${zone}`)
    t.equal(calendar === null, cutOff === null, rail)
    if (rail !== 'internal' && rail !== 'swift') t.not(zone, 'UTC', rail)
  }
  t.notOk(isBusinessDay('swift', '2026-04-04'), 'where only the weekends are known')
  t.ok(isBusinessDay('nz_becs', '2026-04-04'), 'where banks exchange on Saturdays')
  t.strictSame(railDays('no_such_rail' as Rail), { zone: 'UTC', calendar: null })
  t.ok([TARGET, ENGLAND, FEDERAL_RESERVE].every(({ from, to }) => from < to))
  t.end()
})

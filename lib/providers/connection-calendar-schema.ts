/** Schemas of a connection's calendar: its cut-offs and closed days. */
import Type, { type Static } from 'typebox'
import { CalendarDate, Nullable, Rail, Timestamp, Uuid } from '../contract/primitives.ts'

/** More than the number of rails: each rail is named once. */
const RAILS_MAX = 60
/** Per rail; the holidays of its calendar do not count. */
const CLOSED_DAYS_MAX = 200

const realCalendar = Type.Boolean({
  description: 'Whether cut-offs and calendars apply. Only a sandbox can switch them off.',
})
const cutOffs = Type.Array(
  Type.Object(
    {
      rail: Rail,
      time: Type.String({
        pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
        description: 'Local time in the time zone of the rail.',
        examples: ['15:30'],
      }),
    },
    { title: 'RailCutOff', additionalProperties: false },
  ),
  {
    maxItems: RAILS_MAX,
    description:
      "The cut-off of each rail, in place of the scheme's own. Rails that are not named keep the scheme's cut-off.",
  },
)
const closedDays = Type.Array(
  Type.Object(
    {
      rail: Rail,
      dates: Type.Array(CalendarDate, { minItems: 1, maxItems: CLOSED_DAYS_MAX, uniqueItems: true }),
    },
    { title: 'RailClosedDays', additionalProperties: false, examples: [{ rail: 'sepa', dates: ['2026-12-24'] }] },
  ),
  {
    maxItems: RAILS_MAX,
    description: 'Days on which a rail is closed, beside the weekends and holidays of its calendar.',
  },
)

export const ConnectionCalendar = Type.Object(
  {
    connectionId: Uuid,
    realCalendar,
    cutOffs,
    closedDays,
    updatedBy: Nullable(Uuid, { description: 'Null before the first change.' }),
    updatedAt: Nullable(Timestamp),
  },
  { title: 'ConnectionCalendar' },
)
export type ConnectionCalendar = Static<typeof ConnectionCalendar>

export const ConnectionCalendarUpdate = Type.Object(
  {
    realCalendar: Type.Optional(realCalendar),
    cutOffs: Type.Optional(cutOffs),
    closedDays: Type.Optional(closedDays),
  },
  {
    title: 'ConnectionCalendarUpdate',
    additionalProperties: false,
    examples: [{ cutOffs: [{ rail: 'sepa', time: '14:00' }] }],
  },
)
export type ConnectionCalendarUpdate = Static<typeof ConnectionCalendarUpdate>

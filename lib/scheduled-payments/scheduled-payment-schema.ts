/** Schemas of scheduled payments: payments that are made on their days without a further request. */
import Type, { type Static } from 'typebox'
import { DAY_POLICIES, FREQUENCIES } from './occurrences.ts'
import { SCHEDULE_STATUSES } from './schedule.ts'
import { list } from '../contract/list.ts'
import { PageInfo } from '../contract/page.ts'
import { ChargeBearer, PaymentStatus } from '../payments/payment-schema.ts'
import {
  CalendarDate,
  ExternalId,
  Metadata,
  MetadataPatch,
  Money,
  Nullable,
  PositiveMoney,
  Rail,
  Text,
  Timestamp,
  Uuid,
  Words,
} from '../contract/primitives.ts'

/** As for payments: the limits of the payment's own rail are checked with the rail. */
const REFERENCE_MAX = 280
const PURPOSE_CODE_MAX = 5
const OCCURRENCES_MAX = 999

export const ScheduledPaymentStatus = Words(
  'ScheduledPaymentStatus',
  SCHEDULE_STATUSES,
  '`completed`: no occurrence is left. `failed`: stopped after three failed occurrences in a row.',
)
export const ScheduleFrequency = Words('ScheduleFrequency', FREQUENCIES)
export const ScheduleDayPolicy = Words(
  'ScheduleDayPolicy',
  DAY_POLICIES,
  'The rule for days on which the rail is closed. `exact`: instant rails only.',
)

const MaxOccurrences = Type.Integer({ minimum: 1, maximum: OCCURRENCES_MAX })

export const ScheduledPayment = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    number: Type.String({ description: 'Order number for people.', examples: ['SCH7K3M9QX2TB'] }),
    externalId: Nullable(ExternalId),
    status: ScheduledPaymentStatus,
    recipientId: Uuid,
    sourceBalanceId: Uuid,
    amount: Money,
    requestedRail: Nullable(Rail),
    reference: Type.String(),
    purposeCode: Nullable(Type.String()),
    chargeBearer: ChargeBearer,
    frequency: ScheduleFrequency,
    startDate: CalendarDate,
    endDate: Nullable(CalendarDate),
    maxOccurrences: Nullable(Type.Integer()),
    dayPolicy: ScheduleDayPolicy,
    lastDayOfMonth: Type.Boolean(),
    nextOccurrenceAt: Nullable(Timestamp, { description: 'Null unless the schedule is active.' }),
    occurrencesCreated: Type.Integer({ description: 'Payments made so far.' }),
    lastPaymentId: Nullable(Uuid),
    lastPaymentStatus: Nullable(PaymentStatus),
    consecutiveFailures: Type.Integer(),
    pausedAt: Nullable(Timestamp),
    metadata: Metadata,
    createdBy: Uuid,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'ScheduledPayment' },
)
export type ScheduledPayment = Static<typeof ScheduledPayment>

export const ScheduledPaymentCreate = Type.Object(
  {
    recipientId: Uuid,
    sourceBalanceId: Uuid,
    amount: PositiveMoney,
    reference: Text(1, REFERENCE_MAX),
    frequency: ScheduleFrequency,
    startDate: CalendarDate,
    endDate: Type.Optional(
      Nullable(CalendarDate, { description: 'The last possible planned date. Not together with `maxOccurrences`.' }),
    ),
    maxOccurrences: Type.Optional(
      Nullable(MaxOccurrences, { description: 'The number of occurrences, failed ones included.' }),
    ),
    dayPolicy: Type.Optional(ScheduleDayPolicy),
    lastDayOfMonth: Type.Optional(
      Type.Boolean({
        description:
          'Only for frequencies in months. Without it, the days 29 to 31 become the last day of a shorter month.',
      }),
    ),
    requestedRail: Type.Optional(
      Nullable(Rail, { description: 'Null chooses the best available rail for each payment.' }),
    ),
    purposeCode: Type.Optional(Nullable(Text(1, PURPOSE_CODE_MAX))),
    chargeBearer: Type.Optional(ChargeBearer),
    externalId: Type.Optional(Nullable(ExternalId)),
    metadata: Type.Optional(Metadata),
  },
  {
    title: 'ScheduledPaymentCreate',
    additionalProperties: false,
    examples: [
      {
        recipientId: '01980d6e-8a01-7b44-8e12-1c2d3e4f5a6b',
        sourceBalanceId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
        amount: { amountMinor: '95000', currency: 'EUR' },
        reference: 'Rent',
        frequency: 'monthly',
        startDate: '2027-01-31',
      },
    ],
  },
)
export type ScheduledPaymentCreate = Static<typeof ScheduledPaymentCreate>

export const ScheduledPaymentUpdate = Type.Object(
  {
    amount: Type.Optional(PositiveMoney),
    requestedRail: Type.Optional(Nullable(Rail)),
    reference: Type.Optional(Text(1, REFERENCE_MAX)),
    purposeCode: Type.Optional(Nullable(Text(1, PURPOSE_CODE_MAX))),
    endDate: Type.Optional(Nullable(CalendarDate)),
    maxOccurrences: Type.Optional(Nullable(MaxOccurrences)),
    metadata: Type.Optional(MetadataPatch),
  },
  {
    title: 'ScheduledPaymentUpdate',
    additionalProperties: false,
    examples: [{ amount: { amountMinor: '97500', currency: 'EUR' } }],
  },
)
export type ScheduledPaymentUpdate = Static<typeof ScheduledPaymentUpdate>

export const ScheduledPaymentOccurrence = Type.Object(
  {
    number: Type.Integer({ description: 'Counted from 1.' }),
    plannedDate: CalendarDate,
    executionDate: Type.String({ format: 'date', description: 'The planned date, moved by the date policy.' }),
    status: Words(
      'ScheduledPaymentOccurrenceStatus',
      ['due', 'created', 'refused', 'skipped'],
      '`due`: the payment is being created. `refused`: the payment could not be created. `skipped`: the ' +
        'schedule was stopped.',
    ),
    paymentId: Nullable(Uuid),
    paymentStatus: Nullable(PaymentStatus),
    refusal: Nullable(
      Type.Object({
        code: Type.String({ description: 'The code of the problem that refused the payment.' }),
        message: Type.String(),
      }),
    ),
    createdAt: Timestamp,
  },
  { title: 'ScheduledPaymentOccurrence' },
)

export const ScheduledPaymentOccurrencePage = Type.Object(
  {
    data: Type.Array(ScheduledPaymentOccurrence, { description: 'Past occurrences, newest first.' }),
    upcoming: Type.Array(Type.Object({ plannedDate: CalendarDate, executionDate: CalendarDate }), {
      maxItems: 12,
      description: 'The next dates; none while the schedule is paused.',
    }),
    page: PageInfo,
  },
  { title: 'ScheduledPaymentOccurrencePage' },
)

export const scheduledPaymentList = list({
  filters: {
    status: { kind: 'words', values: SCHEDULE_STATUSES },
    recipientId: { kind: 'ids' },
    sourceBalanceId: { kind: 'ids' },
    frequency: { kind: 'words', values: FREQUENCIES },
    nextFrom: { kind: 'timeFrom' },
    nextTo: { kind: 'timeTo' },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['nextOccurrenceAt', '-createdAt'],
})

export const occurrenceList = list({ filters: {}, sorts: ['-number'] })

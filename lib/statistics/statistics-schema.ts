/** The schema of an operator's statistics. */
import Type, { type Static } from 'typebox'
import { Money, Nullable, Timestamp, Words } from '../contract/primitives.ts'
import { CUSTOMER_STATUSES } from '../customers/status.ts'
import { PaymentStatus } from '../payments/payment-schema.ts'

/** The work that waits for people, by the lists that show it. */
export const WAITING = [
  'approvals',
  'complianceHolds',
  'exceptions',
  'kybCases',
  'recipientReviews',
  'suspenseItems',
  'reconciliationBreaks',
] as const
export type WaitingKind = (typeof WAITING)[number]

const count = Type.Integer({ minimum: 0 })
const Queue = Type.Object(
  { count, oldestAt: Nullable(Timestamp, { description: 'Since when the oldest waits; null: none waits.' }) },
  { title: 'WaitingWork' },
)
const waiting = Object.fromEntries(WAITING.map((name) => [name, Queue])) as Record<WaitingKind, typeof Queue>

const amounts = Type.Array(Money, { description: 'The exact sum in each currency, by currency.' })

export const OperatorStatistics = Type.Object(
  {
    asOf: Timestamp,
    customers: Type.Object(
      {
        total: count,
        byStatus: Type.Array(
          Type.Object({ status: Words('CustomerStatus', CUSTOMER_STATUSES), count }, { title: 'CustomersOfStatus' }),
        ),
      },
      { title: 'CustomerStatistics' },
    ),
    waiting: Type.Object(waiting, { title: 'WaitingWorkByKind' }),
    activity: Nullable(
      Type.Object(
        {
          from: Timestamp,
          to: Timestamp,
          payments: Type.Array(Type.Object({ status: PaymentStatus, count, amounts }, { title: 'PaymentsOfStatus' }), {
            description: 'The payments that were created in the time, by the status that they have now.',
          }),
          incomingPayments: Type.Object({ count, amounts }, { title: 'CreditedPayments' }),
        },
        { title: 'ActivityStatistics' },
      ),
      { description: 'Null when counting takes longer than two seconds; ask for fewer days then.' },
    ),
  },
  { title: 'OperatorStatistics' },
)
export type OperatorStatistics = Static<typeof OperatorStatistics>

/** The longest time over which payments are counted, days. */
const DAYS_MAX = 31

export const StatisticsQuery = Type.Object({
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: DAYS_MAX,
      description: 'The time over which payments are counted, back from now: 1 to 31 days, 7 by default.',
    }),
  ),
})

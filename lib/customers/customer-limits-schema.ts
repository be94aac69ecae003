/** The limits of a customer's payments. */
import Type, { type Static } from 'typebox'
import { CurrencyCode, Money, Nullable, PositiveMoney, Timestamp, Uuid, Words } from '../contract/primitives.ts'

/** At least as many as there are currencies. */
const CURRENCIES_MAX = 200

const limit = {
  currency: CurrencyCode,
  single: Nullable(Money, { description: 'The limit of one payment.' }),
  daily: Nullable(Money, { description: 'The limit of a day in UTC.' }),
  monthly: Nullable(Money, { description: 'The limit of a month in UTC.' }),
}
/** Limits without the amounts already used. */
export const LimitsShown = Type.Array(Type.Object(limit, { title: 'LimitTerms' }))

const Used = Type.Object({ used: Money, remaining: Money }, { title: 'LimitUse' })

export const CustomerLimits = Type.Object(
  {
    customerId: Uuid,
    source: Words(
      'LimitSource',
      ['customer', 'operator', 'none'],
      "`operator`: the operator's limits for customers of this type.",
    ),
    limits: Type.Array(
      Type.Object(
        {
          ...limit,
          today: Nullable(Used),
          thisMonth: Nullable(Used),
        },
        { title: 'CurrencyLimits' },
      ),
    ),
    updatedBy: Nullable(Uuid),
    updatedAt: Nullable(Timestamp),
  },
  { title: 'CustomerLimits' },
)
export type CustomerLimits = Static<typeof CustomerLimits>

/** Limits as clients send them, for a customer, for a member or for all customers of a type. */
export const LimitsWrite = Type.Array(
  Type.Object(
    {
      currency: CurrencyCode,
      single: Type.Optional(Nullable(PositiveMoney)),
      daily: Type.Optional(Nullable(PositiveMoney)),
      monthly: Type.Optional(Nullable(PositiveMoney)),
    },
    { title: 'CurrencyLimitsWrite', additionalProperties: false },
  ),
  { maxItems: CURRENCIES_MAX },
)
export type LimitsWrite = Static<typeof LimitsWrite>

export const CustomerLimitsWrite = Type.Object(
  {
    limits: Nullable(LimitsWrite, { description: "Null restores the operator's limits." }),
  },
  {
    title: 'CustomerLimitsWrite',
    additionalProperties: false,
    examples: [{ limits: [{ currency: 'EUR', daily: { amountMinor: '10000000', currency: 'EUR' } }] }],
  },
)
export type CustomerLimitsWrite = Static<typeof CustomerLimitsWrite>

/** Schemas of routing rules and of their simulator. */
import Type, { type Static } from 'typebox'
import {
  CountryCode,
  CurrencyCode,
  Money,
  Nullable,
  PositiveMoney,
  Rail,
  Text,
  Timestamp,
  Uuid,
} from '../contract/primitives.ts'
import { CustomerType } from '../customers/customer-schema.ts'

const NAME_MAX = 100
const PRIORITY_MAX = 10_000
/** 100 per cent of the amount. */
const BPS_MAX = 10_000
const COUNT_MAX = 100_000_000

const name = Nullable(Text(1, NAME_MAX), { examples: ['Pounds by the second bank'] })
const priority = Type.Integer({
  minimum: 0,
  maximum: PRIORITY_MAX,
  description: 'Rules are asked by ascending priority; the first that matches decides.',
})
const conditions = {
  currency: Nullable(CurrencyCode),
  rail: Nullable(Rail, { description: 'The rail that the payment has without the rule.' }),
  country: Nullable(CountryCode, { description: "The country of the recipient's bank." }),
  customerType: Nullable(CustomerType, { description: 'The type of the customer that pays.' }),
  amountMin: Nullable(PositiveMoney, { description: 'The smallest amount, included; in `currency`.' }),
  amountMax: Nullable(PositiveMoney, { description: 'The largest amount, included; in `currency`.' }),
}
const preferredRail = Nullable(Rail, {
  description: 'The rail that payments take under the rule, where it can carry them and the caller asked for none.',
})
const costPerPayment = Nullable(Money, {
  description: "The connection's charge for each payment. Of rules with one priority the cheapest is asked first.",
})
const costBps = Type.Integer({
  minimum: 0,
  maximum: BPS_MAX,
  description: "The connection's charge as a share of the amount, in hundredths of a per cent.",
})
const dailyVolumeMax = Nullable(PositiveMoney, {
  description: 'The most that rules send through the connection on one day (UTC), in `match.currency`.',
})
const dailyCountMax = Nullable(Type.Integer({ minimum: 1, maximum: COUNT_MAX }), {
  description: 'The most payments that rules send through the connection on one day (UTC).',
})

export const RoutingMatch = Type.Object(conditions, {
  title: 'RoutingMatch',
  description: 'The conditions of a rule; null matches any payment.',
})

export const RoutingRule = Type.Object(
  {
    id: Uuid,
    name,
    priority,
    match: RoutingMatch,
    connectionId: Uuid,
    preferredRail,
    costPerPayment,
    costBps,
    dailyVolumeMax,
    dailyCountMax,
    enabled: Type.Boolean(),
    createdAt: Timestamp,
    updatedBy: Nullable(Uuid),
    updatedAt: Timestamp,
  },
  { title: 'RoutingRule' },
)
export type RoutingRuleView = Static<typeof RoutingRule>

const optional = {
  currency: Type.Optional(conditions.currency),
  rail: Type.Optional(conditions.rail),
  country: Type.Optional(conditions.country),
  customerType: Type.Optional(conditions.customerType),
  amountMin: Type.Optional(conditions.amountMin),
  amountMax: Type.Optional(conditions.amountMax),
}

/** The body of a new rule and of one that replaces a rule: absent members have their defaults. */
export const RoutingRuleWrite = Type.Object(
  {
    name: Type.Optional(name),
    priority,
    match: Type.Optional(Type.Object(optional, { title: 'RoutingMatchWrite', additionalProperties: false })),
    connectionId: Uuid,
    preferredRail: Type.Optional(preferredRail),
    costPerPayment: Type.Optional(costPerPayment),
    costBps: Type.Optional(costBps),
    dailyVolumeMax: Type.Optional(dailyVolumeMax),
    dailyCountMax: Type.Optional(dailyCountMax),
    enabled: Type.Optional(Type.Boolean({ default: true })),
  },
  {
    title: 'RoutingRuleWrite',
    additionalProperties: false,
    examples: [{ priority: 10, match: { currency: 'GBP' }, connectionId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f' }],
  },
)
export type RoutingRuleWrite = Static<typeof RoutingRuleWrite>

/** A payment to be simulated. */
export const RoutingSimulation = Type.Object(
  {
    amount: PositiveMoney,
    country: CountryCode,
    rail: Type.Optional(Nullable(Rail, { description: 'The rail that the caller asks for; null: the best one.' })),
    customerType: Type.Optional(CustomerType),
    balanceId: Type.Optional(
      Nullable(Uuid, { description: 'The balance that pays; null: one at the active primary connection.' }),
    ),
  },
  {
    title: 'RoutingSimulation',
    additionalProperties: false,
    examples: [{ amount: { amountMinor: '12500', currency: 'GBP' }, country: 'GB' }],
  },
)
export type RoutingSimulation = Static<typeof RoutingSimulation>

export const RoutingResult = Type.Object(
  {
    connectionId: Nullable(Uuid, { description: 'Null: no connection takes the payment now.' }),
    rail: Nullable(Rail, { description: 'Null: no rail can carry the payment.' }),
    ruleId: Nullable(Uuid, { description: 'The rule that decided; null: none did.' }),
    rules: Type.Array(
      Type.Object(
        { ruleId: Uuid, matched: Type.Boolean(), reasons: Type.Array(Type.String()) },
        { title: 'RoutingRuleOutcome' },
      ),
      { description: 'Every rule, in the order in which they are asked, with its reasons.' },
    ),
  },
  { title: 'RoutingResult' },
)
export type RoutingResult = Static<typeof RoutingResult>

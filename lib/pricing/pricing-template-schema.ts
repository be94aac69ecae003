/** Schemas of price lists: the operator's fees for its customers, and the charges of its partner. */
import Type, { type Static } from 'typebox'
import { FEE_KINDS } from './fees.ts'
import { list } from '../contract/list.ts'
import { CurrencyCode, Money, Nullable, Rail, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'

const NAME_MAX = 100
const RULES_MAX = 500
/** 100 per cent of the amount. */
const BPS_MAX = 10_000

const Kind = Words(
  'PricingRuleKind',
  FEE_KINDS,
  "The kind of the fee; `partner_charge` is the banking partner's charge when it confirms a payment, " +
    '`collection_return` the fee for a direct debit that is returned.',
)
const rail = Nullable(Rail, { description: 'The rail of the rule. Null: every rail without a rule of the same kind.' })
const bps = Type.Integer({
  minimum: 0,
  maximum: BPS_MAX,
  description: 'The fee as a share of the amount, in hundredths of a per cent.',
})
const taxBps = Type.Integer({
  minimum: 0,
  maximum: BPS_MAX,
  description:
    'The rate of the tax that the fee includes (value-added tax, for example), in hundredths of a per cent: of a fee ' +
    'of 1.20 with the rate 2000, 0.20 is tax. Only for `payment`.',
})
/** The tax within a fee, wherever a fee is shown. */
export const FeeTax = Nullable(Money, {
  description: 'The tax that the fee includes; null where it includes none.',
})
const refundable = Type.Boolean({
  description: 'Whether the fee of a payment is refunded when the payment is returned.',
})
const passedOn = Type.Boolean({
  description: "Whether the partner's charge is passed on to senders of payments with `chargeBearer: sender`.",
})

export const PricingRule = Type.Object(
  {
    kind: Kind,
    currency: CurrencyCode,
    rail,
    fixed: Money,
    bps,
    min: Money,
    max: Nullable(Money),
    taxBps,
    refundable,
    passedOn,
  },
  { title: 'PricingRule' },
)
export type PricingRule = Static<typeof PricingRule>

const PricingRuleWrite = Type.Object(
  {
    kind: Kind,
    currency: CurrencyCode,
    rail: Type.Optional(rail),
    fixed: Type.Optional(Money),
    bps: Type.Optional(bps),
    min: Type.Optional(Money),
    max: Type.Optional(Nullable(Money)),
    taxBps: Type.Optional(taxBps),
    refundable: Type.Optional(refundable),
    passedOn: Type.Optional(passedOn),
  },
  {
    title: 'PricingRuleWrite',
    additionalProperties: false,
    examples: [{ kind: 'payment', currency: 'EUR', fixed: { amountMinor: '20', currency: 'EUR' }, bps: 10 }],
  },
)
export type PricingRuleWrite = Static<typeof PricingRuleWrite>

const name = Text(1, NAME_MAX, { description: 'Unique for the operator.', examples: ['Standard'] })

export const PricingTemplate = Type.Object(
  {
    id: Uuid,
    name,
    isDefault: Type.Boolean({
      description:
        "Whether the price list is in force for the operator's customers (`pricing.defaultTemplateId` of its " +
        'settings).',
    }),
    rules: Type.Array(PricingRule),
    createdAt: Timestamp,
    updatedBy: Nullable(Uuid),
    updatedAt: Timestamp,
  },
  { title: 'PricingTemplate' },
)
export type PricingTemplate = Static<typeof PricingTemplate>

const rules = Type.Array(PricingRuleWrite, {
  maxItems: RULES_MAX,
  description: 'One for each kind, currency and rail.',
})
export const PricingTemplateCreate = Type.Object(
  { name, rules: Type.Optional(rules) },
  { title: 'PricingTemplateCreate', additionalProperties: false },
)
export type PricingTemplateCreate = Static<typeof PricingTemplateCreate>
export const PricingTemplateUpdate = Type.Object(
  { name: Type.Optional(name), rules: Type.Optional(rules) },
  { title: 'PricingTemplateUpdate', additionalProperties: false },
)
export type PricingTemplateUpdate = Static<typeof PricingTemplateUpdate>

export const pricingTemplateList = list({ filters: {}, sorts: ['createdAt', '-createdAt'] })

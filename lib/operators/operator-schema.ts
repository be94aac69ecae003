/** Schemas of an operator's settings about itself and for its customers. */
import Type, { type Static, type TSchema } from 'typebox'
import type { Feature } from './features.ts'
import { RECIPIENT_MODES } from '../approvals/policy.ts'
import { DOMAIN } from '../customers/customer-settings-schema.ts'
import { LimitsWrite } from '../customers/customer-limits-schema.ts'
import {
  CurrencyCode,
  Money,
  MONEY_PATTERN,
  Nullable,
  PositiveMoney,
  Rail,
  Text,
  Timestamp,
  Uuid,
  Words,
} from '../contract/primitives.ts'

const NAME_MAX = 140

/** The person who made the last change, and its time; null before the first change. */
const provenance = { updatedBy: Nullable(Uuid), updatedAt: Nullable(Timestamp) }

export const OperatorName = Text(1, NAME_MAX, {
  description: 'The name of the operator.',
  examples: ['Sandbox Operator'],
})
export const Operator = Type.Object(
  { id: Uuid, name: OperatorName, createdAt: Timestamp, ...provenance },
  { title: 'Operator' },
)
export type Operator = Static<typeof Operator>
export const OperatorUpdate = Type.Object(
  { name: Type.Optional(OperatorName) },
  { title: 'OperatorUpdate', additionalProperties: false },
)
export type OperatorUpdate = Static<typeof OperatorUpdate>

const recipients = {
  approvalMode: Words('RecipientApprovalMode', RECIPIENT_MODES),
  requireVerification: Type.Boolean({ description: 'Whether an account name that cannot be checked stops a payment.' }),
  allowedOverrides: Type.Array(Words('OverridableOutcome', ['close_match', 'no_match', 'unavailable']), {
    uniqueItems: true,
    description: 'Outcomes of a failed name check that customers may accept.',
  }),
}

const compliance = {
  fourEyesRelease: Type.Boolean({ description: 'Whether two people must decide on a compliance hold.' }),
}
const pricing = {
  defaultTemplateId: Nullable(Uuid, {
    description: 'The price list in force for its customers. Null: no fees.',
  }),
}
const exchange = {
  quoteSeconds: Type.Integer({ minimum: 5, maximum: 300, description: 'The validity of a quote.' }),
  marginBps: Type.Integer({
    minimum: 0,
    maximum: 1_000,
    description:
      "The operator's margin: how much worse a customer's rate is than the partner's, in hundredths of a per cent.",
  }),
  approvalToleranceBps: Type.Integer({
    minimum: 0,
    maximum: 1_000,
    description: 'How far a rate may have moved when an exchange is approved.',
  }),
  heldRateDefaultMinutes: Type.Integer({ minimum: 1, maximum: 10_080 }),
  heldRateMaxMinutes: Type.Integer({ minimum: 1, maximum: 10_080 }),
  forwardDepositBps: Type.Integer({ minimum: 0, maximum: 10_000 }),
  marginCallBps: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    description: 'The loss of a forward from which a margin call is made.',
  }),
  maxTenorMonths: Type.Integer({ minimum: 1, maximum: 24 }),
  minSellEur: Type.String({
    pattern: MONEY_PATTERN,
    description: 'The smallest amount that a forward sells, in euro cents.',
  }),
}
/** More than the number of currencies that are collected: each currency is named once. */
const EXPOSURES_MAX = 20
const collections = {
  preNotificationDays: Type.Integer({
    minimum: 1,
    maximum: 14,
    description:
      'Calendar days between the notice to a debtor and the due date of a SEPA collection; customers may set fewer. ' +
      'Other schemes keep their own.',
  }),
  reserveDays: Type.Integer({
    minimum: 0,
    maximum: 365,
    description: 'Days for which collected money is held as a reserve before the customer can use it. 0: none.',
  }),
  maxExposure: Type.Array(PositiveMoney, {
    maxItems: EXPOSURES_MAX,
    description:
      'The most that a customer may have collected while it can still be returned, for each currency; a collection ' +
      'beyond it is refused. Currencies that are not named have no limit.',
    examples: [[{ amountMinor: '100000000', currency: 'EUR' }]],
  }),
}
const payments = {
  fourEyesExceptions: Type.Boolean({ description: 'Whether two people must resolve an exception.' }),
  stepUpThreshold: Money,
}
const STEP_UP_THRESHOLD =
  'People prove themselves for payments above this amount; amounts of other currencies are compared at the mid-market ' +
  'rate, and what cannot be compared needs the proof. Zero: for every payment.'
const sessions = {
  idleMinutes: Type.Integer({
    minimum: 1,
    maximum: 60,
    description:
      'Sessions of its staff and of members of its customers end after this time without a request. Of several ' +
      'operators of a person the shortest time holds.',
  }),
  absoluteHours: Type.Integer({
    minimum: 1,
    maximum: 24,
    description:
      'Sessions end this long after signing in. A shorter time ends open sessions too, a longer one holds for new ones.',
  }),
  recoveredFactorWaitHours: Type.Integer({
    minimum: 0,
    maximum: 168,
    description:
      'A second factor that is added with a recovery code proves nothing with which money moves for this time. Of ' +
      'several operators of a person the longest time holds.',
  }),
}
const reviewMonths = (risk: string) =>
  Type.Integer({
    minimum: 1,
    maximum: 60,
    description: `The months between two reviews of a customer of ${risk} risk.`,
  })
const kyb = {
  requireAllPersonsVerified: Type.Boolean({
    description: 'Whether a customer is approved only when all of its persons are verified.',
  }),
  reviewMonthsLow: reviewMonths('low'),
  reviewMonthsMedium: reviewMonths('medium, or not rated,'),
  reviewMonthsHigh: reviewMonths('high'),
}

/** More than the number of rails: each rail is named once. */
const RAIL_LIMITS_MAX = 60
const rails = {
  limits: Type.Array(
    Type.Object(
      {
        rail: Rail,
        limit: Nullable(PositiveMoney, {
          description: 'The limit of a single payment, in the currency of the rail. Null: no limit.',
        }),
      },
      {
        title: 'RailLimit',
        additionalProperties: false,
        examples: [{ rail: 'faster_payments', limit: { amountMinor: '25000000', currency: 'GBP' } }],
      },
    ),
    {
      maxItems: RAIL_LIMITS_MAX,
      description:
        'The limit of each rail, in place of the limit of its scheme. Rails that are not named keep the ' +
        "scheme's limit.",
    },
  ),
}

const DOMAINS_MAX = 50
const InvitationDomains = Type.Array(Type.String({ pattern: DOMAIN, examples: ['example.com'] }), {
  maxItems: DOMAINS_MAX,
  uniqueItems: true,
  description:
    'Domains in lower case at which API keys may invite the first owners of customers. With an empty list keys can ' +
    'make no customers.',
})

const Limits = Nullable(
  Type.Array(
    Type.Object(
      {
        currency: CurrencyCode,
        single: Nullable(Money),
        daily: Nullable(Money),
        monthly: Nullable(Money),
      },
      { title: 'DefaultLimits' },
    ),
  ),
)
const LimitsOrNone = Type.Optional(Nullable(LimitsWrite, { description: 'Null: none.' }))

export const OperatorSettings = Type.Object(
  {
    recipients: Type.Object(recipients, {
      title: 'OperatorRecipientSettings',
      description: "The review of customers' recipients. A customer's own policy takes precedence over `approvalMode`.",
    }),
    limits: Type.Object(
      {
        default: Type.Object(
          { business: Limits, sole_trader: Limits, individual: Limits },
          {
            title: 'LimitsByType',
            description: 'The limits of customers without own limits, by customer type. Null: no limit.',
          },
        ),
      },
      { title: 'OperatorLimitSettings' },
    ),
    compliance: Type.Object(compliance, { title: 'OperatorComplianceSettings' }),
    payments: Type.Object(payments, { title: 'OperatorPaymentSettings', description: STEP_UP_THRESHOLD }),
    sessions: Type.Object(sessions, { title: 'OperatorSessionSettings' }),
    kyb: Type.Object(kyb, { title: 'OperatorKybSettings' }),
    rails: Type.Object(rails, { title: 'OperatorRailSettings' }),
    pricing: Type.Object(pricing, { title: 'OperatorPricingSettings' }),
    exchange: Type.Object(exchange, { title: 'OperatorExchangeSettings' }),
    collections: Type.Object(collections, { title: 'OperatorCollectionSettings' }),
    apiKeyInvitationDomains: InvitationDomains,
    ...provenance,
  },
  { title: 'OperatorSettings' },
)
export type OperatorSettings = Static<typeof OperatorSettings>

export const OperatorSettingsUpdate = Type.Object(
  {
    recipients: Type.Optional(
      Type.Object(
        {
          approvalMode: Type.Optional(recipients.approvalMode),
          requireVerification: Type.Optional(recipients.requireVerification),
          allowedOverrides: Type.Optional(recipients.allowedOverrides),
        },
        { title: 'OperatorRecipientSettingsUpdate', additionalProperties: false },
      ),
    ),
    limits: Type.Optional(
      Type.Object(
        {
          default: Type.Optional(
            Type.Object(
              { business: LimitsOrNone, sole_trader: LimitsOrNone, individual: LimitsOrNone },
              { title: 'LimitsByTypeUpdate', additionalProperties: false },
            ),
          ),
        },
        { title: 'OperatorLimitSettingsUpdate', additionalProperties: false },
      ),
    ),
    compliance: Type.Optional(
      Type.Object(
        { fourEyesRelease: Type.Optional(compliance.fourEyesRelease) },
        { title: 'OperatorComplianceSettingsUpdate', additionalProperties: false },
      ),
    ),
    payments: Type.Optional(
      Type.Object(
        {
          fourEyesExceptions: Type.Optional(payments.fourEyesExceptions),
          stepUpThreshold: Type.Optional(payments.stepUpThreshold),
        },
        { title: 'OperatorPaymentSettingsUpdate', additionalProperties: false },
      ),
    ),
    sessions: Type.Optional(
      Type.Partial(Type.Object(sessions), { title: 'OperatorSessionSettingsUpdate', additionalProperties: false }),
    ),
    kyb: Type.Optional(
      Type.Partial(Type.Object(kyb), { title: 'OperatorKybSettingsUpdate', additionalProperties: false }),
    ),
    rails: Type.Optional(
      Type.Object(
        { limits: Type.Optional(rails.limits) },
        { title: 'OperatorRailSettingsUpdate', additionalProperties: false },
      ),
    ),
    exchange: Type.Optional(
      Type.Partial(Type.Object(exchange), { title: 'OperatorExchangeSettingsUpdate', additionalProperties: false }),
    ),
    collections: Type.Optional(
      Type.Partial(Type.Object(collections), {
        title: 'OperatorCollectionSettingsUpdate',
        additionalProperties: false,
      }),
    ),
    pricing: Type.Optional(
      Type.Object(
        { defaultTemplateId: Type.Optional(pricing.defaultTemplateId) },
        { title: 'OperatorPricingSettingsUpdate', additionalProperties: false },
      ),
    ),
    apiKeyInvitationDomains: Type.Optional(InvitationDomains),
  },
  {
    title: 'OperatorSettingsUpdate',
    additionalProperties: false,
    examples: [{ recipients: { approvalMode: 'operator_queue' } }],
  },
)
export type OperatorSettingsUpdate = Static<typeof OperatorSettingsUpdate>

/** The switches, by their names in lib/operators/features.ts. */
const SWITCHES = {
  cards: Type.Boolean({ description: 'Enables cards.' }),
  'developer.self_serve': Type.Boolean({
    description: 'Enables workspaces that developers open themselves. This version has no operation of it.',
  }),
  'exchange.forwards': Type.Boolean({
    description: 'Enables quotes, creation and reads of forwards. Existing forwards continue without it.',
  }),
  'exchange.held_rates': Type.Boolean({
    description: 'Enables quotes, creation and reads of held rates. Existing held rates continue without it.',
  }),
  'exchange.spot': Type.Boolean({
    description: 'Enables quotes and exchanges. Booked exchanges are settled without it.',
  }),
  'payments.bulk': Type.Boolean({
    description: 'Enables uploads, reads and submissions of bulk payments. Submissions under way continue without it.',
  }),
  'payments.direct_debits': Type.Boolean({
    description: 'Enables mandates and collections. This version has no operation of it.',
  }),
  'payments.funds_requests': Type.Boolean({
    description:
      'Enables creation and reads of funds requests, also for payers. Incoming payments are counted without it.',
  }),
  'payments.recalls': Type.Boolean({
    description: 'Enables requests for recalls. Recalls under way are answered without it.',
  }),
  'payments.scheduled': Type.Boolean({
    description: 'Enables creation and reads of scheduled payments. Existing schedules continue without it.',
  }),
  webhooks: Type.Boolean({
    description:
      'Enables creation and reads of integrator webhooks. Existing endpoints get their deliveries without it.',
  }),
} as const satisfies Readonly<Record<Feature, TSchema>>
export const FeatureFlags = Type.Object(
  {
    flags: Type.Object(
      {
        ...SWITCHES,
        sandbox: Type.Boolean({ description: 'Whether the environment is a sandbox.' }),
      },
      { title: 'FeatureSwitches' },
    ),
    ...provenance,
  },
  { title: 'FeatureFlags' },
)
export type FeatureFlags = Static<typeof FeatureFlags>
export const FeatureFlagsUpdate = Type.Object(
  {
    flags: Type.Partial(Type.Object(SWITCHES), { title: 'FeatureSwitchesUpdate', additionalProperties: false }),
  },
  { title: 'FeatureFlagsUpdate', additionalProperties: false },
)
export type FeatureFlagsUpdate = Static<typeof FeatureFlagsUpdate>

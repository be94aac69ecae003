/** An operator: a company that runs the platform for its own customers. */
import { defineEntity, p } from '@mikro-orm/core'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { RecipientMode } from '../../lib/approvals/policy.ts'
import type { VerificationOutcome } from '../../lib/recipients/verification.ts'
import type { MaxExposureJson } from './collection-terms.ts'
import type { RailLimitsJson } from './rail-limits.ts'
import { instant, managed } from '../db/entity-types.ts'

/** The trigger as the migration defines it: nodes that cache an operator's settings are notified when they change. */
const TELL_NODES = `create trigger operator_changed after update on operator
  for each row execute function operator_changed()`

export const Operator = managed(
  defineEntity({
    name: 'Operator',
    tableName: 'operator',
    properties: {
      id: p.uuid().primary(),
      name: p.text(),
      recipientApprovalMode: p
        .text()
        .$type<RecipientMode>()
        .fieldName('recipient_approval_mode')
        .defaultRaw(`'customer_tier'`),
      recipientRequireVerification: p.boolean().fieldName('recipient_require_verification').defaultRaw('false'),
      recipientAllowedOverrides: p
        .array<VerificationOutcome>()
        .columnType('text[]')
        .fieldName('recipient_allowed_overrides')
        .defaultRaw(`'{close_match}'`),
      complianceFourEyesRelease: p.boolean().fieldName('compliance_four_eyes_release').defaultRaw('true'),
      paymentsFourEyesExceptions: p.boolean().fieldName('payments_four_eyes_exceptions').defaultRaw('true'),
      pricingTemplateId: p.uuid().fieldName('pricing_template_id').nullable(),
      exchangeQuoteSeconds: p.integer().fieldName('exchange_quote_seconds').defaultRaw('30'),
      exchangeMarginBps: p.integer().fieldName('exchange_margin_bps').defaultRaw('50'),
      exchangeApprovalToleranceBps: p.integer().fieldName('exchange_approval_tolerance_bps').defaultRaw('50'),
      exchangeHeldRateDefaultMinutes: p.integer().fieldName('exchange_held_rate_default_minutes').defaultRaw('60'),
      exchangeHeldRateMaxMinutes: p.integer().fieldName('exchange_held_rate_max_minutes').defaultRaw('1440'),
      exchangeForwardDepositBps: p.integer().fieldName('exchange_forward_deposit_bps').defaultRaw('500'),
      exchangeMarginCallBps: p.integer().fieldName('exchange_margin_call_bps').defaultRaw('300'),
      exchangeMaxTenorMonths: p.integer().fieldName('exchange_max_tenor_months').defaultRaw('12'),
      exchangeMinSellEur: p.bigint().fieldName('exchange_min_sell_eur').defaultRaw('1000000'),
      collectionPreNotificationDays: p.integer().fieldName('collection_pre_notification_days').defaultRaw('14'),
      collectionReserveDays: p.integer().fieldName('collection_reserve_days').defaultRaw('0'),
      collectionMaxExposure: p
        .json()
        .$type<MaxExposureJson>()
        .fieldName('collection_max_exposure')
        .columnType('jsonb')
        .defaultRaw(`'{}'`),
      railLimits: p.json().$type<RailLimitsJson>().fieldName('rail_limits').columnType('jsonb').defaultRaw(`'{}'`),
      railVersion: p.integer().fieldName('rail_version').defaultRaw('1'),
      apiKeyInvitationDomains: p
        .array()
        .columnType('text[]')
        .fieldName('api_key_invitation_domains')
        .defaultRaw(`'{}'`),
      paymentsStepUpAmount: p.bigint().fieldName('payments_step_up_amount').defaultRaw('0'),
      paymentsStepUpCurrency: p
        .string()
        .$type<CurrencyCode>()
        .columnType('char(3)')
        .fieldName('payments_step_up_currency')
        .defaultRaw(`'EUR'`),
      kybRequireAllPersonsVerified: p.boolean().fieldName('kyb_require_all_persons_verified').defaultRaw('true'),
      kybReviewMonthsLow: p.integer().fieldName('kyb_review_months_low').defaultRaw('36'),
      kybReviewMonthsMedium: p.integer().fieldName('kyb_review_months_medium').defaultRaw('24'),
      kybReviewMonthsHigh: p.integer().fieldName('kyb_review_months_high').defaultRaw('12'),
      sessionIdleMinutes: p.integer().fieldName('session_idle_minutes').defaultRaw('15'),
      sessionAbsoluteHours: p.integer().fieldName('session_absolute_hours').defaultRaw('12'),
      recoveredFactorWaitHours: p.integer().fieldName('recovered_factor_wait_hours').defaultRaw('24'),
      createdAt: instant().fieldName('created_at'),
      version: p.integer().version(),
      features: p.json().$type<Readonly<Record<string, boolean>>>().columnType('jsonb').defaultRaw(`'{}'`),
      updatedBy: p.uuid().fieldName('updated_by').nullable(),
      updatedAt: instant().fieldName('updated_at').nullable(),
    },
    triggers: [{ name: 'operator_changed', timing: 'after', events: ['update'], expression: TELL_NODES }],
  }),
)

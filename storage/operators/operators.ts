/** Operators as rows: their name, the settings for their customers, and their features. */
import type { InferEntity } from '@mikro-orm/core'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { RailLimits } from '../../lib/rails/rail-limits.ts'
import type { RecipientMode } from '../../lib/approvals/policy.ts'
import type { CollectionTerms } from '../../lib/operators/collection-terms.ts'
import type { ExchangeTerms } from '../../lib/operators/exchange-terms.ts'
import type { VerificationOutcome } from '../../lib/recipients/verification.ts'
import { entitiesOf, entitiesOfEveryTenant } from '../db/entities.ts'
import type { StatementRunner } from '../db/entity-driver.ts'
import { Operator } from './operator-entity.ts'
import { maxExposureJson, maxExposureOf } from './collection-terms.ts'
import { railLimitsOf } from './rail-limits.ts'
import type { TransactionClient } from '../db/transaction.ts'

export interface OperatorRecord {
  readonly id: string
  readonly version: number
  readonly name: string
  readonly recipients: {
    readonly approvalMode: RecipientMode
    readonly requireVerification: boolean
    readonly allowedOverrides: readonly VerificationOutcome[]
  }
  readonly compliance: {
    /** Whether two staff members decide on a hold. */
    readonly fourEyesRelease: boolean
  }
  readonly payments: {
    /** Whether two staff members resolve an exception. */
    readonly fourEyesExceptions: boolean
    /** People prove themselves for payments above it; zero: for all. Minor units. */
    readonly stepUpThreshold: { readonly amount: bigint; readonly currency: CurrencyCode }
  }
  readonly sessions: {
    readonly idleMinutes: number
    readonly absoluteHours: number
    /** How long a second factor waits that was added with a recovery code. */
    readonly recoveredFactorWaitHours: number
  }
  readonly kyb: {
    /** Whether a customer is approved only when all of its persons are verified. */
    readonly requireAllPersonsVerified: boolean
    /** The months between two reviews of a customer, by its risk. */
    readonly reviewMonthsLow: number
    readonly reviewMonthsMedium: number
    readonly reviewMonthsHigh: number
  }
  readonly exchange: ExchangeTerms
  readonly collections: CollectionTerms
  readonly pricing: {
    /** The pricing template of its customers; null: no fees are charged. */
    readonly defaultTemplateId: string | null
  }
  /** Limits on payments by rail, for rails with limits of the operator's own. */
  readonly railLimits: RailLimits
  /** The domains, in lower case, at which API keys may invite the first owners of customers. */
  readonly apiKeyInvitationDomains: readonly string[]
  /** The features that the operator has switched on or off, by name. */
  readonly features: Readonly<Record<string, boolean>>
  readonly createdAt: number
  /** Null until the first change. */
  readonly updatedBy: string | null
  readonly updatedAt: number | null
}

/** SQL of the exchange settings of an operator `o`. */
export const EXCHANGE_TERMS = `json_build_object('quoteSeconds', o.exchange_quote_seconds, 'marginBps', o.exchange_margin_bps, 'approvalToleranceBps', o.exchange_approval_tolerance_bps,
      'heldRateDefaultMinutes', o.exchange_held_rate_default_minutes, 'heldRateMaxMinutes', o.exchange_held_rate_max_minutes,
      'forwardDepositBps', o.exchange_forward_deposit_bps, 'marginCallBps', o.exchange_margin_call_bps, 'maxTenorMonths', o.exchange_max_tenor_months,
      'minSellEur', o.exchange_min_sell_eur::text)`

type Row = InferEntity<typeof Operator>

const operatorRecord = (row: Row): OperatorRecord => ({
  id: row.id,
  version: row.version,
  name: row.name,
  features: row.features,
  apiKeyInvitationDomains: row.apiKeyInvitationDomains,
  createdAt: row.createdAt,
  updatedBy: row.updatedBy ?? null,
  updatedAt: row.updatedAt ?? null,
  recipients: {
    approvalMode: row.recipientApprovalMode,
    requireVerification: row.recipientRequireVerification,
    allowedOverrides: row.recipientAllowedOverrides,
  },
  compliance: { fourEyesRelease: row.complianceFourEyesRelease },
  payments: {
    fourEyesExceptions: row.paymentsFourEyesExceptions,
    stepUpThreshold: { amount: row.paymentsStepUpAmount, currency: row.paymentsStepUpCurrency },
  },
  sessions: {
    idleMinutes: row.sessionIdleMinutes,
    absoluteHours: row.sessionAbsoluteHours,
    recoveredFactorWaitHours: row.recoveredFactorWaitHours,
  },
  kyb: {
    requireAllPersonsVerified: row.kybRequireAllPersonsVerified,
    reviewMonthsLow: row.kybReviewMonthsLow,
    reviewMonthsMedium: row.kybReviewMonthsMedium,
    reviewMonthsHigh: row.kybReviewMonthsHigh,
  },
  railLimits: railLimitsOf(row.railLimits),
  pricing: { defaultTemplateId: row.pricingTemplateId ?? null },
  exchange: {
    quoteSeconds: row.exchangeQuoteSeconds,
    marginBps: row.exchangeMarginBps,
    approvalToleranceBps: row.exchangeApprovalToleranceBps,
    heldRateDefaultMinutes: row.exchangeHeldRateDefaultMinutes,
    heldRateMaxMinutes: row.exchangeHeldRateMaxMinutes,
    forwardDepositBps: row.exchangeForwardDepositBps,
    marginCallBps: row.exchangeMarginCallBps,
    maxTenorMonths: row.exchangeMaxTenorMonths,
    minSellEur: row.exchangeMinSellEur,
  },
  collections: {
    preNotificationDays: row.collectionPreNotificationDays,
    reserveDays: row.collectionReserveDays,
    maxExposure: maxExposureOf(row.collectionMaxExposure),
  },
})

/**
 * Reads an operator; null when it does not exist. `lock` keeps others from changing the operator and its limits until
 * the transaction ends.
 */
export async function readOperator(client: StatementRunner, id: string, lock = false): Promise<OperatorRecord | null> {
  if (lock)
    // Weaker than the lock of an entity manager: rows that refer to the operator are added meanwhile.
    await client.query({
      name: 'lock_operator',
      text: 'select from operator where id = $1 for no key update',
      values: [id],
    })
  const row = await entitiesOf(client, { operatorId: id }).findOne(Operator, { id })
  return row === null ? null : operatorRecord(row)
}

/** The advisory lock of what makes an operator; any fixed number works, this one spells "operator". */
const OPERATORS_LOCK = '0x6f70657261746f72'

/** Keeps other transactions from making an operator until this one ends. */
export async function lockOperators(client: TransactionClient): Promise<void> {
  await client.query(`select pg_advisory_xact_lock(${OPERATORS_LOCK})`)
}

/** Returns whether there is any operator. @throws the driver's errors */
export async function hasOperator(client: StatementRunner): Promise<boolean> {
  return (await entitiesOfEveryTenant(client, 'the first entry').count(Operator)) > 0
}

/** Makes an operator with the default settings and features. */
export async function insertOperator(
  client: TransactionClient,
  { id, name, now }: { readonly id: string; readonly name: string; readonly now: number },
): Promise<void> {
  await entitiesOf(client, { operatorId: id }).insert(Operator, { id, name, createdAt: now })
}

/** Writes the fields of a locked operator as its next version. */
export async function writeOperator(
  client: TransactionClient,
  {
    id,
    name,
    recipients,
    compliance,
    payments,
    sessions,
    kyb,
    exchange,
    collections,
    features,
    apiKeyInvitationDomains,
    by,
    now,
  }: Pick<
    OperatorRecord,
    | 'id'
    | 'name'
    | 'recipients'
    | 'compliance'
    | 'payments'
    | 'sessions'
    | 'kyb'
    | 'exchange'
    | 'collections'
    | 'features'
    | 'apiKeyInvitationDomains'
  > & {
    readonly by: string
    readonly now: number
  },
): Promise<void> {
  const rows = entitiesOf(client, { operatorId: id })
  const change: Partial<Row> = {
    name,
    features,
    apiKeyInvitationDomains: [...apiKeyInvitationDomains],
    recipientApprovalMode: recipients.approvalMode,
    recipientRequireVerification: recipients.requireVerification,
    recipientAllowedOverrides: [...recipients.allowedOverrides],
    complianceFourEyesRelease: compliance.fourEyesRelease,
    paymentsFourEyesExceptions: payments.fourEyesExceptions,
    paymentsStepUpAmount: payments.stepUpThreshold.amount,
    paymentsStepUpCurrency: payments.stepUpThreshold.currency,
    sessionIdleMinutes: sessions.idleMinutes,
    sessionAbsoluteHours: sessions.absoluteHours,
    recoveredFactorWaitHours: sessions.recoveredFactorWaitHours,
    kybRequireAllPersonsVerified: kyb.requireAllPersonsVerified,
    kybReviewMonthsLow: kyb.reviewMonthsLow,
    kybReviewMonthsMedium: kyb.reviewMonthsMedium,
    kybReviewMonthsHigh: kyb.reviewMonthsHigh,
    exchangeQuoteSeconds: exchange.quoteSeconds,
    exchangeMarginBps: exchange.marginBps,
    exchangeApprovalToleranceBps: exchange.approvalToleranceBps,
    exchangeHeldRateDefaultMinutes: exchange.heldRateDefaultMinutes,
    exchangeHeldRateMaxMinutes: exchange.heldRateMaxMinutes,
    exchangeForwardDepositBps: exchange.forwardDepositBps,
    exchangeMarginCallBps: exchange.marginCallBps,
    exchangeMaxTenorMonths: exchange.maxTenorMonths,
    exchangeMinSellEur: exchange.minSellEur,
    collectionPreNotificationDays: collections.preNotificationDays,
    collectionReserveDays: collections.reserveDays,
    collectionMaxExposure: maxExposureJson(collections.maxExposure),
    updatedBy: by,
    updatedAt: now,
  }
  Object.assign(await rows.get(Operator, id), change)
  await rows.save()
}

/** Operators as rows: their name, the settings for their customers, and their features. */
import type { RailLimits } from '../../lib/rails/rail-limits.ts'
import type { RecipientMode } from '../../lib/approvals/policy.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { ExchangeTerms } from '../../lib/operators/exchange-terms.ts'
import type { VerificationOutcome } from '../../lib/recipients/verification.ts'
import { railLimitsOf, type RailLimitsJson } from './rail-limits.ts'
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
  }
  readonly exchange: ExchangeTerms
  readonly pricing: {
    /** The pricing template of its customers; null: no fees are charged. */
    readonly defaultTemplateId: string | null
  }
  /** Limits on payments by rail, for rails with limits of the operator's own. */
  readonly railLimits: RailLimits
  /** The features that the operator has switched on or off, by name. */
  readonly features: Readonly<Record<string, boolean>>
  readonly createdAt: number
  /** Null until the first change. */
  readonly updatedBy: string | null
  readonly updatedAt: number | null
}

interface Row {
  readonly version: number
  readonly name: string
  readonly mode: RecipientMode
  readonly required: boolean
  readonly overrides: VerificationOutcome[]
  readonly four_eyes_release: boolean
  readonly four_eyes_exceptions: boolean
  readonly pricing_template_id: string | null
  readonly rail_limits: RailLimitsJson
  readonly exchange: Omit<ExchangeTerms, 'minSellEur'> & { readonly minSellEur: string }
  readonly features: Readonly<Record<string, boolean>>
  readonly created_ms: number
  readonly updated_by: string | null
  readonly updated_ms: number | null
}

/** SQL of the exchange settings of an operator `o`. */
export const EXCHANGE_TERMS = `json_build_object('quoteSeconds', o.exchange_quote_seconds, 'marginBps', o.exchange_margin_bps, 'approvalToleranceBps', o.exchange_approval_tolerance_bps,
      'heldRateDefaultMinutes', o.exchange_held_rate_default_minutes, 'heldRateMaxMinutes', o.exchange_held_rate_max_minutes,
      'forwardDepositBps', o.exchange_forward_deposit_bps, 'marginCallBps', o.exchange_margin_call_bps, 'maxTenorMonths', o.exchange_max_tenor_months,
      'minSellEur', o.exchange_min_sell_eur::text)`

const SELECT = `select version, name, recipient_approval_mode as mode, recipient_require_verification as required, recipient_allowed_overrides as overrides, features,
    compliance_four_eyes_release as four_eyes_release, payments_four_eyes_exceptions as four_eyes_exceptions, pricing_template_id, rail_limits, ${EXCHANGE_TERMS} as exchange,
    (extract(epoch from created_at) * 1000)::float8 as created_ms, updated_by, (extract(epoch from updated_at) * 1000)::float8 as updated_ms
  from operator o where id = $1`

/**
 * Reads an operator; null when it does not exist. `lock` keeps others from changing the operator and its limits until
 * the transaction ends.
 */
export async function readOperator(
  client: Pick<TransactionClient, 'query'>,
  id: string,
  lock = false,
): Promise<OperatorRecord | null> {
  const {
    rows: [row],
  } = await client.query<Row>({
    name: lock ? 'lock_operator' : 'read_operator',
    text: lock ? `${SELECT} for no key update` : SELECT,
    values: [id],
  })
  return row === undefined
    ? null
    : {
        id,
        version: row.version,
        name: row.name,
        features: row.features,
        createdAt: row.created_ms,
        updatedBy: row.updated_by,
        updatedAt: row.updated_ms,
        recipients: { approvalMode: row.mode, requireVerification: row.required, allowedOverrides: row.overrides },
        compliance: { fourEyesRelease: row.four_eyes_release },
        payments: { fourEyesExceptions: row.four_eyes_exceptions },
        railLimits: railLimitsOf(row.rail_limits),
        pricing: { defaultTemplateId: row.pricing_template_id },
        exchange: { ...row.exchange, minSellEur: BigInt(row.exchange.minSellEur) },
      }
}

/** Writes the fields of an operator as its next version. */
export async function writeOperator(
  client: TransactionClient,
  {
    id,
    name,
    recipients,
    compliance,
    payments,
    exchange,
    features,
    by,
    now,
  }: Pick<OperatorRecord, 'id' | 'name' | 'recipients' | 'compliance' | 'payments' | 'exchange' | 'features'> & {
    readonly by: string
    readonly now: number
  },
): Promise<void> {
  await client.query({
    name: 'write_operator',
    text: `update operator set version = version + 1, name = $2, recipient_approval_mode = $3, recipient_require_verification = $4, recipient_allowed_overrides = $5,
      features = $6, updated_by = $7, updated_at = $8, compliance_four_eyes_release = $9, payments_four_eyes_exceptions = $10,
      exchange_quote_seconds = $11, exchange_margin_bps = $12, exchange_approval_tolerance_bps = $13, exchange_held_rate_default_minutes = $14, exchange_held_rate_max_minutes = $15,
      exchange_forward_deposit_bps = $16, exchange_margin_call_bps = $17, exchange_max_tenor_months = $18, exchange_min_sell_eur = $19 where id = $1`,
    values: [
      id,
      name,
      recipients.approvalMode,
      recipients.requireVerification,
      recipients.allowedOverrides,
      JSON.stringify(features),
      by,
      timestamp(now),
      compliance.fourEyesRelease,
      payments.fourEyesExceptions,
      exchange.quoteSeconds,
      exchange.marginBps,
      exchange.approvalToleranceBps,
      exchange.heldRateDefaultMinutes,
      exchange.heldRateMaxMinutes,
      exchange.forwardDepositBps,
      exchange.marginCallBps,
      exchange.maxTenorMonths,
      exchange.minSellEur,
    ],
  })
}

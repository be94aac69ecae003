/** The settings of an operator: read from a body, checked, and in the form of the API. */
import { limitsShown, type CurrencyLimits } from '../../lib/customers/limits.ts'
import { CUSTOMER_TYPES } from '../../lib/customers/types.ts'
import { isCurrencyCode, type CurrencyCode } from '../../lib/base/currency.ts'
import type { CollectionTerms } from '../../lib/operators/collection-terms.ts'
import type { ExchangeTerms } from '../../lib/operators/exchange-terms.ts'
import { RAILS, type Rail } from '../../lib/rails/rails.ts'
import type { RailLimits } from '../../lib/rails/rail-limits.ts'
import { refuse, refuseField, type FieldError, type FieldErrorCode } from '../../lib/base/problems.ts'
import { readDefaultLimits } from '../../storage/customers/customer-limits.ts'
import { maxExposureJson } from '../../storage/operators/collection-terms.ts'
import { railLimitsJson } from '../../storage/operators/rail-limits.ts'
import { chooseTemplate, readTemplate } from '../../storage/pricing/pricing.ts'
import type { OperatorRecord } from '../../storage/operators/operators.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import { limitsOfBody } from '../../lib/customers/limits-of-body.ts'
import type { OperatorSettings, OperatorSettingsUpdate } from '../../lib/operators/operator-schema.ts'

/** Reads the default limits of a body, by type of customer; null removes them. @throws ProblemError */
export function defaultLimitsOfBody(limits: OperatorSettingsUpdate['limits']) {
  return CUSTOMER_TYPES.flatMap((type) => {
    const given = limits?.default?.[type]
    return given === undefined
      ? []
      : [{ type, limits: given === null ? null : limitsOfBody(given, `/limits/default/${type}`) }]
  })
}

/** Sets the operator's default price list, or none. @throws ProblemError for a list that is not the operator's own */
export async function charge(client: TransactionClient, operatorId: string, templateId: string | null): Promise<void> {
  if (templateId !== null && (await readTemplate(client, operatorId, templateId, true)) === null) {
    refuse('validation-error', 'No such price list.', {
      errors: [{ field: '/pricing/defaultTemplateId', code: 'not_found', message: 'No such price list.' }],
    })
  }
  await chooseTemplate(client, operatorId, templateId)
}

/** Reads rail limits from a request body. @throws ProblemError that names every error in them */
export function railLimitsOfBody(given: OperatorSettings['rails']['limits']): RailLimits {
  const errors: FieldError[] = []
  const limits: { [rail in Rail]?: bigint | null } = {}
  for (const [index, { rail, limit }] of given.entries()) {
    const currency = RAILS.get(rail)?.currency ?? null
    const wrong = (field: string, code: FieldErrorCode, message: string) => {
      errors.push({ field: `/rails/limits/${index}/${field}`, code, message })
    }
    if (currency === null)
      wrong('rail', 'not_applicable', `${rail} carries more than one currency, so it has no limit.`)
    else if (limit !== null && limit.currency !== currency)
      wrong('limit/currency', 'currency_mismatch', `${rail} carries ${currency}.`)
    if (rail in limits) wrong('rail', 'invalid_value', 'Each rail once.')
    limits[rail] = limit === null ? null : BigInt(limit.amountMinor)
  }
  if (errors.length > 0) refuse('validation-error', errors[0]!.message, { errors })
  return limits
}

/** Rail limits in the form of the API. */
function railLimitsView(limits: RailLimits): OperatorSettings['rails']['limits'] {
  return Object.entries(railLimitsJson(limits))
    .sort()
    .map(([rail, amountMinor]) => ({
      rail: rail as Rail,
      limit: amountMinor === null ? null : { amountMinor, currency: RAILS.get(rail as Rail)!.currency as CurrencyCode },
    }))
}

/**
 * Computes the exchange terms after a change.
 *
 * @throws ProblemError when a rate would be held for longer than allowed
 */
export function termsAfter(before: ExchangeTerms, change: OperatorSettingsUpdate['exchange'] = {}): ExchangeTerms {
  const { minSellEur, ...rest } = change
  const after = { ...before, ...rest, ...(minSellEur === undefined ? {} : { minSellEur: BigInt(minSellEur) }) }
  if (after.minSellEur < 0n)
    refuse('validation-error', 'Must not be negative.', {
      errors: [{ field: '/exchange/minSellEur', code: 'too_small', message: 'Must not be negative.' }],
    })
  if (after.heldRateDefaultMinutes > after.heldRateMaxMinutes) {
    const message = 'Longer than a rate may be held.'
    refuse('validation-error', message, {
      errors: [
        {
          field: '/exchange/heldRateDefaultMinutes',
          code: 'too_large',
          message,
          params: { max: after.heldRateMaxMinutes },
        },
      ],
    })
  }
  return after
}

/**
 * Computes the terms for collections after a change.
 *
 * @throws ProblemError for a currency that is named twice, or does not exist
 */
export function collectionTermsAfter(
  before: CollectionTerms,
  { maxExposure, ...rest }: NonNullable<OperatorSettingsUpdate['collections']> = {},
): CollectionTerms {
  const after = { ...before, ...rest }
  if (maxExposure === undefined) return after
  const limits: Record<string, bigint> = {}
  for (const [index, { amountMinor, currency }] of maxExposure.entries()) {
    const field = `/collections/maxExposure/${index}/currency`
    if (!isCurrencyCode(currency)) refuseField(field, 'invalid_value', 'No such currency.')
    if (currency in limits) refuseField(field, 'invalid_value', 'Each currency once.')
    limits[currency] = BigInt(amountMinor)
  }
  return { ...after, maxExposure: limits }
}

/** Terms for collections in the form of the API. */
const collectionsView = ({ maxExposure, ...rest }: CollectionTerms): OperatorSettings['collections'] => ({
  ...rest,
  maxExposure: Object.entries(maxExposureJson(maxExposure))
    .sort()
    .map(([currency, amountMinor]) => ({ amountMinor, currency: currency as CurrencyCode })),
})

/** Reads the threshold of step-up from a request body. @throws ProblemError for a negative amount */
export function thresholdOfBody({
  amountMinor,
  currency,
}: OperatorSettings['payments']['stepUpThreshold']): OperatorRecord['payments']['stepUpThreshold'] {
  const amount = BigInt(amountMinor)
  if (amount < 0n) refuseField('/payments/stepUpThreshold/amountMinor', 'too_small', 'Must not be negative.')
  if (!isCurrencyCode(currency)) refuseField('/payments/stepUpThreshold/currency', 'invalid_value', 'No such currency.')
  return { amount, currency }
}

/** Reads the settings of an operator in the form of the API. */
export async function settingsOf(
  client: Pick<TransactionClient, 'query'>,
  {
    id,
    recipients,
    compliance,
    payments,
    sessions,
    kyb,
    pricing,
    railLimits,
    exchange,
    collections,
    apiKeyInvitationDomains,
  }: OperatorRecord,
): Promise<Omit<OperatorSettings, 'updatedBy' | 'updatedAt'>> {
  const byType = await readDefaultLimits(client, id)
  const limitsOf = (limits: readonly CurrencyLimits[] | undefined) =>
    limits === undefined ? null : limitsShown(limits)
  return {
    recipients: {
      ...recipients,
      allowedOverrides: [...recipients.allowedOverrides] as OperatorSettings['recipients']['allowedOverrides'],
    },
    limits: {
      default: {
        business: limitsOf(byType.get('business')),
        sole_trader: limitsOf(byType.get('sole_trader')),
        individual: limitsOf(byType.get('individual')),
      },
    },
    compliance,
    payments: {
      ...payments,
      stepUpThreshold: {
        amountMinor: payments.stepUpThreshold.amount.toString(),
        currency: payments.stepUpThreshold.currency,
      },
    },
    sessions,
    kyb,
    pricing,
    rails: { limits: railLimitsView(railLimits) },
    exchange: { ...exchange, minSellEur: exchange.minSellEur.toString() },
    collections: collectionsView(collections),
    apiKeyInvitationDomains: [...apiKeyInvitationDomains],
  }
}

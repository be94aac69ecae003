/** The credit that a simulated payment asks for. */
import { randomUUID } from 'node:crypto'
import { addDays } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { CreditFacts } from '../../lib/incoming-payments/credit.ts'
import { moneyJson, REQUEST_AMOUNT_MAX } from '../../lib/base/money.ts'
import { CROSS_BORDER_RAIL, ON_PLATFORM_RAIL, RAILS, type Rail } from '../../lib/rails/rails.ts'
import { refuse, type FieldError } from '../../lib/base/problems.ts'
import { ibanFault } from '../../lib/recipients/iban.ts'
import { maskAccountNumber, maskIban } from '../../lib/recipients/masking.ts'
import { SANDBOX_BANK_NAME } from '../../lib/sandbox/accounts.ts'
import type { SimIncomingPayment } from '../../lib/incoming-payments/incoming-payment-schema.ts'

const PAYER_NAME = 'Sandbox Payer Ltd'
/** A value date lies at most this many days back. */
const VALUE_DAYS_MAX = 366

/**
 * Builds the credit that a body asks for.
 *
 * @throws ProblemError when the fields form a credit that no bank would report, or the amount is above the limit
 */
export function simulatedCredit(
  body: SimIncomingPayment,
  {
    currency,
    reference,
    today,
  }: { readonly currency: CurrencyCode; readonly reference: string; readonly today: string },
): CreditFacts {
  const errors: FieldError[] = []
  if (body.amount.currency !== currency)
    errors.push({ field: '/amount/currency', code: 'currency_mismatch', message: `The balance is in ${currency}.` })
  const rail = body.rail ?? usualRail(currency)
  if (!carries(rail, currency))
    errors.push({ field: '/rail', code: 'invalid_value', message: `${rail} does not carry ${currency}.` })
  const iban = body.payerIban?.replaceAll(/[\s-]/g, '').toUpperCase() ?? null
  const fault = iban === null ? null : ibanFault(iban)
  if (fault !== null)
    errors.push({
      field: '/payerIban',
      code: fault === 'checksum' ? 'invalid_checksum' : 'invalid_format',
      message: 'Is not an IBAN.',
    })
  const sortCode = body.payerSortCode?.replaceAll(/[\s-]/g, '') ?? null
  if (sortCode !== null && !/^[0-9]{6}$/.test(sortCode))
    errors.push({ field: '/payerSortCode', code: 'invalid_format', message: 'Must have six digits.' })
  const valueDate = body.valueDate ?? today
  if (valueDate > today)
    errors.push({ field: '/valueDate', code: 'too_far_ahead', message: 'Must not be after today.' })
  else if (valueDate < addDays(today, -VALUE_DAYS_MAX))
    errors.push({ field: '/valueDate', code: 'in_past', message: `Must be within ${VALUE_DAYS_MAX} days.` })
  if (errors.length > 0) invalid(errors)
  const amount = BigInt(body.amount.amountMinor)
  if (amount > REQUEST_AMOUNT_MAX) {
    const limit = moneyJson({ amountMinor: REQUEST_AMOUNT_MAX, currency })
    refuse('limit-exceeded', 'The amount is above the limit of a single payment.', {
      extra: { limit: { kind: 'single', amount: limit, period: null, remaining: limit } },
    })
  }
  return {
    reference,
    amount,
    currency,
    payerName: body.payerName ?? PAYER_NAME,
    payerIdentifier:
      iban === null
        ? body.payerAccountNumber == null
          ? null
          : maskAccountNumber(body.payerAccountNumber)
        : maskIban(iban),
    payerBankName: iban?.slice(4, 8) === 'SBOX' ? SANDBOX_BANK_NAME : null,
    payerCountry: iban === null ? (sortCode === null ? null : 'GB') : iban.slice(0, 2),
    remittance: body.reference ?? null,
    rail,
    endToEndId: body.endToEndId ?? null,
    uetr: RAILS.get(rail)?.uetr === true ? randomUUID() : null,
    valueDate,
  }
}

/** Returns the usual rail of incoming money in a currency: an instant rail where there is one. */
function usualRail(currency: CurrencyCode): Rail {
  const local = [...RAILS.values()].filter((terms) => terms.currency === currency && terms.withdrawnSince === null)
  return (local.find(({ speed }) => speed === 'instant') ?? local[0])?.rail ?? CROSS_BORDER_RAIL
}

function carries(rail: Rail, currency: string): boolean {
  const terms = RAILS.get(rail)
  return (
    terms !== undefined &&
    rail !== ON_PLATFORM_RAIL &&
    terms.withdrawnSince === null &&
    (terms.currency === null || terms.currency === currency)
  )
}

/** Refuses fields of a simulated payment. @throws ProblemError `validation-error` always */
export function invalid(errors: readonly FieldError[]): never {
  refuse('validation-error', 'Some fields of the body are not valid.', { errors })
}

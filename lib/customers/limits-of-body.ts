/** Limits as request bodies give them. */
import { isCurrencyCode } from '../base/currency.ts'
import { refuseField } from '../base/problems.ts'
import type { LimitsWrite } from './customer-limits-schema.ts'
import type { CurrencyLimits } from './limits.ts'

/** Reads limits from `path` of a request body. @throws ProblemError `validation-error` */
export function limitsOfBody(limits: LimitsWrite, path: string): CurrencyLimits[] {
  const terms = limits.map((limit, index) => termsOf(limit, `${path}/${index}`))
  const seen = new Set<string>()
  for (const [index, { currency }] of terms.entries()) {
    if (seen.has(currency)) refuseField(`${path}/${index}/currency`, 'invalid_value', 'Each currency once.')
    seen.add(currency)
  }
  return terms
}

function termsOf(
  { currency, single = null, daily = null, monthly = null }: LimitsWrite[number],
  path: string,
): CurrencyLimits {
  if (!isCurrencyCode(currency)) refuseField(`${path}/currency`, 'invalid_value', 'No such currency.')
  const amount = (name: string, money: { readonly amountMinor: string; readonly currency: string } | null) => {
    if (money !== null && money.currency !== currency)
      refuseField(`${path}/${name}/currency`, 'currency_mismatch', `The limit is in ${currency}.`)
    return money === null ? null : BigInt(money.amountMinor)
  }
  return {
    currency,
    single: amount('single', single),
    daily: amount('daily', daily),
    monthly: amount('monthly', monthly),
  }
}

/** Price lists in the form of the API. */
import { timestamp } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { moneyJson } from '../../lib/base/money.ts'
import type { CurrencyFeeRule, PricingTemplateRecord } from '../../storage/pricing/pricing.ts'
import type { PricingTemplate } from '../../lib/pricing/pricing-template-schema.ts'

/** A fee rule as the API shows it. */
export function ruleJson({
  kind,
  currency,
  rail,
  fixed,
  bps,
  min,
  max,
  taxBps,
  refundable,
  passedOn,
}: CurrencyFeeRule): PricingTemplate['rules'][number] {
  const money = (amountMinor: bigint) => moneyJson({ amountMinor, currency: currency as CurrencyCode })
  return {
    kind,
    currency,
    rail,
    fixed: money(fixed),
    bps: Number(bps),
    min: money(min),
    max: max === null ? null : money(max),
    taxBps: Number(taxBps),
    refundable,
    passedOn,
  }
}

/** A price list as the API shows it. */
export function templateJson({
  id,
  name,
  isDefault,
  rules,
  createdAt,
  updatedBy,
  updatedAt,
}: PricingTemplateRecord): PricingTemplate {
  return {
    id,
    name,
    isDefault,
    rules: rules.map(ruleJson),
    createdAt: timestamp(createdAt),
    updatedBy,
    updatedAt: timestamp(updatedAt),
  }
}

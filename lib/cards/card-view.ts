/** Cards and card transactions as the API shows them, and the limits and controls that people set. */
import { timestamp } from '../base/clock.ts'
import type { CurrencyCode } from '../base/currency.ts'
import { moneyJson } from '../base/money.ts'
import { refuseField } from '../base/problems.ts'
import { CARD_CHANNELS, NO_LIMIT, type CardControls, type CardLimits, type LimitAmounts } from './card-limits.ts'
import { mapLimits } from './card-json.ts'
import type { Card, CardControlsWrite, CardLimitsWrite } from './card-schema.ts'
import type { CardRecord } from './card.ts'
import type { MerchantCategory } from './merchant-categories.ts'

/** Makes a card as the API shows it. */
export function cardJson(card: CardRecord): Card {
  const money = (amountMinor: bigint | null) =>
    amountMinor === null ? null : moneyJson({ amountMinor, currency: card.currency })
  const { byCategory, ...all } = card.limits
  return {
    id: card.id,
    customerId: card.customerId,
    balanceId: card.balanceId,
    holderUserId: card.holderUserId,
    type: card.type,
    label: card.label,
    status: card.status,
    last4: card.last4,
    expiry: card.expiry,
    networkTokenRef: card.networkTokenRef,
    limits: {
      ...mapLimits(all, money),
      byCategory: byCategory.map(({ category, ...terms }) => ({ category, ...mapLimits(terms, money) })),
    },
    controls: {
      channels: [...card.controls.channels],
      allowedCategories: card.controls.allowedCategories === null ? null : [...card.controls.allowedCategories],
      blockedCategories: [...card.controls.blockedCategories],
      blockedMccs: [...card.controls.blockedMccs],
      allowedCountries: card.controls.allowedCountries === null ? null : [...card.controls.allowedCountries],
      blockedCountries: [...card.controls.blockedCountries],
    },
    cancelAfterPayments: card.cancelAfterPayments,
    payments: card.payments,
    closeReason: card.closeReason,
    replacesCardId: card.replacesCardId,
    replacedByCardId: card.replacedByCardId,
    createdBy: card.createdBy,
    createdAt: timestamp(card.createdAt),
    updatedAt: timestamp(card.updatedAt),
  }
}

type LimitsWritten = Omit<CardLimitsWrite, 'byCategory'>

/**
 * Reads the limits of a body.
 *
 * @param pointer the place of the limits in the body
 * @throws ProblemError `validation-error` for another currency than the card's, and a category that is named twice
 */
export function limitsWritten(
  { byCategory = [], ...all }: CardLimitsWrite,
  currency: CurrencyCode,
  pointer: string,
): CardLimits {
  const seen = new Set<MerchantCategory>()
  return {
    ...amountsOf(all, currency, pointer),
    byCategory: byCategory.map(({ category, ...terms }, index) => {
      const at = `${pointer}/byCategory/${index}`
      if (seen.has(category)) refuseField(`${at}/category`, 'invalid_value', 'The category has other limits already.')
      seen.add(category)
      return { category, ...amountsOf(terms, currency, at) }
    }),
  }
}

function amountsOf(written: LimitsWritten, currency: CurrencyCode, pointer: string): LimitAmounts {
  const limits: Record<keyof LimitAmounts, bigint | null> = { ...NO_LIMIT }
  for (const member of Object.keys(NO_LIMIT) as (keyof LimitAmounts)[]) {
    const money = written[member]
    if (money === undefined || money === null) continue
    if (money.currency !== currency)
      refuseField(`${pointer}/${member}/currency`, 'currency_mismatch', `The card is in ${currency}.`)
    limits[member] = BigInt(money.amountMinor)
  }
  return limits
}

/** Reads the controls of a body; absent members allow everything. */
export const controlsWritten = (written: CardControlsWrite): CardControls => ({
  channels: written.channels ?? CARD_CHANNELS,
  allowedCategories: written.allowedCategories ?? null,
  blockedCategories: written.blockedCategories ?? [],
  blockedMccs: written.blockedMccs ?? [],
  allowedCountries: written.allowedCountries ?? null,
  blockedCountries: written.blockedCountries ?? [],
})

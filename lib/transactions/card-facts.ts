/** The facts of a card that its transactions show: the merchant, and the purchase in the merchant's currency. */
import type { CurrencyCode } from '../base/currency.ts'
import { formatRate, inverseOf, parseRate } from '../exchange/rate.ts'

/** The facts as they are read: amounts as text. */
export interface CardFactsJson {
  readonly id: string
  readonly merchantName: string
  readonly mcc: string
  readonly country: string | null
  /** Null for messages from before they were kept. */
  readonly merchantAmount: string | null
  readonly merchantCurrency: string | null
  /** Units of the card's currency for one of the merchant's; null where the scheme converted nothing. */
  readonly rate: string | null
  readonly markup: string
}

/** The facts, with amounts in minor units. */
export interface CardFacts {
  /** The card. */
  readonly id: string
  readonly merchant: { readonly name: string; readonly mcc: string; readonly country: string | null }
  /** The purchase in the merchant's currency; null where that is the card's. */
  readonly original: { readonly amount: bigint; readonly currency: CurrencyCode; readonly rate: string } | null
  /** The markup on the conversion, within the fee; tax included. */
  readonly markup: bigint
}

/** Reads the facts of a row. */
export function cardFacts(stored: CardFactsJson): CardFacts {
  const { id, merchantName: name, mcc, country, merchantAmount, merchantCurrency, rate, markup } = stored
  return {
    id,
    merchant: { name, mcc, country },
    original:
      rate === null || merchantAmount === null
        ? null
        : { amount: BigInt(merchantAmount), currency: merchantCurrency as CurrencyCode, rate },
    markup: BigInt(markup),
  }
}

/**
 * Returns the conversion of a transaction in another currency: who pays sells the card's currency for the merchant's,
 * who is refunded the other way round. Null where nothing was converted.
 */
export function conversionOf(
  direction: 'in' | 'out',
  own: { readonly amount: bigint; readonly currency: CurrencyCode },
  { original }: CardFacts,
) {
  if (original === null) return null
  const card = { amount: own.amount, currency: own.currency }
  const [sold, bought] = direction === 'in' ? [original, card] : [card, original]
  const parsed = parseRate(original.rate)
  return {
    rate: direction === 'in' || parsed === null ? original.rate : formatRate(inverseOf(parsed)),
    sellAmount: sold.amount,
    sellCurrency: sold.currency,
    buyAmount: bought.amount,
    buyCurrency: bought.currency,
  }
}

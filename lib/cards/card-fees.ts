/**
 * The operator's prices of card transactions: a fee of a purchase or of cash, and a markup on what the scheme has
 * converted, each with the tax within it. Minor units of the card's currency.
 */
import { feeOf, feeTaxOf, type FeeKind, type FeeRule } from '../pricing/fees.ts'

export interface CardFees {
  /** The whole fee, markup and tax included. */
  readonly fee: bigint
  /** The markup within the fee. */
  readonly markup: bigint
  /** The tax within the markup. */
  readonly markupTax: bigint
  /** The tax within the fee. */
  readonly tax: bigint
}

export const NO_CARD_FEES: CardFees = { fee: 0n, markup: 0n, markupTax: 0n, tax: 0n }

/** Computes the fees of a clearing of `amount`. */
export function cardFees(
  rules: readonly FeeRule[],
  {
    amount,
    isWithdrawal,
    isConverted,
  }: { readonly amount: bigint; readonly isWithdrawal: boolean; readonly isConverted: boolean },
): CardFees {
  if (rules.length === 0) return NO_CARD_FEES
  const kind: FeeKind = isWithdrawal ? 'card_withdrawal' : 'card_purchase'
  const base = feeOf(rules, null, amount, kind)
  const markup = isConverted ? feeOf(rules, null, amount, 'card_conversion') : 0n
  const markupTax = feeTaxOf(rules, null, markup, 'card_conversion')
  return { fee: base + markup, markup, markupTax, tax: feeTaxOf(rules, null, base, kind) + markupTax }
}

/**
 * Payments in another currency than that of the balance they are made from: first an exchange that buys exactly what is paid, then
 * the payment, out of what was bought.
 *
 * Where the money is
 *  * Submitted: the balance that is sold from decides, and one commit takes the money from it (L30) and writes the payment with its
 *    exchange. The payment is `processing`, and nothing of it waits for the bank yet. Where people have to approve it first, the
 *    exchange waits with the payment and holds what it is to sell; when its quote has run out by then, the rate is taken anew, and
 *    the payment rejected where that is too far away.
 *  * Exchanged: the commit that credits the bought money (L33) sets it aside for the payment, on the balance that was bought for,
 *    and puts the payment into the bank's queue, with the payment's version as its fence. So what was bought is never free to be
 *    spent before, and never lost between two commits.
 *  * The exchange fails: the commit that gives the sold money back (L35) ends the payment. While nobody knows what became of the
 *    exchange, the payment waits with it.
 *  * Cancelled before it was exchanged: an exchange cannot be taken back, so what it buys is the customer's to spend.
 *  * From there it is like any payment; the bank's no and a return give back the currency that was bought.
 *
 * It costs what its quote costs. Amounts are bigint minor units.
 */
import { exchangeHold } from '../exchange/approval.ts'
import { expiredQuote, usedQuote } from '../exchange/book-exchange.ts'
import { bookingOf, exchangeEvents, exchangeUpdate, type BookingContext } from '../exchange/booking.ts'
import { exchangeRow, type ExchangeRecord } from '../exchange/exchange.ts'
import { isExpired, type QuoteRecord } from '../exchange/quote.ts'
import type { CurrencyCode } from '../base/currency.ts'
import type { IdSource } from '../base/ids.ts'
import type { BalanceState } from '../balances/balance.ts'
import type { Effects } from '../decisions/effects.ts'
import type { FieldError, Problem } from '../base/problems.ts'
import type { FeeRule } from '../pricing/fees.ts'

/** What a payment keeps of its exchange. Amounts are minor units as text. */
export interface Conversion {
  readonly quoteId: string
  readonly exchangeId: string
  readonly sellCurrency: string
  readonly sellMinor: string
  /** Of the exchange, in the currency sold. */
  readonly feeMinor: string
}

/** What a payment has to bring to the balance that is sold from. */
export interface ConversionOrder {
  readonly quote: QuoteRecord
  readonly exchangeId: string
  readonly exchangeNumber: string
  readonly buyBalance: { readonly id: string; readonly connectionId: string }
  /** What is charged in the currency that is bought. */
  readonly fees: readonly FeeRule[]
  readonly booking: Pick<BookingContext, 'accounts' | 'valueDate'>
  /** The exchange that has used the quote; learned from a commit that found it. */
  readonly usedBy: string | null
}

/** What the balance loses by an exchange: what is sold, and its fee. */
export const costOf = ({ sellMinor, feeMinor }: Conversion): bigint => BigInt(sellMinor) + BigInt(feeMinor)

/** What a body says wrongly of its quote; null: nothing. */
export function conversionFault(
  { id, currency }: Pick<BalanceState, 'id' | 'currency'>, { quote }: Pick<ConversionOrder, 'quote'>, paid: { readonly amount: bigint; readonly currency: string },
): FieldError | null {
  const wrong = (code: FieldError['code'], message: string): FieldError => ({ field: '/quoteId', code, message })
  if (quote.kind !== 'spot') return wrong('invalid_value', 'Payments are made from spot quotes.')
  if (quote.sellCurrency !== currency) return wrong('currency_mismatch', `The quote sells ${quote.sellCurrency}, the balance is in ${currency}.`)
  if (quote.buyCurrency !== paid.currency) return wrong('currency_mismatch', `The quote buys ${quote.buyCurrency}, the payment is in ${paid.currency}.`)
  if (quote.buyAmount !== paid.amount) return wrong('invalid_value', 'The quote buys another amount than is paid.')
  if (quote.sellBalanceId !== null && quote.sellBalanceId !== id) return wrong('invalid_value', 'The quote is for another balance.')
  return null
}

/** Why a quote can no longer be used; null: it can. */
export function quoteRefusal({ quote, usedBy }: Pick<ConversionOrder, 'quote' | 'usedBy'>, now: number): Problem | null {
  if (usedBy !== null) return usedQuote(quote.id, usedBy)
  return isExpired(quote, now) ? expiredQuote(quote) : null
}

/** The exchange of a payment, with what its booking writes, or in `pending_approval` where the payment waits for people. */
export function exchangeFor(
  balance: BalanceState, { quote, exchangeId: id, exchangeNumber: number, buyBalance, booking }: ConversionOrder,
  payment: { readonly id: string; readonly number: string; readonly createdBy: string; readonly createdVia: ExchangeRecord['createdVia']; readonly waits: boolean; readonly approvalId: string | null }, ids: IdSource, now: number,
): { readonly exchange: ExchangeRecord; readonly effects: Effects } {
  const holdId = payment.waits ? ids.next() : null
  const exchange: ExchangeRecord = {
    id, customerId: balance.customerId, operatorId: balance.operatorId, connectionId: quote.connectionId, shard: balance.shard, number, externalId: null, kind: 'spot',
    status: payment.waits ? 'pending_approval' : 'processing', version: 1, quoteId: quote.id, parentExchangeId: null, paymentId: payment.id, sellBalanceId: balance.id, buyBalanceId: buyBalance.id,
    sellCurrency: quote.sellCurrency, buyCurrency: quote.buyCurrency, sellAmount: quote.sellAmount, buyAmount: quote.buyAmount, rate: quote.rate, partnerRate: quote.partnerRate,
    fixedSide: quote.fixedSide, fee: quote.fee, holdId, approvalId: payment.approvalId, tradeDate: booking.valueDate, settlementDate: quote.settlementDate ?? booking.valueDate,
    settledAt: null, reference: `Payment ${payment.number}`, drawdownCount: 0, remainingSell: null, remainingBuy: null, forwardType: null, drawdownFrom: null, heldUntil: null, deposit: null,
    dueAt: null, depositUsed: 0n, depositPlacedUsed: 0n, failure: null, exception: null, providerRef: null, partnerSold: null, partnerBought: null,
    createdBy: payment.createdBy, createdVia: payment.createdVia, metadata: {}, createdAt: now, updatedAt: now,
  }
  return {
    exchange,
    effects: {
      exchanges: [exchangeRow(exchange)],
      credits: [{ balanceId: exchange.buyBalanceId, currency: exchange.buyCurrency }],
      ...(holdId === null ? bookingOf(exchange, { ...booking, ids, now }) : { holds: [exchangeHold(exchange, holdId, now)] }),
      statusUpdates: [exchangeUpdate(exchange, null, payment.waits ? 'Exchange waits with its payment.' : 'Exchange created.', 'member', now)],
      events: exchangeEvents(exchange, null, ids, now),
    },
  }
}

/** What the payment keeps of it. */
export const conversionOf = ({ quoteId, id, sellCurrency, sellAmount, fee }: ExchangeRecord): Conversion =>
  ({ quoteId: quoteId as string, exchangeId: id, sellCurrency: sellCurrency satisfies CurrencyCode, sellMinor: sellAmount.toString(), feeMinor: fee.toString() })

/**
 * Payments in another currency than that of their source balance: first an exchange buys exactly the amount to pay,
 * then the payment is made from the bought amount.
 *
 * Where the money is
 *  * Submitted: the balance that is sold from decides. One commit debits it (L30) and writes the payment with its
 *    exchange. The payment is `processing` and not yet queued for the bank. Where the payment needs an approval, the
 *    exchange waits with it and holds the amount to sell; if its quote has expired by then, a new rate is taken, and
 *    the payment is rejected where that rate is too far from the first.
 *  * Exchanged: the commit that credits the bought money (L33) also holds it for the payment, on the balance that
 *    receives the bought currency, and queues the payment for the bank, fenced by the payment's version. So the bought
 *    money is never free to be spent, and never lost between two commits.
 *  * The exchange fails: the commit that gives the sold money back (L35) fails the payment. While the outcome of the
 *    exchange is unknown, the payment waits.
 *  * Cancelled before the exchange has ended: an exchange cannot be reversed, so the bought money is free for the
 *    customer.
 *  * From then on the payment is like any other; a rejection by the bank and a return give back the bought currency.
 *
 * The only price is that of the quote. Amounts are bigint minor units.
 */
import { exchangeHold } from '../exchange/approval.ts'
import { expiredQuote, usedQuote } from '../exchange/book-exchange.ts'
import { bookingOf, exchangeEvents, exchangeRow, exchangeUpdate, type BookingContext } from '../exchange/booking.ts'
import { NEW_EXCHANGE, type ExchangeRecord } from '../exchange/exchange.ts'
import { isExpired, type QuoteRecord } from '../exchange/quote.ts'
import type { CurrencyCode } from '../base/currency.ts'
import type { IdSource } from '../base/ids.ts'
import type { BalanceState } from '../balances/balance.ts'
import type { Effects } from '../decisions/effects.ts'
import type { FieldError, Problem } from '../base/problems.ts'
import type { FeeRule } from '../pricing/fees.ts'

/** The part of an exchange that its payment stores. Amounts are minor units as text. */
export interface Conversion {
  readonly quoteId: string
  readonly exchangeId: string
  readonly sellCurrency: string
  readonly sellMinor: string
  /** The fee of the exchange, in the sold currency. */
  readonly feeMinor: string
}

/** The data that a payment brings to the balance that is sold from. */
export interface ConversionOrder {
  readonly quote: QuoteRecord
  readonly exchangeId: string
  readonly exchangeNumber: string
  readonly buyBalance: { readonly id: string; readonly connectionId: string }
  /** The fee rules of the bought currency. */
  readonly fees: readonly FeeRule[]
  readonly booking: Pick<BookingContext, 'accounts' | 'valueDate'>
  /** The exchange that has used the quote already. The commit reports it, and the payment is decided again. */
  readonly usedBy: string | null
}

/** The debit of the source balance: the sold amount and the fee of the exchange. */
export const costOf = ({ sellMinor, feeMinor }: Conversion): bigint => BigInt(sellMinor) + BigInt(feeMinor)

/** Compares a quote with the payment and its balance. Returns the field error, or null when they fit. */
export function conversionFault(
  { id, currency }: Pick<BalanceState, 'id' | 'currency'>,
  { quote }: Pick<ConversionOrder, 'quote'>,
  paid: { readonly amount: bigint; readonly currency: string },
): FieldError | null {
  const wrong = (code: FieldError['code'], message: string): FieldError => ({ field: '/quoteId', code, message })
  if (quote.kind !== 'spot') return wrong('invalid_value', 'Payments are made from spot quotes.')
  if (quote.sellCurrency !== currency)
    return wrong('currency_mismatch', `The quote sells ${quote.sellCurrency}, the balance is in ${currency}.`)
  if (quote.buyCurrency !== paid.currency)
    return wrong('currency_mismatch', `The quote buys ${quote.buyCurrency}, the payment is in ${paid.currency}.`)
  if (quote.buyAmount !== paid.amount) return wrong('invalid_value', 'The quote buys another amount than is paid.')
  if (quote.sellBalanceId !== null && quote.sellBalanceId !== id)
    return wrong('invalid_value', 'The quote is for another balance.')
  return null
}

/** Returns the refusal of a quote that was used or has expired; null when it can be used. */
export function quoteRefusal(
  { quote, usedBy }: Pick<ConversionOrder, 'quote' | 'usedBy'>,
  now: number,
): Problem | null {
  if (usedBy !== null) return usedQuote(quote.id, usedBy)
  return isExpired(quote, now) ? expiredQuote(quote) : null
}

/**
 * Makes the exchange of a payment with the effects of its booking, or in `pending_approval` with a hold where the
 * payment waits for an approval.
 */
export function exchangeFor(
  balance: BalanceState,
  { quote, exchangeId: id, exchangeNumber: number, buyBalance, booking }: ConversionOrder,
  payment: {
    readonly id: string
    readonly number: string
    readonly createdBy: string
    readonly createdVia: ExchangeRecord['createdVia']
    readonly waits: boolean
    readonly approvalId: string | null
  },
  ids: IdSource,
  now: number,
): { readonly exchange: ExchangeRecord; readonly effects: Effects } {
  const holdId = payment.waits ? ids.next() : null
  const exchange: ExchangeRecord = {
    ...NEW_EXCHANGE,
    id,
    customerId: balance.customerId,
    operatorId: balance.operatorId,
    connectionId: quote.connectionId,
    shard: balance.shard,
    number,
    externalId: null,
    kind: 'spot',
    status: payment.waits ? 'pending_approval' : 'processing',
    quoteId: quote.id,
    paymentId: payment.id,
    sellBalanceId: balance.id,
    buyBalanceId: buyBalance.id,
    sellCurrency: quote.sellCurrency,
    buyCurrency: quote.buyCurrency,
    sellAmount: quote.sellAmount,
    buyAmount: quote.buyAmount,
    rate: quote.rate,
    partnerRate: quote.partnerRate,
    fixedSide: quote.fixedSide,
    fee: quote.fee,
    holdId,
    approvalId: payment.approvalId,
    tradeDate: booking.valueDate,
    settlementDate: quote.settlementDate ?? booking.valueDate,
    reference: `Payment ${payment.number}`,
    createdBy: payment.createdBy,
    createdVia: payment.createdVia,
    metadata: {},
    createdAt: now,
    updatedAt: now,
  }
  return {
    exchange,
    effects: {
      exchanges: [exchangeRow(exchange)],
      credits: [{ balanceId: exchange.buyBalanceId, currency: exchange.buyCurrency }],
      ...(holdId === null
        ? bookingOf(exchange, { ...booking, ids, now })
        : { holds: [exchangeHold(exchange, holdId, now)] }),
      statusUpdates: [
        exchangeUpdate(
          exchange,
          null,
          payment.waits ? 'Exchange waits with its payment.' : 'Exchange created.',
          'member',
          now,
        ),
      ],
      events: exchangeEvents(exchange, null, ids, now),
    },
  }
}

/** Takes from an exchange the part that its payment stores. */
export const conversionOf = ({ quoteId, id, sellCurrency, sellAmount, fee }: ExchangeRecord): Conversion => ({
  quoteId: quoteId as string,
  exchangeId: id,
  sellCurrency: sellCurrency satisfies CurrencyCode,
  sellMinor: sellAmount.toString(),
  feeMinor: fee.toString(),
})

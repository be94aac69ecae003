/** Exchanges as the flows pass them to a balance's actor, with defaults for members that a test does not set. */
import { NO_MARKET } from '../../lib/exchange/market.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { BookExchange } from '../../lib/exchange/book-exchange.ts'
import type { ExchangeAccounts } from '../../lib/exchange/entries.ts'
import { NEW_EXCHANGE, type ExchangeRecord } from '../../lib/exchange/exchange.ts'
import { baseRate } from '../../lib/exchange/market.ts'
import { price } from '../../lib/exchange/pricing.ts'
import type { QuoteRecord } from '../../lib/exchange/quote.ts'
import { orderNumber } from '../../lib/base/ids.ts'
import { ids, MONDAY, newKey, problemRequest } from './commands.ts'

let orders = 0n

interface Place {
  readonly customerId: string
  readonly operatorId: string
  readonly connectionId: string
  readonly shard: number
}

/** Makes a quote to sell an amount at the base rate with a margin of 0.5 %, valid for one day. */
export function quoteOf(
  { customerId, connectionId }: Pick<Place, 'customerId' | 'connectionId'>,
  sellCurrency: CurrencyCode,
  buyCurrency: CurrencyCode,
  sellAmount: bigint,
  fee = 0n,
): QuoteRecord {
  const priced = price(
    { fixedSide: 'sell', amount: sellAmount, sellCurrency, buyCurrency },
    baseRate(sellCurrency, buyCurrency)!,
    50,
  )
  if (typeof priced === 'string') throw new Error(priced)
  return {
    id: ids.next(),
    customerId,
    connectionId,
    kind: 'spot',
    sellCurrency,
    buyCurrency,
    sellAmount,
    buyAmount: priced.buy,
    rate: priced.rate,
    partnerRate: priced.partnerRate,
    fixedSide: 'sell',
    fee,
    settlementDate: '2026-05-04',
    depositRequired: null,
    holdMinutes: null,
    sellBalanceId: null,
    buyBalanceId: null,
    expiresAt: MONDAY + 86_400_000,
    createdAt: MONDAY,
  }
}

/** Makes the command that books the exchange of a quote, under a new key. */
export function exchangeCommand(
  { customerId, operatorId, connectionId, shard }: Place,
  quote: QuoteRecord,
  { from, to, accounts }: { readonly from: string; readonly to: string; readonly accounts: ExchangeAccounts },
): BookExchange {
  orders += 1n
  const exchange: ExchangeRecord = {
    ...NEW_EXCHANGE,
    id: ids.next(),
    customerId,
    operatorId,
    connectionId,
    shard,
    number: orderNumber('EXC', orders),
    externalId: null,
    kind: 'spot',
    status: 'processing',
    quoteId: quote.id,
    sellBalanceId: from,
    buyBalanceId: to,
    sellCurrency: quote.sellCurrency,
    buyCurrency: quote.buyCurrency,
    sellAmount: quote.sellAmount,
    buyAmount: quote.buyAmount,
    rate: quote.rate,
    partnerRate: quote.partnerRate,
    fixedSide: quote.fixedSide,
    fee: quote.fee,
    tradeDate: '2026-05-04',
    settlementDate: '2026-05-04',
    reference: null,
    createdBy: customerId,
    createdVia: 'api_key',
    metadata: {},
    createdAt: MONDAY,
    updatedAt: MONDAY,
  }
  return {
    kind: 'book_exchange',
    customerId,
    exchange,
    quote,
    holdId: ids.next(),
    accounts,
    valueDate: '2026-05-04',
    refusal: null,
    creditRefused: false,
    seed: ids.next(),
    approving: { requestedByName: 'Key', sandboxDecision: null, rates: NO_MARKET },
    key: newKey(),
    problemRequest,
  }
}

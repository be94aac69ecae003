/**
 * The port to a partner that exchanges currencies. The partner knows an exchange by our reference (the id of the
 * exchange) and accepts it once, however often it is sent. The partner's messages arrive at least once, in any order,
 * and each has an id of its own.
 */
import type { FxMessageType } from '../../lib/providers/messages.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { MarketRates } from '../../lib/exchange/market.ts'
import type { Fraction, FixedSide, Rate } from '../../lib/exchange/rate.ts'
import type { Queries } from '../../storage/db/transaction.ts'

/** An exchange, as sent to the partner. Amounts are minor units. */
export interface FxOrder {
  readonly reference: string
  readonly shard: number
  /** Our connection, whose accounts are debited and credited. */
  readonly connectionId: string
  readonly sellCurrency: CurrencyCode
  readonly buyCurrency: CurrencyCode
  readonly fixedSide: FixedSide
  readonly sellAmount: bigint
  readonly buyAmount: bigint
  /** The rate that the partner promised in its quote; the amount of the side that is not fixed follows from it. */
  readonly rate: Rate
}

/** The result of sending one order. `timeout`: the outcome is unknown (I7). */
export type FxSubmission = 'accepted' | 'timeout'

/** The partner's answer to a status request for one reference. */
export type FxStatus =
  | { readonly kind: 'unknown' | 'pending' }
  | { readonly kind: 'settled'; readonly sold: bigint; readonly bought: bigint }
  | { readonly kind: 'refused'; readonly reason: string }

export interface FxMessage {
  /** The partner's id of this message; the same when the message is repeated. */
  readonly id: string
  readonly type: FxMessageType
  readonly reference: string
  readonly shard: number
  /** The amounts that the partner took and gave, minor units; null unless the exchange has settled. */
  readonly sold: bigint | null
  readonly bought: bigint | null
  readonly reason: string | null
}

/** Takes messages; resolves with the ids of the messages that need not be sent again. */
export type FxInbox = (messages: readonly FxMessage[]) => Promise<readonly string[]>

/** The rates of one connection. */
export interface FxMarket {
  /**
   * Returns the mid-market rate: units bought for one unit sold, exact. Null where the provider does not quote the pair.
   * Read from memory, so that a quote never waits.
   */
  mid(sell: CurrencyCode, buy: CurrencyCode): Fraction | null
}

/** The rates of connections. */
export interface FxMarkets {
  /**
   * Finds the market of a connection. `not_offered`: its provider exchanges nothing. `unusable`: the connection cannot
   * be used, or this node has no adapter for its provider.
   *
   * @param transaction the transaction that the caller is in, if it is in one
   */
  of(connectionId: string, transaction?: Queries): Promise<FxMarket | 'not_offered' | 'unusable'>
  /**
   * Returns rates as data, by which commands compare amounts with limits; no money moves at them. Read from memory. A
   * node without a sandbox has none, and an amount that cannot be compared counts as above the limit.
   */
  rates(): MarketRates
}

export interface FxPartner {
  /**
   * Sends orders. An order without a result timed out.
   *
   * @throws when the whole call failed: the outcome of every order is unknown
   */
  submit(orders: readonly FxOrder[]): Promise<ReadonlyMap<string, FxSubmission>>
  /**
   * Asks for the outcome of references. A reference without an answer is absent.
   *
   * @throws when the partner does not answer
   */
  status(references: readonly string[]): Promise<ReadonlyMap<string, FxStatus>>
}

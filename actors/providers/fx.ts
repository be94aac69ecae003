/**
 * The port to a partner that exchanges currencies. It knows an exchange by our reference (the exchange's id) and takes it once,
 * however often it is sent. Its messages come at least once, in any order, and carry an id of their own.
 */
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { Fraction, FixedSide, Rate } from '../../lib/exchange/rate.ts'

/** An exchange as the partner does it. Amounts are minor units. */
export interface FxOrder {
  readonly reference: string
  readonly shard: number
  /** Ours, whose accounts it takes from and gives to. */
  readonly connectionId: string
  readonly sellCurrency: CurrencyCode
  readonly buyCurrency: CurrencyCode
  readonly fixedSide: FixedSide
  readonly sellAmount: bigint
  readonly buyAmount: bigint
  /** What it has promised when it was asked for a price: the side that is not fixed follows from it. */
  readonly rate: Rate
}

/** What became of one order when it was handed over. `timeout`: nobody knows (I7). */
export type FxSubmission = 'accepted' | 'timeout'

/** What the partner says of one reference when it is asked. */
export type FxStatus =
  | { readonly kind: 'unknown' | 'pending' }
  | { readonly kind: 'settled'; readonly sold: bigint; readonly bought: bigint }
  | { readonly kind: 'refused'; readonly reason: string }

export interface FxMessage {
  /** The partner's own id of this message, the same when it is repeated. */
  readonly id: string
  /** `unclear`: it cannot say what became of it. */
  readonly type: 'settled' | 'refused' | 'unclear'
  readonly reference: string
  readonly shard: number
  /** What it took and what it gave, minor units; null unless it has settled. */
  readonly sold: bigint | null
  readonly bought: bigint | null
  readonly reason: string | null
}

/** Takes messages in; resolves with the ids that need not be sent again. */
export type FxInbox = (messages: readonly FxMessage[]) => Promise<readonly string[]>

export interface FxPartner {
  /**
   * The middle of its market: units bought for one sold, exact. Null where it does not quote the pair. From memory, so that a
   * quote waits for nobody.
   */
  mid(connectionId: string, sell: CurrencyCode, buy: CurrencyCode): Fraction | null
  /** Hands orders over. One without a result timed out. @throws when the whole call failed: nobody knows any of them */
  submit(orders: readonly FxOrder[]): Promise<ReadonlyMap<string, FxSubmission>>
  /** Asks what became of references. Of one that is absent it does not say. @throws when the partner does not answer */
  status(references: readonly string[]): Promise<ReadonlyMap<string, FxStatus>>
}

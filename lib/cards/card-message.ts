/** A message of the card network about a card, as the issuer's adapter translates it. */
import type { Purchase } from './card-limits.ts'
import type { CardNetwork } from './authorisation-expiry.ts'
import type { CardDeclineReason, CardPhase } from './card-transaction.ts'

export interface CardMessage extends Purchase {
  /** The id by which the message counts once; derived from the connection and the network's id of it. */
  readonly id: string
  readonly phase: CardPhase
  /** The network's reference of the transaction: drawn for one that begins, repeated by those that follow. */
  readonly ref: string
  /** Of a refund or force post with a reference of its own: that of the transaction which it belongs to; null for none. */
  readonly relatedRef: string | null
  /** Minor units of the card's currency, the scheme's conversion done. Of an increment and a partial reversal: the difference. */
  readonly amount: bigint
  /** Of a settlement: no other follows. */
  readonly isFinal: boolean
  readonly network: CardNetwork
  readonly merchantName: string
  readonly merchantAmount: bigint
  readonly merchantCurrency: string
  /** The scheme's rate as decimal text; null where it converted nothing. */
  readonly rate: string | null
  /** Why the issuer or the network declines, whatever the balance has; null where it does not. */
  readonly declined: CardDeclineReason | null
}

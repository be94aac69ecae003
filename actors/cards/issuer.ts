/**
 * The port to the issuer of cards. The issuer keeps the numbers and makes the plastic; this service decides what a card
 * may pay.
 */
import type { ProviderId } from '../../lib/providers/provider.ts'
import type { CardType } from '../../lib/cards/card.ts'

export interface CardOrder {
  /** Our id of the card; the issuer takes a repeated order under the same id for the same card. */
  readonly reference: string
  readonly connectionId: string
  readonly type: CardType
  readonly holderUserId: string
  /** The time of the order, epoch milliseconds. */
  readonly at: number
}

/** The facts of a card that its issuer tells. */
export interface IssuedCard {
  readonly last4: string
  /** The last month of validity, `YYYY-MM`. */
  readonly expiry: string
  readonly networkTokenRef: string | null
}

export interface CardIssuer {
  /** Tells whether connections of a provider issue cards. */
  issues(provider: ProviderId): boolean
  /** Orders a card. @throws when the outcome is unknown */
  issue(order: CardOrder): Promise<IssuedCard>
}

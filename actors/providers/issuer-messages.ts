/**
 * The port to the issuer of cards, whose adapter has the ability `cards`. The issuer asks about each authorisation while
 * the merchant waits, and tells what it cannot ask about: clearings, reversals, refunds, disputes.
 *
 * A question that is not answered in time is declined by the issuer; the service declines it then, too.
 */
import type { CardMessage } from '../../lib/cards/card-message.ts'
import type { CardDeclineReason, CardMisfit } from '../../lib/cards/card-transaction.ts'

/** A message as the adapter has translated it. */
export interface CardInstruction {
  /**
   * `question`: the issuer waits for the decision. `fact`: it has happened. `stand_in`: the issuer has declined the
   * authorisation of this reference by itself, whatever the answer was.
   */
  readonly kind: 'question' | 'fact' | 'stand_in'
  /** Our id of the card. */
  readonly cardId: string
  readonly message: CardMessage
  /** The currency of `message.amount`: that of the card, or else the message is not decided. */
  readonly currency: string
}

/** The answer to the issuer. */
export interface CardDecision {
  /** Null where no transaction was written. */
  readonly cardTransactionId: string | null
  readonly approved: boolean
  readonly declineReason: CardDeclineReason | null
  /** Why the message was not used; null where it was. */
  readonly misfit: CardMisfit | 'balance_closed' | 'unknown_card' | 'other_content' | null
}

/** A message as it came: the issuer's id of it, and its bytes. */
export interface RawCardMessage {
  readonly eventId: string
  readonly body: Uint8Array
}

export interface IssuerMessages {
  /** How long the issuer waits for an answer, milliseconds; the way there and back is taken off. */
  readonly decisionMs: number
  /** Reads a message; null for one that cannot be read. Pure. */
  translate(event: RawCardMessage): CardInstruction | null
  /** Makes the answer in the issuer's own words. Pure. */
  answer(decision: CardDecision): {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }
}

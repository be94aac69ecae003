/**
 * The port for a banking partner's messages about incoming money, and for returning that money.
 *
 * The messages arrive at least once, in any order, and each has an id of its own. The partner accepts an order to
 * return a credit only once, however often it is sent.
 */
import type { CreditFacts } from '../../lib/incoming-payments/credit.ts'
import type { IncomingRecallReason } from '../../lib/incoming-payments/incoming-payment.ts'

interface Message {
  /** The partner's id of this message; the same when the message is repeated. */
  readonly id: string
  /** The shard that processes the message: the shard of the customer who owns the money, where the partner knows it. */
  readonly shard: number
  /** The reference of the credit. */
  readonly reference: string
}

export type CreditMessage =
  | (Message & {
      readonly type: 'account.credited'
      readonly connectionId: string
      readonly account: string | null
      readonly credit: CreditFacts
    })
  /** A returned credit has left. */
  | (Message & { readonly type: 'account.credit_returned' })

/** A request of the payer's bank to return a credit. */
export interface CreditRecallRequest {
  /** The partner's own id of the message. */
  readonly id: string
  readonly reference: string
  /** Minor units; null for the whole credit. */
  readonly amount: bigint | null
  readonly reasonCode: IncomingRecallReason
}

/** A credit to return. */
export interface CreditReturn {
  readonly reference: string
  readonly shard: number
  /** The connection on which the credit arrived. */
  readonly connectionId: string
  /** Minor units. */
  readonly amount: bigint
  readonly currency: string
  readonly reasonCode: string
}

export interface CreditPartner {
  /**
   * Returns credits; resolves with the references that the partner has taken.
   *
   * @throws when the whole call failed: the outcome of every return is unknown
   */
  giveBack(returns: readonly CreditReturn[]): Promise<readonly string[]>
}

/** Takes messages; resolves with the ids of the messages that need not be sent again. */
export type CreditInbox = (messages: readonly CreditMessage[]) => Promise<readonly string[]>

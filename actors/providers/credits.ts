/**
 * The port to what a banking partner says about money that comes in, and to how it is given back.
 *
 * Its messages come at least once, in any order, and carry an id of their own. It takes the order to give a credit back
 * once only, however often it is sent.
 */
import type { CreditFacts } from '../../lib/incoming-payments/credit.ts'
import type { RecallReason } from '../../lib/incoming-payments/incoming-payment.ts'

interface Message {
  /** The partner's own id of this message, the same when it is repeated. */
  readonly id: string
  /** Where it is taken in; that of the customer whose money it is, where the partner knows them. */
  readonly shard: number
  /** Names the credit it is about. */
  readonly reference: string
}

export type CreditMessage =
  | Message & { readonly type: 'account.credited'; readonly connectionId: string; readonly account: string | null; readonly credit: CreditFacts }
  /** What was given back has left. */
  | Message & { readonly type: 'account.credit_returned' }

/** The payer's bank wants a credit back. */
export interface RecallRequest {
  /** The partner's own id of the message. */
  readonly id: string
  readonly reference: string
  /** Minor units; null for all of it. */
  readonly amount: bigint | null
  readonly reasonCode: RecallReason
}

/** A credit that goes back. */
export interface CreditReturn {
  readonly reference: string
  readonly shard: number
  /** Where it came in. */
  readonly connectionId: string
  /** Minor units. */
  readonly amount: bigint
  readonly currency: string
  readonly reasonCode: string
}

export interface CreditPartner {
  /** Gives credits back; resolves with the references of those it has taken. @throws when the whole call failed: nobody knows any of them */
  giveBack(returns: readonly CreditReturn[]): Promise<readonly string[]>
}

/** Takes messages in; resolves with the ids that need not be sent again. */
export type CreditInbox = (messages: readonly CreditMessage[]) => Promise<readonly string[]>

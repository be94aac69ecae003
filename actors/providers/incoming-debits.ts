/**
 * The port for a banking partner's messages about direct debits of customers' balances, and for what the partner is told
 * of them.
 *
 * The messages arrive at least once, in any order, and each has an id of its own. The partner takes an answer only once,
 * however often it is sent.
 */
import type { DebitAnswer } from '../../lib/incoming-debits/incoming-debit.ts'
import type { DebitFacts } from '../../lib/incoming-debits/decide-debit.ts'

interface Message {
  /** The partner's id of this message; the same when the message is repeated. */
  readonly id: string
  /** The shard of the customer. */
  readonly shard: number
  /** The reference of the debit. */
  readonly reference: string
}

/** A debit that a creditor collects. `booked`: the partner has taken the money already. */
export type DebitArrival = Message & {
  readonly type: 'debit.announced' | 'debit.booked'
  readonly connectionId: string
  /** The balance; null where the partner does not know the account. */
  readonly account: string | null
  readonly debit: DebitFacts
}

export type IncomingDebitMessage =
  | DebitArrival
  /** The creditor collects it no longer, or the partner has given its money back. */
  | (Message & {
      readonly type: 'debit.withdrawn' | 'debit.given_back'
      readonly reasonCode: string | null
      /** Minor units; null where the partner does not tell. Of another amount than the debit it is about none. */
      readonly amount: bigint | null
    })

/** An answer to the partner about a debit. Amounts are minor units, times epoch milliseconds. */
export interface DebitAnswerOrder {
  readonly reference: string
  readonly connectionId: string
  readonly shard: number
  readonly answer: DebitAnswer
  /** The code of a refusal or refund. */
  readonly reasonCode: string | null
  readonly amount: bigint
  readonly currency: string
  readonly creditorName: string
  readonly debitedAt: number | null
  readonly endedAt: number | null
}

export interface IncomingDebitPartner {
  /**
   * Tells the partner of debits; resolves with the references that the partner has taken.
   *
   * @throws when the whole call failed: the outcome of every answer is unknown
   */
  answerDebits(answers: readonly DebitAnswerOrder[]): Promise<readonly string[]>
}

/** Takes messages; resolves with the ids of the messages that need not be sent again. */
export type IncomingDebitInbox = (messages: readonly IncomingDebitMessage[]) => Promise<readonly string[]>

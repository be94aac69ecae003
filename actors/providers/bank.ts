/**
 * The port to a banking partner. The first adapter is the sandbox bank.
 *
 * A partner knows our payments by our reference (the payment's id) and must accept a reference only once, however often
 * it is sent. The partner's messages arrive at least once, in any order, and each has an id of its own.
 */
import type { BankMessageType } from '../../lib/providers/messages.ts'
import type { PaymentParties } from '../../lib/providers/parties.ts'
import type { PayeeAnswer, PayeeQuestion } from '../../lib/recipients/verification.ts'
import type { Rail } from '../../lib/rails/rails.ts'

export interface PaymentOrder {
  readonly reference: string
  readonly shard: number
  /** Our connection, through which the payment is sent. */
  readonly connectionId: string
  readonly rail: Rail
  readonly currency: string
  /** Minor units. */
  readonly amount: bigint
  readonly creditorName: string
  /**
   * The creditor's account, when it belongs to a balance on this platform: the id by which the partner's credits name
   * the account.
   */
  readonly creditorAccount?: string
  readonly remittance: string
  /** Present where the provider of the connection needs them (`needsParties` of its description). */
  readonly parties?: PaymentParties
}

/**
 * The result of sending one order. `timeout`: the outcome is unknown (I7). `unsent`: the partner cannot have taken the
 * order, because it was never reached or turned the call away as too many. `providerRef`: the partner's own reference.
 *
 * `beforeAcceptance`: the partner has refused the order for good before it took it. Only after this, and after
 * `unsent`, may another connection carry the payment.
 */
export type Submission =
  | { readonly kind: 'accepted'; readonly providerRef?: string }
  | { readonly kind: 'refused'; readonly schemeCode: string; readonly beforeAcceptance?: true }
  | { readonly kind: 'timeout' | 'unsent' }

/** An order about which the partner is asked. */
export interface OrderQuestion {
  readonly reference: string
  readonly connectionId: string
  /** The partner's own reference, where it has told one. */
  readonly providerRef: string | null
  readonly rail: Rail
  readonly currency: string
  /** Minor units. */
  readonly amount: bigint
  /** When the order was handed over, epoch milliseconds. */
  readonly sentAt: number
}

/**
 * The partner's answer to a question about one order. `unasked`: the partner could not be asked. `providerRef`: the
 * partner's own reference, where it tells one.
 */
export type OrderStatus = { readonly providerRef?: string } & (
  | { readonly kind: 'unknown' | 'unasked' | 'pending' | 'settled' }
  | { readonly kind: 'rejected'; readonly schemeCode: string }
  | { readonly kind: 'returned'; readonly schemeCode: string; readonly amount: bigint }
)

export interface BankMessage {
  /** The partner's id of this message; the same when the message is repeated. */
  readonly id: string
  readonly type: BankMessageType
  readonly reference: string
  readonly shard: number
  /** The connection that sent it: it tells nothing of a payment that has moved to another. Absent where it is not known. */
  readonly connectionId?: string
  readonly schemeCode: string | null
  /** The minor units that came back; null unless the type is `returned`. */
  readonly amount: bigint | null
  /** The partner's own reference of the payment, where the message tells it. */
  readonly providerRef?: string
}

/** A recall of a payment that has arrived. */
export interface BankRecallRequest {
  readonly reference: string
  readonly reasonCode: string
  readonly note: string
}

/** Takes recalls. The answer comes as a message: `returned`, or `recall_rejected`. */
export interface RecallPartner {
  /**
   * Sends recalls; the partner ignores a reference that was recalled before.
   *
   * @throws when it is unknown whether they arrived
   */
  recall(requests: readonly BankRecallRequest[]): Promise<void>
}

/** The customer that pays a payee, and the currency. */
export interface PayeeAsker {
  readonly operatorId: string
  readonly customerId: string
  readonly currency: string
}

/** Checks the names of payees with the banks that hold their accounts. */
export interface PayeeVerifier {
  /**
   * Asks the provider of a connection of the customer once; stores nothing of the answer. `not_offered`: no connection
   * of the customer checks names by the scheme in the currency.
   *
   * @throws when the provider does not answer
   */
  verifyPayee(question: PayeeQuestion, asker: PayeeAsker): Promise<PayeeAnswer | 'not_offered'>
}

export interface BankPartner {
  /**
   * Whether calls of a connection leave this process, so that they may take long; absent: none does. Told from memory.
   */
  isOutside?(connectionId: string): boolean
  /**
   * Sends orders. An order without a result timed out.
   *
   * @throws when the whole call failed: the outcome of every order is unknown
   */
  submit(orders: readonly PaymentOrder[]): Promise<ReadonlyMap<string, Submission>>
  /**
   * Asks for the outcome of references. A reference without an answer is absent.
   *
   * @throws when the partner does not answer
   */
  status(references: readonly string[]): Promise<ReadonlyMap<string, OrderStatus>>
}

/** Takes messages; resolves with the ids of the messages that need not be sent again. */
export type BankInbox = (messages: readonly BankMessage[]) => Promise<readonly string[]>

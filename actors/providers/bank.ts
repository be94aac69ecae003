/**
 * The port to a banking partner. One adapter to begin with: the sandbox bank.
 *
 * A partner knows our payments by our reference (the payment's id) and must take a reference once only, however often it
 * is sent. Its messages come at least once, in any order, and carry an id of their own.
 */
import type { PayeeAnswer, PayeeQuestion } from '../../lib/recipients/verification.ts'

export interface PaymentOrder {
  readonly reference: string
  readonly shard: number
  /** Ours, by which it is sent. */
  readonly connectionId: string
  readonly rail: string
  readonly currency: string
  /** Minor units. */
  readonly amount: bigint
  readonly creditorName: string
  /** The creditor's account, where a balance on this platform has it, by the id that the partner's credits name it by. */
  readonly creditorAccount?: string
  readonly remittance: string
}

/** What became of one order when it was handed over. `timeout` means: nobody knows (I7). */
export type Submission =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly schemeCode: string }
  | { readonly kind: 'timeout' }

/** What the partner says of one reference when asked. */
export type OrderStatus =
  | { readonly kind: 'unknown' | 'pending' | 'settled' }
  | { readonly kind: 'rejected'; readonly schemeCode: string }
  | { readonly kind: 'returned'; readonly schemeCode: string; readonly amount: bigint }

export interface BankMessage {
  /** The partner's own id of this message, the same when it is repeated. */
  readonly id: string
  /** `pending`: the partner has it, after nobody knew. `unclear`: it cannot say what became of it. */
  readonly type: 'settled' | 'rejected' | 'returned' | 'pending' | 'unclear' | 'recall_rejected'
  readonly reference: string
  readonly shard: number
  readonly schemeCode: string | null
  /** Minor units that came back; null unless it is `returned`. */
  readonly amount: bigint | null
}

/** A payment that has arrived and is asked back. */
export interface RecallRequest {
  readonly reference: string
  readonly reasonCode: string
  readonly note: string
}

/** Where recalls are passed on. The answer comes as a message: `returned`, or `recall_rejected`. */
export interface RecallPartner {
  /** Passes recalls on; a reference that was asked back before is not asked back again. @throws when nobody knows whether they arrived */
  recall(requests: readonly RecallRequest[]): Promise<void>
}

/** Where names of payees are checked with the banks that keep their accounts. */
export interface PayeeVerifier {
  /** Asks once; nothing of the answer is kept here. @throws when the partner does not answer */
  verifyPayee(question: PayeeQuestion): Promise<PayeeAnswer>
}

export interface BankPartner {
  /** Hands orders over. An order without a result timed out. @throws when the whole call failed: nobody knows any of them */
  submit(orders: readonly PaymentOrder[]): Promise<ReadonlyMap<string, Submission>>
  /** Asks what became of references. Of one that is absent it does not say. @throws when the partner does not answer */
  status(references: readonly string[]): Promise<ReadonlyMap<string, OrderStatus>>
}

/** Takes messages in; resolves with the ids that need not be sent again. */
export type BankInbox = (messages: readonly BankMessage[]) => Promise<readonly string[]>

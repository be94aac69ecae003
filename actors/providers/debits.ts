/**
 * The port to a partner that carries direct debits: it is given mandates to lodge and collections to collect, one by
 * one. A partner that is sent files instead has `sendFile`.
 *
 * A partner knows an order by our reference and accepts a reference only once, however often it is sent. Its messages
 * about mandates and collections arrive at least once, in any order (lib/direct-debits/debit-messages.ts).
 */
import type { CollectionMessage, DebitMessage } from '../../lib/direct-debits/debit-messages.ts'
import type { MandateCounterparty, MandateDirection } from '../../lib/direct-debits/mandate.ts'
import type { SequenceType } from '../../lib/direct-debits/schemes.ts'
import type { MandateScheme } from '../../lib/rails/debit-schemes.ts'

/** The members that orders for mandates and for collections share. */
interface DebitOrder {
  /** Of a mandate its id, of a collection the id of this presentation of it, of a reversal its own. */
  readonly reference: string
  readonly shard: number
  readonly connectionId: string
  readonly mandateId: string
  readonly scheme: MandateScheme
  readonly currency: string
  readonly counterparty: MandateCounterparty
  /** The reference that the payer knows the mandate by. */
  readonly mandateReference: string
  /** When we made the mandate or the collection, epoch milliseconds. */
  readonly createdAt: number
}

/**
 * A mandate to be lodged with the scheme, or with the debtor's bank. By one of direction `pay` our customer is the
 * debtor: its bank learns of its consent.
 */
export interface MandateOrder extends DebitOrder {
  readonly direction: MandateDirection
  readonly creditorId: string | null
  readonly creditorName: string | null
  /** Epoch milliseconds. */
  readonly signedAt: number | null
}

/** A collection to be presented. */
export interface CollectionOrder extends DebitOrder {
  readonly collectionId: string
  /** 1 for the first presentation. */
  readonly attempt: number
  /** Minor units. */
  readonly amount: bigint
  /** `YYYY-MM-DD`. */
  readonly dueDate: string
  readonly sequenceType: SequenceType
  readonly remittance: string
  readonly endToEndId: string
}

/** A collection to be sent back to its payer. */
export interface ReversalOrder extends DebitOrder {
  readonly collectionId: string
  /** The reference of the presentation that was collected, and the partner's own; null: it has none. */
  readonly presentation: string
  readonly providerRef: string | null
  /** Minor units. */
  readonly amount: bigint
  readonly endToEndId: string
  /** MS02, AM05 or DUPL. */
  readonly reasonCode: string
}

/** The result of one order. `timeout`: the outcome is unknown (I7). `unsent`: the partner cannot have taken it. */
export type DebitSubmission =
  | { readonly kind: 'accepted'; readonly providerRef: string }
  | { readonly kind: 'refused'; readonly reasonCode: string }
  | { readonly kind: 'timeout' | 'unsent' }

/**
 * The partner's answer about one order. `unknown`: the partner is sure that it never got the order. `unasked`: the
 * partner could not be asked.
 */
export type DebitStatus =
  | { readonly kind: 'unknown' | 'unasked' }
  | { readonly kind: 'taken'; readonly providerRef: string }
  | { readonly kind: 'refused'; readonly reasonCode: string }

/** An order about which the partner is asked. */
export interface DebitQuestion {
  readonly reference: string
  readonly connectionId: string
}

/** The direct debits of a partner. A call that throws has an unknown outcome, and is never repeated blindly. */
export interface DebitPartner {
  /** Lodges mandates. An order without a result timed out. @throws when the outcome of every order is unknown */
  lodge(mandates: readonly MandateOrder[]): Promise<ReadonlyMap<string, DebitSubmission>>
  /** Presents collections. An order without a result timed out. @throws when the outcome of every order is unknown */
  submit(collections: readonly CollectionOrder[]): Promise<ReadonlyMap<string, DebitSubmission>>
  /**
   * Sends collected money back. The outcome follows as `collection.reversed` or `collection.reversal_refused`. An order
   * without a result timed out. @throws when the outcome of every order is unknown
   */
  reverse(reversals: readonly ReversalOrder[]): Promise<ReadonlyMap<string, DebitSubmission>>
  /**
   * Ends mandates; one that has ended before, or never arrived, has ended. @returns the references of those that have
   * ended; the others are told again @throws when it is unknown whether any has ended
   */
  cancel(mandates: readonly DebitQuestion[]): Promise<ReadonlySet<string>>
  /** Asks for the outcome of orders; one without an answer is absent. @throws when the partner does not answer */
  status(questions: readonly DebitQuestion[]): Promise<ReadonlyMap<string, DebitStatus>>
}

/** A message about a collection of which a file of the partner tells; the reference is the collection's id. */
export type CollectionTold = Omit<CollectionMessage, 'collectionId' | 'connectionId'> & {
  readonly reference: string
  readonly shard: number
  readonly connectionId: string
}

/** Takes messages; resolves with the ids of the messages that need not be sent again. */
export type TakeDebitMessages = (messages: readonly DebitMessage[]) => Promise<readonly string[]>

/**
 * What banks, response files, staff and simulations tell about mandates and collections, in neutral words. Each message
 * has an id and counts once; each asks for one move of the tables (mandate-moves.ts, collection-moves.ts). A message that
 * fits no row changes nothing and is kept.
 */
import type { DirectDebitMessageType } from '../providers/messages.ts'
import type { MandateCounterparty } from './mandate.ts'
import type { RTransactionType } from './reason-codes.ts'

/** Who tells. `system`: a timer of this service. */
export type DebitSource = 'partner' | 'member' | 'staff' | 'system'

interface Told {
  /** The id under which the message counts once. */
  readonly id: string
  /** The connection that tells; a mandate of another connection is not changed. Null: staff or the service. */
  readonly connectionId: string | null
  readonly source: DebitSource
  /** The scheme's reason code, or null. */
  readonly reasonCode: string | null
  /** The bank's reference of the mandate or the collection; null: not told. */
  readonly providerRef: string | null
}

/** A message about a mandate. */
export interface MandateMessage extends Told {
  readonly type: Extract<DirectDebitMessageType, `mandate.${string}`>
  readonly mandateId: string
  /** Of `mandate.active`: when it was signed, epoch milliseconds, where the report tells. */
  readonly signedAt?: number | null
  /** Of `mandate.amended`: the members of the counterparty that change. */
  readonly amendment?: Partial<MandateCounterparty>
}

/** A message about a collection. */
export interface CollectionMessage extends Told {
  readonly type: Extract<DirectDebitMessageType, `collection.${string}`>
  readonly collectionId: string
  /** Of a reject or a return; null: by its reason code. */
  readonly rType: RTransactionType | null
  /** Minor units: of a return what came back, which may exceed the amount; null: the whole amount. */
  readonly amount: bigint | null
  /** `YYYY-MM-DD`: the day on which the bank booked the money; null: today in the scheme's zone. */
  readonly bookedOn: string | null
  /** Of `collection.submitted`: the file that carries it. */
  readonly fileId?: string | null
}

export type DebitMessage = MandateMessage | CollectionMessage

/** Whether a message is about a mandate. */
export const isMandateMessage = (message: DebitMessage): message is MandateMessage => 'mandateId' in message

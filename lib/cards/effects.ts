/** Rows that decisions about cards write; see lib/decisions/effects.ts. Amounts are minor units, times epoch milliseconds. */
import type { CardStatus } from './card.ts'
import type {
  CardDeclineReason,
  CardPhase,
  CardSums,
  CardTransactionState,
  CardTransactionStatus,
} from './card-transaction.ts'

/** The row of a new card transaction. */
export interface CardTransactionRow extends Omit<CardTransactionState, 'version'> {
  /** The purchase as the merchant wrote it; equal to the billing amount where the currencies are. */
  readonly merchantAmount: bigint
  readonly merchantCurrency: string
  /** The scheme's rate, billing currency for one of the merchant's, as decimal text; null where no conversion was made. */
  readonly rate: string | null
  /** The transaction that an unlinked refund or a late message belongs to, where the network names one. */
  readonly relatedTransactionId: string | null
  readonly createdAt: number
}

/** A message of the network that was decided. */
export interface CardEventRow {
  readonly id: string
  readonly transactionId: string
  readonly phase: CardPhase
  readonly amount: bigint
  readonly fee: bigint
  /** Null where the message was not declined. */
  readonly declineReason: CardDeclineReason | null
  readonly at: number
  /** The purchase as the merchant wrote it. */
  readonly merchantAmount: bigint
  readonly merchantCurrency: string
  /** The scheme's rate; null where no conversion was made. */
  readonly rate: string | null
  /** The markup on the conversion, within the fee. */
  readonly markup: bigint
  /** The entry that the message has booked; null where it moved no money. */
  readonly entryId: string | null
}

/** A change of a card transaction. */
export interface CardTransactionChange extends CardSums {
  readonly id: string
  /** The version that the decision was made on; the commit refuses any other (I3). */
  readonly version: number
  readonly status: CardTransactionStatus
  readonly markup: bigint
  readonly holdId: string | null
  readonly expiresAt: number | null
  readonly updatedAt: number
}

/** A change of a card by its use. */
export interface CardUseChange {
  readonly id: string
  /** The version that the decision was made on; the commit refuses any other (I3). */
  readonly version: number
  readonly status: CardStatus
  readonly payments: number
  /** JSON text. */
  readonly used: string
  readonly updatedAt: number
}

declare module '../decisions/effects.ts' {
  interface ObjectStatuses {
    readonly card: CardStatus
    readonly card_transaction: CardTransactionStatus
  }
  interface Effects {
    readonly cardTransactions?: readonly CardTransactionRow[]
    readonly cardTransactionChanges?: readonly CardTransactionChange[]
    readonly cardEvents?: readonly CardEventRow[]
    readonly cardUses?: readonly CardUseChange[]
  }
}

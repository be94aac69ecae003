/**
 * Transactions: every movement of money as its customer sees it, with its status, its form in the API and its relations
 * to others.
 */
import type { ObjectStatus } from '../decisions/effects.ts'
import type { CardFacts } from './card-facts.ts'
import type { SourceObject } from '../ledger/posting.ts'
import type { TransactionType } from '../ledger/postings.ts'
import { timestamp } from '../base/clock.ts'
import type { CurrencyCode } from '../base/currency.ts'
import { moneyJson } from '../base/money.ts'
import type { Rail } from '../rails/rails.ts'

export const TRANSACTION_STATUSES = ['pending', 'on_hold', 'completed', 'failed', 'cancelled', 'returned'] as const
export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number]

/**
 * Converts the status of a payment, exchange or other cause to that of its transaction; the database computes the same.
 */
export function transactionStatus(status: ObjectStatus): TransactionStatus {
  switch (status) {
    case 'completed':
    case 'returned':
    case 'cancelled':
    case 'on_hold':
    case 'failed':
      return status
    case 'received':
      return 'completed'
    case 'rejected':
      return 'failed'
    case 'expired':
      return 'cancelled'
    default:
      return 'pending'
  }
}

/** A transaction as storage reads it. Amounts are minor units, times epoch milliseconds. */
export interface TransactionRecord {
  readonly id: string
  readonly customerId: string
  readonly balanceId: string
  readonly type: TransactionType
  readonly status: TransactionStatus
  readonly direction: 'in' | 'out'
  readonly currency: CurrencyCode
  readonly amount: bigint
  readonly fee: bigint
  /** The tax within the fee. */
  readonly feeTax: bigint
  readonly orderId: string | null
  readonly description: string
  readonly counterpartyName: string | null
  readonly counterpartyIdentifier: string | null
  readonly recipientId: string | null
  readonly reference: string | null
  readonly rail: Rail | null
  readonly category: string | null
  readonly sourceObject: SourceObject
  readonly sourceId: string
  readonly exchange: {
    readonly rate: string
    readonly sellAmount: bigint
    readonly sellCurrency: CurrencyCode
    readonly buyAmount: bigint
    readonly buyCurrency: CurrencyCode
  } | null
  /** The card and its merchant; null for other transactions. */
  readonly card: CardFacts | null
  readonly runningBalance: bigint | null
  readonly bookedAt: number | null
  readonly valueDate: string | null
  readonly attachmentCount: number
  readonly annotationCount: number
  readonly version: bigint
  readonly createdAt: number
  readonly updatedAt: number
}

/** Makes the transaction as the API shows it. */
export function transactionJson(record: TransactionRecord) {
  const { currency, exchange, counterpartyName: name, counterpartyIdentifier: maskedIdentifier, recipientId } = record
  const money = (amountMinor: bigint) => moneyJson({ amountMinor, currency })
  return {
    id: record.id,
    customerId: record.customerId,
    balanceId: record.balanceId,
    type: record.type,
    status: record.status,
    direction: record.direction,
    amount: money(record.amount),
    fee: record.fee === 0n ? null : money(record.fee),
    feeTax: record.feeTax === 0n ? null : money(record.feeTax),
    orderId: record.orderId,
    description: record.description,
    counterparty: name === null && maskedIdentifier === null ? null : { name, maskedIdentifier, recipientId },
    reference: record.reference,
    rail: record.rail,
    category: record.category,
    source: { object: record.sourceObject, id: record.sourceId },
    exchange:
      exchange === null
        ? null
        : {
            rate: exchange.rate,
            sellAmount: moneyJson({ amountMinor: exchange.sellAmount, currency: exchange.sellCurrency }),
            buyAmount: moneyJson({ amountMinor: exchange.buyAmount, currency: exchange.buyCurrency }),
          },
    merchant: record.card?.merchant ?? null,
    cardId: record.card?.id ?? null,
    hasAttachments: record.attachmentCount > 0,
    attachmentCount: record.attachmentCount,
    annotationCount: record.annotationCount,
    runningBalance: record.runningBalance === null ? null : money(record.runningBalance),
    createdAt: timestamp(record.createdAt),
    bookedAt: record.bookedAt === null ? null : timestamp(record.bookedAt),
    valueDate: record.valueDate,
    updatedAt: timestamp(record.updatedAt),
  }
}

/** Another transaction with the same cause. */
export interface Sibling {
  readonly id: string
  readonly type: TransactionType
}

/**
 * Returns the objects related to a transaction: its cause, and the other transactions of that cause. `relation` tells
 * what this transaction is to the other: the return of a payment, the fee of a payment.
 */
export function relatedOf(
  { id, type, sourceObject, sourceId }: Pick<TransactionRecord, 'id' | 'type' | 'sourceObject' | 'sourceId'>,
  siblings: readonly Sibling[],
) {
  const relation = relationOf(type)
  const others = siblings
    .filter((sibling) => sibling.id !== id)
    .map((sibling) => ({
      object: 'transaction',
      id: sibling.id,
      relation: sibling.id === sourceId ? relation : ('counterpart' as const),
    }))
  return [...(relation === 'counterpart' ? [] : [{ object: sourceObject, id: sourceId, relation }]), ...others]
}

function relationOf(type: TransactionType): 'return_of' | 'recall_of' | 'refund_of' | 'fee_of' | 'counterpart' {
  switch (type) {
    case 'payment_return':
      return 'return_of'
    case 'incoming_payment_return':
      return 'recall_of'
    case 'fee':
      return 'fee_of'
    case 'fee_refund':
    case 'direct_debit_refund':
    case 'card_refund':
      return 'refund_of'
    default:
      return 'counterpart'
  }
}

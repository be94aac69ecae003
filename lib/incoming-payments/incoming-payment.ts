/**
 * Money that arrives from outside: its stored form, and its forms for the customer and for the operator's staff.
 *
 *   (no owner)  unallocated ──allocate──▶ received ──recall accepted──▶ returned
 *                    └──────give back──▶ returned
 *   (screened)  under_review ──release──▶ received
 *                    └────────block─────▶ returned
 *
 * The customer sees an incoming payment from the time when the balance is credited, and never one that was sent back
 * before.
 */
import { timestamp } from '../base/clock.ts'
import type { CurrencyCode } from '../base/currency.ts'
import { moneyJson } from '../base/money.ts'
import type { Rail } from '../rails/rails.ts'
import { transactionId } from '../ledger/transaction-id.ts'

export type IncomingStatus = 'unallocated' | 'under_review' | 'received' | 'returned'
/** The statuses that customers see. */
export const SHOWN_STATUSES = ['received', 'under_review', 'returned'] as const

export const RECALL_REASONS = ['DUPL', 'FRAD', 'TECH', 'AC03', 'AM09', 'CUST'] as const
export type IncomingRecallReason = (typeof RECALL_REASONS)[number]

export const SUSPENSE_STATUSES = ['open', 'allocated', 'returned'] as const
export type SuspenseStatus = (typeof SUSPENSE_STATUSES)[number]
/** The reasons why money is in suspense. */
export const SUSPENSE_REASONS = ['owner_unknown', 'balance_closed', 'currency_mismatch'] as const
export type SuspenseReason = (typeof SUSPENSE_REASONS)[number]

/** A request of the payer's bank to send the money back. */
export interface IncomingRecall {
  readonly status: 'requested' | 'accepted' | 'rejected'
  readonly reasonCode: IncomingRecallReason
  /** Minor units. */
  readonly amount: string
  /** The compliance case in which staff decide. */
  readonly caseId: string
  readonly requestedAt: string
  readonly decidedAt: string | null
  /** The code of a rejection. */
  readonly rejectionCode: string | null
}

export interface IncomingRecord {
  readonly id: string
  readonly customerId: string | null
  readonly balanceId: string | null
  readonly operatorId: string
  readonly connectionId: string
  readonly shard: number
  readonly status: IncomingStatus
  readonly version: number
  readonly currency: string
  readonly amount: bigint
  readonly payerName: string | null
  readonly payerIdentifier: string | null
  readonly payerBankName: string | null
  readonly payerCountry: string | null
  readonly reference: string | null
  readonly rail: Rail | null
  readonly endToEndId: string | null
  readonly uetr: string | null
  readonly fundsRequestId: string | null
  readonly valueDate: string
  /** Epoch milliseconds, as all times. Null: no balance was credited, or not yet. */
  readonly creditedAt: number | null
  readonly receivedAt: number
  readonly suspense: SuspenseStatus | null
  readonly suspenseReason: SuspenseReason | null
  readonly decidedBy: string | null
  readonly decidedAt: number | null
  readonly decisionReason: string | null
  readonly recall: IncomingRecall | null
  readonly recallHoldId: string | null
  readonly returnedAmount: bigint | null
  readonly returnReason: string | null
  /** `due`: the partner must be told. `sent`: the partner was told. `settled`: the money has left. */
  readonly returnState: 'due' | 'sent' | 'settled' | null
}

/** The fields that a move changes. An absent member leaves its field as it is. */
export interface IncomingChange {
  readonly status?: IncomingRecord['status']
  readonly customerId?: string
  readonly balanceId?: string
  readonly shard?: number
  readonly creditedAt?: number
  readonly suspense?: IncomingRecord['suspense']
  readonly decidedBy?: string
  readonly decidedAt?: number
  readonly decisionReason?: string | null
  readonly recall?: IncomingRecord['recall']
  readonly recallHoldId?: string | null
  readonly returnedAmount?: bigint
  readonly returnReason?: string
  readonly returnState?: IncomingRecord['returnState']
}

const payerOf = ({
  payerName: name,
  payerIdentifier: maskedIdentifier,
  payerBankName: bankName,
  payerCountry: country,
}: IncomingRecord) => ({ name, maskedIdentifier, bankName, country })

/** Makes the incoming payment as its customer sees it. */
export function incomingPaymentJson(record: IncomingRecord) {
  const { recall } = record
  return {
    id: record.id,
    customerId: record.customerId as string,
    balanceId: record.balanceId as string,
    status: record.status as (typeof SHOWN_STATUSES)[number],
    amount: moneyJson({ amountMinor: record.amount, currency: record.currency as CurrencyCode }),
    rail: record.rail,
    payer: payerOf(record),
    reference: record.reference,
    endToEndId: record.endToEndId,
    uetr: record.uetr,
    fundsRequestId: record.fundsRequestId,
    transactionId: transactionId(record.id),
    valueDate: record.valueDate,
    // The time when the customer got the money: the customer must not learn of a review before it.
    receivedAt: timestamp(record.creditedAt ?? record.receivedAt),
    recall:
      recall === null
        ? null
        : {
            status: recall.status,
            reasonCode: recall.reasonCode,
            requestedAt: recall.requestedAt,
            decidedAt: recall.decidedAt,
          },
  }
}

/** Makes the suspense item as staff see it. */
export function suspenseItemJson(record: IncomingRecord) {
  return {
    id: record.id,
    status: record.suspense as SuspenseStatus,
    reason: record.suspenseReason as SuspenseReason,
    amount: moneyJson({ amountMinor: record.amount, currency: record.currency as CurrencyCode }),
    connectionId: record.connectionId,
    rail: record.rail,
    payer: payerOf(record),
    reference: record.reference,
    endToEndId: record.endToEndId,
    uetr: record.uetr,
    valueDate: record.valueDate,
    customerId: record.customerId,
    balanceId: record.balanceId,
    incomingPaymentId: record.creditedAt === null ? null : record.id,
    returnReasonCode: record.suspense === 'returned' ? record.returnReason : null,
    decidedBy: record.decidedBy,
    decidedAt: record.decidedAt === null ? null : timestamp(record.decidedAt),
    decisionReason: record.decisionReason,
    receivedAt: timestamp(record.receivedAt),
  }
}

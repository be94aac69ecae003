/**
 * A direct debit that a creditor collects from a customer's balance: its stored form, and its form for the customer.
 *
 *   announced ──due──▶ debited ──refund──▶ refunded
 *       ▲  └──────────▶ refused     └──return──▶ returned
 *       │ confirm            ▲
 *   pending_confirmation ────┘
 */
import { timestamp } from '../base/clock.ts'
import type { CurrencyCode } from '../base/currency.ts'
import { moneyJson } from '../base/money.ts'
import { transactionId } from '../ledger/transaction-id.ts'
import type { MandateScheme } from '../rails/debit-schemes.ts'
import { REFUSALS, type RefusalReason } from './refusals.ts'
import { refundEnd, type RefundReason } from './schemes.ts'

/**
 * `announced`: its due date is to come. `pending_confirmation`: the customer has to confirm the mandate first.
 * `returned`: the bank or the creditor has given the money back. `refunded`: at the customer's wish.
 */
export const INCOMING_DEBIT_STATUSES = [
  'announced',
  'pending_confirmation',
  'debited',
  'refused',
  'returned',
  'refunded',
] as const
export type IncomingDebitStatus = (typeof INCOMING_DEBIT_STATUSES)[number]

/** The outcomes that the bank is told: the debit is accepted, refused, or has to be refunded. */
export const DEBIT_ANSWERS = ['accept', 'refuse', 'refund'] as const
export type DebitAnswer = (typeof DEBIT_ANSWERS)[number]

/** Times are epoch milliseconds, amounts minor units, days `YYYY-MM-DD`. */
export interface IncomingDebitRecord {
  /** The bank's reference of the debit, which is its id here too, so that it cannot exist twice. */
  readonly id: string
  readonly customerId: string
  readonly balanceId: string
  readonly operatorId: string
  readonly connectionId: string
  readonly shard: number
  readonly status: IncomingDebitStatus
  readonly version: number
  readonly scheme: MandateScheme
  readonly currency: string
  readonly amount: bigint
  readonly creditorName: string
  readonly creditorId: string | null
  readonly mandateReference: string | null
  /** The mandate as the payer's side keeps it; null for a debit that names none. */
  readonly mandateId: string | null
  readonly reference: string | null
  readonly endToEndId: string | null
  readonly dueDate: string
  /** Whether the bank had taken the money before it told of the debit. */
  readonly isBooked: boolean
  /** When the debit is decided; null when it is. */
  readonly dueAt: number | null
  readonly refusal: RefusalReason | null
  /** The code of a refusal, return or refund. */
  readonly reasonCode: string | null
  /** The entry of the debit (L60), and of the money that came back (L61). */
  readonly entryId: string | null
  readonly backEntryId: string | null
  readonly debitedAt: number | null
  /** When it was refused, returned or refunded. */
  readonly endedAt: number | null
  /** The outcome that the bank is told next, and when; null when there is nothing to tell. */
  readonly answer: DebitAnswer | null
  readonly answerDueAt: number | null
  readonly receivedAt: number
  readonly updatedAt: number
}

/** The moment until which a refund may be asked for, as text; null: not, or without an end. */
function refundableUntil(
  { scheme, status, debitedAt }: Pick<IncomingDebitRecord, 'scheme' | 'status' | 'debitedAt'>,
  reason: RefundReason,
): string | null {
  if (status !== 'debited' || debitedAt === null) return null
  const end = refundEnd(scheme, reason, debitedAt)
  return end === null || end === Number.POSITIVE_INFINITY ? null : timestamp(end)
}

/** Makes the incoming debit as its customer sees it. */
export function incomingDebitJson(record: IncomingDebitRecord) {
  const { refusal, entryId, backEntryId } = record
  const timeOrNull = (ms: number | null): string | null => (ms === null ? null : timestamp(ms))
  return {
    id: record.id,
    customerId: record.customerId,
    balanceId: record.balanceId,
    status: record.status,
    scheme: record.scheme,
    amount: moneyJson({ amountMinor: record.amount, currency: record.currency as CurrencyCode }),
    creditor: { name: record.creditorName, identifier: record.creditorId },
    mandateReference: record.mandateReference,
    reference: record.reference,
    endToEndId: record.endToEndId,
    dueDate: record.dueDate,
    reasonCode: record.reasonCode,
    reason: refusal === null ? null : REFUSALS[refusal].text,
    refundableUntil: refundableUntil(record, 'MD06'),
    unauthorisedRefundUntil: refundableUntil(record, 'MD01'),
    transactionId: entryId,
    returnTransactionId: backEntryId === null ? null : transactionId(backEntryId, 'other_side'),
    receivedAt: timestamp(record.receivedAt),
    debitedAt: timeOrNull(record.debitedAt),
    endedAt: timeOrNull(record.endedAt),
    updatedAt: timestamp(record.updatedAt),
  }
}

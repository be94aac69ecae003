/** The rows that write a payment at its creation, or in the place of its draft. */
import type { BalanceState } from '../balances/balance.ts'
import type { CommandKey } from '../balances/decision.ts'
import type { HoldRow, IdempotencyRow, OutboxEvent, StatusUpdate } from '../decisions/effects.ts'
import type { PaymentRewrite, PaymentRow } from './effects.ts'
import { givenOf } from './given-schema.ts'
import { paymentJson, type PaymentRecord } from './payment.ts'

/** The columns that a new payment and a draft that is submitted write alike. */
const termsOf = (payment: PaymentRecord) => ({
  id: payment.id,
  connectionId: payment.connectionId,
  ...givenOf(payment),
  status: payment.status,
  sourceBalanceId: payment.sourceBalanceId,
  recipientId: payment.recipientId,
  currency: payment.currency,
  amount: payment.amount,
  fee: payment.fee,
  rail: payment.rail,
  executionDate: payment.executionDate,
  details: JSON.stringify(payment.details),
  metadata: hasMembers(payment.metadata) ? JSON.stringify(payment.metadata) : null,
})

/** Makes the row of a new payment. */
export function paymentRow(
  payment: PaymentRecord,
  { operatorId, shard }: Pick<BalanceState, 'operatorId' | 'shard'>,
  holdId: string | null,
  payingBalanceId: string,
): PaymentRow {
  return {
    ...termsOf(payment),
    customerId: payment.customerId,
    operatorId,
    shard,
    number: payment.number,
    payingBalanceId,
    holdId,
    createdBy: payment.createdBy,
    createdVia: payment.createdVia,
    createdAt: payment.createdAt,
    ...(payment.routing === null ? {} : { routing: JSON.stringify(payment.routing) }),
    ...(payment.scheduledPaymentId === null ? {} : { scheduledPaymentId: payment.scheduledPaymentId }),
  }
}

/** Makes the row that replaces a draft. */
export function rewriteOf(
  payment: PaymentRecord,
  { holdId, payingBalanceId, version }: Pick<PaymentRewrite, 'holdId' | 'payingBalanceId' | 'version'>,
): PaymentRewrite {
  return {
    ...termsOf(payment),
    routing: payment.routing === null ? null : JSON.stringify(payment.routing),
    version,
    payingBalanceId,
    holdId,
    updatedAt: payment.updatedAt,
  }
}

/** Makes the hold of the payment's money, `amount` minor units, on the balance that pays. */
export const paymentHold = (payment: PaymentRecord, holdId: string, amount: bigint): HoldRow => ({
  id: holdId,
  balanceId: payment.sourceBalanceId,
  customerId: payment.customerId,
  amount,
  subjectType: 'payment',
  subjectId: payment.id,
  description: `Payment ${payment.number}`,
  createdAt: payment.updatedAt,
})

/** Makes the first line of the update log, or the line of a submitted draft. */
export const creationUpdate = (payment: PaymentRecord, isDraft: boolean): StatusUpdate => ({
  objectId: payment.id,
  version: payment.version,
  customerId: payment.customerId,
  status: payment.status,
  previousStatus: isDraft ? 'draft' : null,
  message: payment.status === 'pending_approval' ? 'Payment submitted for approval.' : 'Payment submitted.',
  actor: 'member',
  at: payment.updatedAt,
})

/** Makes the event `payment.created`, which is sent for a draft when it is submitted. */
export const creationEvent = (
  payment: PaymentRecord,
  { operatorId, shard }: Pick<BalanceState, 'operatorId' | 'shard'>,
  eventId: string,
): OutboxEvent => ({
  id: eventId,
  createdAt: payment.updatedAt,
  customerId: payment.customerId,
  operatorId,
  shard,
  type: 'payment.created',
  object: 'payment',
  objectId: payment.id,
  status: payment.status,
  previousStatus: null,
  amount: payment.amount,
  currency: payment.currency,
})

/**
 * Makes the record of the command's key. The answer of a creation can be built again from the payment. A draft has had
 * other answers before, so its answer is stored.
 */
export const creationKey = (key: CommandKey, payment: PaymentRecord, isDraft: boolean): IdempotencyRow => ({
  ...key,
  resourceType: 'payment',
  resourceId: payment.id,
  createdAt: payment.updatedAt,
  status: isDraft ? 200 : 201,
  answer: isDraft ? JSON.stringify(paymentJson(payment, payment.details.queued)) : null,
})

const hasMembers = (record: Readonly<Record<string, string>>): boolean => {
  for (const _ in record) return true
  return false
}

/**
 * Decides what a payment on the rail `internal` writes: one entry debits the paying balance and credits the payee's
 * balance. No partner takes part, so a payment that was booked is completed, and is never returned. Where the two
 * balances sit at two connections, a second entry moves the cash between their accounts (L21), and an order tells their
 * banks to do the same.
 */
import { ON_PLATFORM_RAIL } from '../rails/rails.ts'
import { timestamp } from '../base/clock.ts'
import { failureFor } from '../rails/failure-codes.ts'
import { feePostings, incomingEvent, incomingFee } from '../incoming-payments/postings.ts'
import type { IncomingPaymentRow } from '../incoming-payments/effects.ts'
import { entry, NO_BALANCE } from '../ledger/entry.ts'
import type { Posting } from '../ledger/posting.ts'
import type { CashOrderRow } from '../providers/effects.ts'
import { transactionId } from '../ledger/transaction-id.ts'
import { amountsOf, changeEvents, heldBy, holdReleased, moved, outflowReturn, UNCHANGED, update } from './move-parts.ts'
import type { InternalPayee, PaymentMoveContext, PaymentDecision, PaymentState } from './payment-state.ts'

/** The bank scheme's code for a closed account. */
const CLOSED_CODE = 'AC04'

/**
 * Books the payment (L20, and L21 between two connections): one commit captures the hold, credits the payee's balance
 * and writes the payee's incoming payment. The commit refuses a closed payee's balance (`credit_refused`), a stopped
 * paying balance (`debit_refused`), and balances that have moved to another connection (`fact_stale`), and then writes
 * nothing.
 */
export function book(
  payment: PaymentState,
  payee: InternalPayee,
  context: PaymentMoveContext,
  now: number,
): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, sent: true, status: 'completed' }
  const total = payment.amount + payment.fee
  const row = incomingRow(payment, payee, context, now)
  const fee = incomingFee(payee.fees, row)
  return moved(next, {
    paymentChanges: [
      {
        ...UNCHANGED,
        id: payment.id,
        version: payment.version,
        status: 'completed',
        sentAt: now,
        completedAt: now,
        updatedAt: now,
      },
    ],
    holdResolutions: [
      {
        id: heldBy(payment),
        balanceId: payment.payingBalanceId,
        amount: total,
        status: 'captured',
        capturedAmount: total,
        resolvedAt: now,
      },
    ],
    postings: [
      ...entry({
        rule: 'L20',
        variant: 'payment',
        amounts: amountsOf(payment),
        currency: payment.currency,
        accounts: context.accounts,
        balances: { from: payment.payingBalanceId, to: { id: payee.balanceId, fence: 'open' } },
        entryId: context.ids.next(),
        customerId: payment.customerId,
        source: { object: 'payment', id: payment.id },
        description: `Payment ${payment.number}`,
        reference: payment.reference,
        counterparty: payment.recipientName,
        bookedAt: now,
        valueDate: context.valueDate,
      }),
      ...cashLeg(payment, payee, context, now),
      ...feePostings(fee, row, {
        accounts: context.accounts,
        entryId: context.ids.next(),
        bookedAt: now,
        valueDate: context.valueDate,
      }),
    ],
    credits: [{ balanceId: payee.balanceId, currency: payment.currency }],
    debits: [{ balanceId: payment.payingBalanceId }],
    places: [
      { balanceId: payment.payingBalanceId, connectionId: payee.payerConnectionId },
      { balanceId: payee.balanceId, connectionId: payee.connectionId },
    ],
    cashOrders: cashOrder(payment, payee, now),
    incomingPayments: [row],
    statusUpdates: [update(payment, next, 'Payment completed.', 'system', now)],
    events: [
      ...changeEvents(payment, next, context, now),
      incomingEvent(row, {
        id: context.ids.next(),
        type: 'incoming_payment.received',
        status: 'received',
        previousStatus: null,
        at: now,
      }),
    ],
    instructionsDone: [payment.id],
  })
}

/** The cash leg (L21) of a payment between two connections. */
function cashLeg(
  payment: PaymentState,
  { cash }: InternalPayee,
  { ids, valueDate }: PaymentMoveContext,
  now: number,
): readonly Posting[] {
  if (cash === null) return []
  return entry({
    rule: 'L21',
    amounts: { A: payment.amount },
    currency: payment.currency,
    accounts: cash.from,
    toAccounts: cash.to,
    balances: NO_BALANCE,
    entryId: ids.next(),
    customerId: payment.customerId,
    source: { object: 'payment', id: payment.id },
    description: `Cash of payment ${payment.number}`,
    bookedAt: now,
    valueDate,
  })
}

function cashOrder(
  { id, customerId, operatorId, shard, currency, amount }: PaymentState,
  { cash, payerConnectionId: fromConnectionId, connectionId: toConnectionId }: InternalPayee,
  now: number,
): readonly CashOrderRow[] {
  if (cash === null) return []
  return [
    {
      ...{ id, subjectObject: 'payment', subjectId: id, customerId, operatorId, shard },
      ...{ fromConnectionId, toConnectionId, currency, amount, createdAt: now, dueAt: now },
    },
  ]
}

/** Fails the payment because the payee's balance is closed: no money was moved, and the hold is released. */
export function refuseClosed(
  payment: PaymentState,
  { ids }: Pick<PaymentMoveContext, 'ids'>,
  now: number,
): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'failed' }
  const failure = { ...failureFor(CLOSED_CODE), at: timestamp(now) }
  return moved(next, {
    paymentChanges: [
      {
        ...UNCHANGED,
        id: payment.id,
        version: payment.version,
        status: 'failed',
        failure: JSON.stringify(failure),
        failedAt: now,
        updatedAt: now,
      },
    ],
    holdResolutions: [holdReleased(payment, now)],
    statusUpdates: [update(payment, next, failure.message, 'system', now)],
    events: changeEvents(payment, next, { ids }, now),
    instructionsDone: [payment.id],
    outflowReturns: [outflowReturn(payment)],
  })
}

/** Derives the id of the incoming payment from that of the payment, so that a payment arrives once. */
function incomingRow(
  payment: PaymentState,
  payee: InternalPayee,
  { valueDate }: PaymentMoveContext,
  now: number,
): IncomingPaymentRow {
  const { name, maskedIdentifier, bankName, country } = payee.payer
  return {
    id: transactionId(payment.id, 'other_side'),
    customerId: payee.customerId,
    balanceId: payee.balanceId,
    operatorId: payment.operatorId,
    connectionId: payee.connectionId,
    shard: payee.shard,
    status: 'received',
    currency: payment.currency,
    amount: payment.amount,
    payerName: name,
    payerIdentifier: maskedIdentifier,
    payerBankName: bankName,
    payerCountry: country,
    reference: payment.reference,
    rail: ON_PLATFORM_RAIL,
    endToEndId: payee.endToEndId,
    uetr: null,
    valueDate,
    suspense: null,
    suspenseReason: null,
    creditedAt: now,
    receivedAt: now,
    originId: payment.id,
  }
}

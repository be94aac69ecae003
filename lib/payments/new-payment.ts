/** The record of a payment that its balance accepts: a new payment, or a draft that is submitted. */
import type { BalanceState } from '../balances/balance.ts'
import type { ExchangeRecord } from '../exchange/exchange.ts'
import { chargesOf } from '../pricing/fees.ts'
import { arrivalText, type Timing } from '../rails/timing.ts'
import { conversionOf } from './conversion.ts'
import { calendarOf, type CreatePayment } from './create-payment-command.ts'
import { givenOf } from './given-schema.ts'
import { NO_PROGRESS, type PaymentDetails, type PaymentRecord } from './payment.ts'

/** The terms on which a balance accepts a payment. Amounts are minor units. */
export interface AcceptedTerms {
  readonly timing: Timing
  /** Its money is held on its day, not now. */
  readonly later: boolean
  /** The amount that counts against limits: with an exchange, the sold amount. */
  readonly spent: bigint
  readonly fee: bigint
  readonly need: bigint
}

/**
 * Makes the record of the payment. `approvalId` is the approval that it waits for; `exchange` buys the amount, null
 * where nothing is bought. `now` is epoch milliseconds.
 */
export function newPayment(
  balance: BalanceState,
  command: CreatePayment,
  terms: AcceptedTerms,
  approvalId: string | undefined,
  exchange: ExchangeRecord | null,
  now: number,
): PaymentRecord {
  const { draft } = command
  return {
    id: command.paymentId,
    customerId: balance.customerId,
    connectionId: command.routing?.connectionId ?? command.conversion?.buyBalance.connectionId ?? balance.connectionId,
    number: command.number,
    ...givenOf(command),
    status: statusOf(terms, approvalId),
    version: draft === undefined ? 1 : draft.version + 1,
    sourceBalanceId: balance.id,
    recipientId: command.recipient.id,
    currency: command.currency,
    amount: command.amount,
    fee: terms.fee,
    rail: command.rail,
    routing: command.routing ?? null,
    executionDate: terms.timing.executionDate,
    createdBy: draft?.createdBy ?? command.createdBy,
    createdVia: draft?.createdVia ?? command.createdVia,
    scheduledPaymentId: draft?.scheduledPaymentId ?? command.scheduledPaymentId ?? null,
    details: detailsOf(balance, command, terms, approvalId, exchange, now),
    metadata: command.metadata,
    ...NO_PROGRESS,
    createdAt: draft?.createdAt ?? now,
    updatedAt: now,
  }
}

const statusOf = ({ later }: AcceptedTerms, approvalId: string | undefined) =>
  approvalId !== undefined ? 'pending_approval' : later ? 'scheduled' : 'processing'

/**
 * Makes the details of the record. They are stored as JSON with their members in this order. The optional members are
 * assigned, not spread: a spread of nothing allocates an object for each payment.
 */
function detailsOf(
  balance: BalanceState,
  command: CreatePayment,
  { timing, later, fee }: AcceptedTerms,
  approvalId: string | undefined,
  exchange: ExchangeRecord | null,
  now: number,
): PaymentDetails {
  const { recipient } = command
  const charges = chargesOf(command.conversion?.fees ?? balance.fees, {
    rail: command.rail,
    amount: command.amount,
    fee,
    chargeBearer: command.shown.chargeBearer,
  })
  const details: { -readonly [Member in keyof PaymentDetails]: PaymentDetails[Member] } = {
    sourceBalanceName: balance.name,
    recipient: {
      name: recipient.name,
      type: recipient.type,
      maskedIdentifier: recipient.maskedIdentifier,
      currency: recipient.currency,
      bankCountry: recipient.bankCountry,
    },
    ...command.shown,
    estimatedArrival: arrivalText(command.rail, command.instant, timing, calendarOf(balance, command), now),
    instant: command.instant,
    queued: approvalId === undefined && !later && exchange === null ? command.queued : null,
  }
  if (exchange !== null) details.conversion = conversionOf(exchange)
  if (charges !== undefined) details.charges = charges
  if (approvalId !== undefined) details.approvalId = approvalId
  if (command.batchApprovalId !== undefined) details.sharesApproval = true
  if (command.payeeBalanceId !== undefined) details.payeeBalanceId = command.payeeBalanceId
  if (later || command.batchApprovalId !== undefined) details.recipientDigest = recipient.digest
  if (later && approvalId === undefined) details.beganScheduled = true
  if (command.spenderId !== undefined && command.spenderId !== command.createdBy) details.spenderId = command.spenderId
  if (command.draft !== undefined) {
    details.submitted = { by: command.createdBy, at: now }
    if (!later) details.heldAt = now
  }
  return details
}

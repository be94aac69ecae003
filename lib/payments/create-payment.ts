/**
 * The decision to make a payment, taken by the paying balance: due now, either at once or after its approval.
 *
 * The ladder is in the order of precedence that the API promises: body, state, limits, funds. Everything it needs to know
 * beside the balance travels in the command, so the same command on the same balance is decided the same way.
 */
import { opening } from '../approvals/opening.ts'
import { tierFor, type TierMatch } from '../approvals/policy.ts'
import { brokenLimit, countOutflow } from '../customers/limits.ts'
import type { BalanceState } from '../ledger/balance.ts'
import type { Effects } from '../ledger/effects.ts'
import { insufficientFunds, invalid, refuse, type BalanceDecision, type Recorded } from '../ledger/decision.ts'
import type { Problem } from '../problems.ts'
import type { Rail } from './rails.ts'
import type { PaymentDetails, PaymentRecord, QueuePlace, RecipientSnapshot } from './payment.ts'

export interface CreatePayment extends Recorded {
  readonly kind: 'create_payment'
  readonly customerId: string
  readonly paymentId: string
  readonly holdId: string
  readonly eventId: string
  readonly number: string
  readonly recipient: RecipientSnapshot & {
    readonly id: string
    readonly status: string
    readonly version: bigint
    /** Of what a review looks at; an approval holds only while it stays the same. */
    readonly digest: string
  }
  readonly amount: bigint
  readonly currency: string
  readonly fee: bigint
  readonly rail: Rail
  readonly instant: boolean
  readonly executionDate: string
  readonly estimatedArrival: string | null
  readonly createdBy: string
  readonly createdByName: string
  readonly createdVia: PaymentRecord['createdVia']
  /** What else an approval needs, should one be needed: its ids, and whether a sandbox may decide it. */
  readonly approving: { readonly ids: { next(): string }; readonly sandbox: boolean }
  readonly externalId: string | null
  /** The payment that has this external id already; learned from a commit that found it. */
  readonly externalIdOwner: string | null
  /** A no of limits or rails, found before the balance was asked. */
  readonly policyRefusal: Problem | null
  readonly shown: Pick<PaymentDetails, 'chargeBearer' | 'requestedRail' | 'reference' | 'endToEndId' | 'uetr' | 'purposeCode' | 'purpose' | 'internalNote' | 'notifyRecipient' | 'verification'>
  readonly metadata: Readonly<Record<string, string>>
  readonly queued: QueuePlace
}

export interface PaymentCreated {
  readonly kind: 'payment_created'
  readonly payment: PaymentRecord
  readonly operatorId: string
}

/** Decides one payment. Pure: `now` is epoch milliseconds. */
export function createPayment(balance: BalanceState | null, command: CreatePayment, now: number): BalanceDecision<PaymentCreated> {
  if (balance === null || balance.customerId !== command.customerId) {
    return invalid(balance, { field: '/sourceBalanceId', code: 'not_found', message: 'No such balance.' })
  }
  if (balance.currency !== command.currency) {
    return invalid(balance, { field: '/quoteId', code: 'quote_required', message: `Paying ${command.currency} from ${balance.currency} needs a quote.` })
  }
  if (balance.status !== 'active') {
    return { ...invalid(balance, { field: '/sourceBalanceId', code: 'inactive', message: `The balance is ${balance.status}.` }), refused: true }
  }
  if (command.externalIdOwner !== null) {
    return refuse(balance, command, now, { slug: 'duplicate-external-id', detail: `externalId ${command.externalId} belongs to another payment.`, extra: { existingId: command.externalIdOwner } })
  }
  if (command.recipient.status !== 'active') {
    return refuse(balance, command, now, { slug: 'recipient-not-approved', detail: `The recipient is ${command.recipient.status}.`, extra: { recipientStatus: command.recipient.status } })
  }
  if (command.policyRefusal !== null) return refuse(balance, command, now, command.policyRefusal)
  const broken = balance.limits === null ? null : brokenLimit(balance.limits, command.amount, now)
  if (broken !== null) return { ...refuse(balance, command, now, broken), refused: true }
  const need = command.amount + command.fee
  if (balance.available < need) {
    return { ...refuse(balance, command, now, insufficientFunds(balance, need)), refused: true }
  }
  return accept(balance, command, now, need)
}

function accept(balance: BalanceState, command: CreatePayment, now: number, need: bigint): BalanceDecision<PaymentCreated> {
  const match = balance.policy === null ? null : tierFor(balance.policy, {
    amount: command.amount, currency: command.currency, balanceId: balance.id, rail: command.rail, recipientId: command.recipient.id,
  })
  const approval = match === null ? null : openingOf(balance, command, match, now)
  const status = approval === null ? 'processing' : 'pending_approval'
  const counted = balance.limits === null ? null : countOutflow(balance.limits, balance.customerId, command.amount, now)
  const details: PaymentDetails = {
    sourceBalanceName: balance.name,
    recipient: {
      name: command.recipient.name, type: command.recipient.type, maskedIdentifier: command.recipient.maskedIdentifier,
      currency: command.recipient.currency, bankCountry: command.recipient.bankCountry,
    },
    ...command.shown,
    estimatedArrival: command.estimatedArrival,
    instant: command.instant,
    queued: approval === null ? command.queued : null,
    ...(approval === null ? {} : { approvalId: approval.approvals[0]!.id }),
  }
  const payment: PaymentRecord = {
    id: command.paymentId, customerId: balance.customerId, connectionId: balance.connectionId, number: command.number,
    externalId: command.externalId, status, version: 1, sourceBalanceId: balance.id,
    recipientId: command.recipient.id, currency: command.currency, amount: command.amount, fee: command.fee,
    rail: command.rail, executionDate: command.executionDate, createdBy: command.createdBy, createdVia: command.createdVia,
    details, metadata: command.metadata, failure: null, statusReason: null, exception: null, providerRef: null, sentAt: null,
    completedAt: null, failedAt: null, approvedAt: null, cancelledAt: null, createdAt: now, updatedAt: now,
  }
  const effects: Effects = {
    payments: [{
      id: payment.id, customerId: payment.customerId, operatorId: balance.operatorId, connectionId: payment.connectionId,
      shard: balance.shard, number: payment.number, externalId: payment.externalId, status: payment.status,
      sourceBalanceId: payment.sourceBalanceId, recipientId: payment.recipientId, holdId: command.holdId,
      currency: payment.currency, amount: payment.amount, fee: payment.fee, rail: payment.rail,
      executionDate: payment.executionDate, createdBy: payment.createdBy, createdVia: payment.createdVia,
      details: JSON.stringify(details), metadata: hasMembers(command.metadata) ? JSON.stringify(command.metadata) : null,
      createdAt: now,
    }],
    holds: [{ id: command.holdId, balanceId: balance.id, customerId: balance.customerId, amount: need, subjectType: 'payment',
      subjectId: payment.id, description: `Payment ${payment.number}`, createdAt: now }],
    statusUpdates: [{ objectId: payment.id, version: 1, customerId: balance.customerId, status,
      previousStatus: null, message: approval === null ? 'Payment submitted.' : 'Payment submitted for approval.', actor: 'member', at: now }],
    events: [{ id: command.eventId, createdAt: now, customerId: balance.customerId, operatorId: balance.operatorId,
      shard: balance.shard, type: 'payment.created', object: 'payment', objectId: payment.id, status,
      previousStatus: null, amount: payment.amount, currency: payment.currency }, ...(approval?.events ?? [])],
    ...(approval === null ? { instructions: [{ paymentId: payment.id, shard: balance.shard }] } : { approvals: approval.approvals }),
    ...(counted === null ? {} : { outflows: counted.outflows }),
    facts: [{ recipientId: command.recipient.id, version: command.recipient.version }],
    ...(command.key === null ? {} : { idempotency: { ...command.key, status: 201, resourceId: payment.id, answer: null, createdAt: now } }),
  }
  return {
    state: counted === null ? { ...balance, available: balance.available - need } : { ...balance, available: balance.available - need, limits: counted.state },
    reply: { kind: 'payment_created', payment, operatorId: balance.operatorId },
    effects,
  }
}

/** The approval that a payment waits for, with what its last approver has to find unchanged. */
function openingOf(balance: BalanceState, command: CreatePayment, { tier, converted }: TierMatch, now: number) {
  const { recipient, approving } = command
  return opening({
    id: approving.ids.next(), eventId: approving.ids.next(), customerId: balance.customerId, operatorId: balance.operatorId, shard: balance.shard,
    subjectType: 'payment', subjectId: command.paymentId,
    subject: {
      title: `Payment ${command.number}`, amount: { amountMinor: command.amount.toString(), currency: command.currency },
      recipientName: recipient.name, sourceBalanceId: balance.id, sourceBalanceName: balance.name, rail: command.rail, itemCount: null,
      recipientMaskedIdentifier: recipient.maskedIdentifier,
    },
    payload: JSON.stringify({ recipientId: recipient.id, recipientDigest: recipient.digest }),
    kind: 'payment', source: 'snapshot', tier, tierCurrency: balance.policy!.currency, converted,
    requestedBy: command.createdBy, requestedByName: command.createdByName,
    sandboxTexts: approving.sandbox ? [command.shown.reference, recipient.name] : null,
  }, now)
}

const hasMembers = (record: Readonly<Record<string, string>>): boolean => {
  for (const _ in record) return true
  return false
}

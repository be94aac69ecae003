/**
 * The decision to make a payment, or to submit a draft, taken by the paying balance: due now or on a later day, at once
 * or after its approval. A payment that is due later holds no money before its day (release-payment.ts).
 *
 * The checks are in the order of precedence that the API promises: body, state, limits, funds. The command carries
 * every input beside the balance, so the same command on the same balance is always decided in the same way.
 */
import { opening, type SandboxDecision } from '../approvals/opening.ts'
import { tierFor, type Convert, type TierMatch } from '../approvals/policy.ts'
import { brokenLimit, countOutflow, unusedLimits } from '../customers/limits.ts'
import type { BalanceState } from '../balances/balance.ts'
import type { Effects } from '../decisions/effects.ts'
import type { PaymentRewrite } from './effects.ts'
import { insufficientFunds, invalid, refuse, type BalanceDecision, type Recorded } from '../balances/decision.ts'
import type { Problem } from '../base/problems.ts'
import type { ExchangePayload } from '../exchange/approval.ts'
import { together } from '../decisions/merge.ts'
import { conversionFault, conversionOf, exchangeFor, quoteRefusal, type ConversionOrder } from './conversion.ts'
import { chargesOf, feeOf } from '../pricing/fees.ts'
import type { Rail } from '../rails/rails.ts'
import {
  paymentJson,
  type PaymentDetails,
  type PaymentRecord,
  type QueuePlace,
  type RecipientSnapshot,
} from './payment.ts'
import { arrivalText, dueTiming, timingOf, type Timing } from '../rails/timing.ts'

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
    /** Digest of the reviewed fields of the recipient; an approval is valid only while it stays the same. */
    readonly digest: string
    /** Whether the recipient's account belongs to the payer. */
    readonly ownAccount: boolean
    /** The version of the operator's rail terms by which the rail was chosen. */
    readonly rails: { readonly version: number }
  }
  readonly amount: bigint
  readonly currency: string
  /** The exchange that buys the paid amount; present where the request names a quote. */
  readonly conversion?: ConversionOrder | undefined
  readonly rail: Rail
  /** The balance on this platform that belongs to the recipient's account; absent for an account at another bank. */
  readonly payeeBalanceId?: string
  readonly instant: boolean
  /** The requested date; null: as soon as possible. */
  readonly executionDate: string | null
  readonly createdBy: string
  readonly createdByName: string
  readonly createdVia: PaymentRecord['createdVia']
  /** Ids of other people and keys that changed the terms; they count as requesters of the approval. */
  readonly shapedBy?: readonly string[] | undefined
  /** The person or key that set the amount, where that is not `createdBy`: the payment counts for their limits. */
  readonly spenderId?: string | undefined
  /**
   * Input of the approval, if one is needed: its ids, the decision of the sandbox's approver, and the conversion of
   * amounts at a connection.
   */
  readonly approving: {
    readonly ids: { next(): string }
    readonly sandboxDecision: SandboxDecision | null
    readonly convertAt?: (connectionId: string) => Convert
  }
  readonly externalId: string | null
  /** The payment that already has this external id. The commit reports it, and the payment is decided again. */
  readonly externalIdOwner: string | null
  /** A refusal by limits or rails that was found before the balance decides. */
  readonly policyRefusal: Problem | null
  readonly shown: Pick<
    PaymentDetails,
    | 'chargeBearer'
    | 'requestedRail'
    | 'reference'
    | 'endToEndId'
    | 'uetr'
    | 'purposeCode'
    | 'purpose'
    | 'internalNote'
    | 'notifyRecipient'
    | 'verification'
    | 'documentIds'
    | 'bulk'
  >
  readonly metadata: Readonly<Record<string, string>>
  readonly queued: QueuePlace
  /** The earliest hand-over to the partner, epoch milliseconds. */
  readonly notBefore?: number
  /** The schedule that makes the payment. */
  readonly scheduledPaymentId?: string | undefined
  /** The approval of the bulk file that the payment is part of; the payment waits for it and has none of its own. */
  readonly batchApprovalId?: string | undefined
  /** The draft that this command submits. */
  readonly draft?: SubmittedDraft
}

/** The fields of a draft that stay when it is submitted. */
export type SubmittedDraft = Pick<
  PaymentRecord,
  'version' | 'createdBy' | 'createdVia' | 'createdAt' | 'scheduledPaymentId'
>

export interface PaymentCreated {
  readonly kind: 'payment_created'
  readonly payment: PaymentRecord
  readonly operatorId: string
}

/**
 * The operator has changed its rail terms since the rail was chosen: the caller chooses the rail again and repeats the
 * command.
 */
export interface RailsChanged {
  readonly kind: 'rails_changed'
}

/**
 * Returns the reply `rails_changed` when the rail terms have changed since the rail was chosen; null when they are the
 * same. A refusal is given only on freshly loaded state (I4).
 */
export function railsChanged(
  balance: BalanceState | null,
  { customerId, recipient }: CreatePayment,
): {
  readonly state: BalanceState
  readonly reply: RailsChanged
  readonly effects: null
  readonly refused: true
} | null {
  if (balance === null || balance.customerId !== customerId || recipient.rails.version === balance.railVersion)
    return null
  return { state: balance, reply: { kind: 'rails_changed' }, effects: null, refused: true }
}

/** Decides one payment. Pure: `now` is epoch milliseconds. */
export function createPayment(
  balance: BalanceState | null,
  command: CreatePayment,
  now: number,
): BalanceDecision<PaymentCreated> {
  if (balance === null || balance.customerId !== command.customerId) {
    return invalid(balance, { field: '/sourceBalanceId', code: 'not_found', message: 'No such balance.' })
  }
  const { conversion } = command
  if (balance.currency !== command.currency && conversion === undefined) {
    return invalid(balance, {
      field: '/quoteId',
      code: 'quote_required',
      message: `Paying ${command.currency} from ${balance.currency} needs a quote.`,
    })
  }
  if (conversion !== undefined) {
    const fault = balance.currency === command.currency ? NOTHING_TO_BUY : conversionFault(balance, conversion, command)
    if (fault !== null) return invalid(balance, fault)
  }
  if (command.payeeBalanceId !== undefined && command.payeeBalanceId === (conversion?.buyBalance.id ?? balance.id)) {
    return invalid(balance, {
      field: '/recipientId',
      code: 'invalid_value',
      message: 'The recipient is the account of the balance that pays.',
    })
  }
  if (balance.status !== 'active') {
    return {
      ...invalid(balance, {
        field: '/sourceBalanceId',
        code: 'inactive',
        message: `The balance is ${balance.status}.`,
      }),
      refused: true,
    }
  }
  if (command.externalIdOwner !== null) {
    return refuse(balance, command, now, {
      slug: 'duplicate-external-id',
      detail: `externalId ${command.externalId} belongs to another payment.`,
      extra: { existingId: command.externalIdOwner },
    })
  }
  if (command.recipient.status !== 'active') {
    return refuse(balance, command, now, {
      slug: 'recipient-not-approved',
      detail: `The recipient is ${command.recipient.status}.`,
      extra: { recipientStatus: command.recipient.status },
    })
  }
  const stale = conversion === undefined ? null : quoteRefusal(conversion, now)
  if (stale !== null) return refuse(balance, command, now, stale)
  if (command.policyRefusal !== null) return refuse(balance, command, now, command.policyRefusal)
  const timing = timingOf(command.rail, command.executionDate, balance.calendar, now)
  // An exchange sells from its balance now, whatever the execution date of the payment.
  const later = timing.dueAt !== null && conversion === undefined
  const spent = conversion?.quote.sellAmount ?? command.amount
  // A later payment counts against the limits of its own day; today it is refused only where no day would allow it.
  const broken =
    balance.limits === null
      ? null
      : brokenLimit(later ? unusedLimits(balance.limits) : balance.limits, spending(command, spent), now)
  if (broken !== null) return { ...refuse(balance, command, now, broken), refused: true }
  const fee = conversion === undefined ? feeOf(balance.fees, command.rail, command.amount) : 0n
  const need = spent + (conversion?.quote.fee ?? fee)
  if (!later && balance.available < need) {
    // A payment of a schedule waits for missing money until the cut-off of its day, as every scheduled payment does.
    if (command.scheduledPaymentId !== undefined) {
      const due = { ...timing, ...dueTiming(command.rail, timing.executionDate, balance.calendar, now) }
      return { ...accept(balance, command, now, { timing: due, later: true, spent, fee, need }), refused: true }
    }
    return { ...refuse(balance, command, now, insufficientFunds(balance, need)), refused: true }
  }
  return accept(balance, command, now, { timing, later, spent, fee, need })
}

const NOTHING_TO_BUY = {
  field: '/quoteId',
  code: 'not_applicable',
  message: 'The balance is in the currency that is paid.',
} as const

/** The amount that counts against limits, for the person who set it. With an exchange that is the sold amount. */
const spending = ({ customerId, createdBy, spenderId }: CreatePayment, spent: bigint) => ({
  customerId,
  spenderId: spenderId ?? createdBy,
  amount: spent,
})

interface Terms {
  readonly timing: Timing
  /** Its money is held on its day, not now. */
  readonly later: boolean
  /** The amount that counts against limits: with an exchange, the sold amount. */
  readonly spent: bigint
  readonly fee: bigint
  readonly need: bigint
}

function accept(
  balance: BalanceState,
  command: CreatePayment,
  now: number,
  { timing, later, spent, fee, need }: Terms,
): BalanceDecision<PaymentCreated> {
  const { batchApprovalId } = command
  const match =
    balance.policy === null || batchApprovalId !== undefined
      ? null
      : tierFor(
          balance.policy,
          {
            amount: command.amount,
            currency: command.currency,
            balanceId: balance.id,
            rail: command.rail,
            recipientId: command.recipient.id,
            toOwnAccount: command.recipient.ownAccount,
          },
          command.approving.convertAt?.(balance.connectionId),
        )
  const approval = match === null ? null : openingOf(balance, command, match, now)
  const { draft, notBefore } = command
  const approvalId = approval?.approvals[0]?.id ?? batchApprovalId
  const status = approvalId !== undefined ? 'pending_approval' : later ? 'scheduled' : 'processing'
  const counted = balance.limits === null || later ? null : countOutflow(balance.limits, spending(command, spent), now)
  const charges = chargesOf(command.conversion?.fees ?? balance.fees, {
    rail: command.rail,
    amount: command.amount,
    fee,
    chargeBearer: command.shown.chargeBearer,
  })
  const buying =
    command.conversion === undefined
      ? null
      : exchangeFor(
          balance,
          command.conversion,
          {
            id: command.paymentId,
            number: command.number,
            createdBy: command.createdBy,
            createdVia: command.createdVia === 'operator' ? 'system' : command.createdVia,
            waits: approvalId !== undefined,
            approvalId: approvalId ?? null,
          },
          command.approving.ids,
          now,
        )
  const details: PaymentDetails = {
    sourceBalanceName: balance.name,
    recipient: {
      name: command.recipient.name,
      type: command.recipient.type,
      maskedIdentifier: command.recipient.maskedIdentifier,
      currency: command.recipient.currency,
      bankCountry: command.recipient.bankCountry,
    },
    ...command.shown,
    estimatedArrival: arrivalText(command.rail, command.instant, timing, balance.calendar, now),
    instant: command.instant,
    queued: status === 'processing' && buying === null ? command.queued : null,
    ...(buying === null ? {} : { conversion: conversionOf(buying.exchange) }),
    ...(charges === undefined ? {} : { charges }),
    ...(approvalId === undefined ? {} : { approvalId }),
    ...(batchApprovalId === undefined ? {} : { sharesApproval: true as const }),
    ...(command.payeeBalanceId === undefined ? {} : { payeeBalanceId: command.payeeBalanceId }),
    ...(later || batchApprovalId !== undefined ? { recipientDigest: command.recipient.digest } : {}),
    ...(later && approvalId === undefined ? { beganScheduled: true as const } : {}),
    ...(command.spenderId === undefined || command.spenderId === command.createdBy
      ? {}
      : { spenderId: command.spenderId }),
    ...(draft === undefined
      ? {}
      : { submitted: { by: command.createdBy, at: now }, ...(later ? {} : { heldAt: now }) }),
  }
  const payment: PaymentRecord = {
    id: command.paymentId,
    customerId: balance.customerId,
    connectionId: command.conversion?.buyBalance.connectionId ?? balance.connectionId,
    number: command.number,
    externalId: command.externalId,
    status,
    version: draft === undefined ? 1 : draft.version + 1,
    sourceBalanceId: balance.id,
    recipientId: command.recipient.id,
    currency: command.currency,
    amount: command.amount,
    fee,
    rail: command.rail,
    executionDate: timing.executionDate,
    createdBy: draft?.createdBy ?? command.createdBy,
    createdVia: draft?.createdVia ?? command.createdVia,
    scheduledPaymentId: draft?.scheduledPaymentId ?? command.scheduledPaymentId ?? null,
    details,
    metadata: command.metadata,
    failure: null,
    statusReason: null,
    returnedAmount: null,
    returnInfo: null,
    recall: null,
    exception: null,
    providerRef: null,
    sentAt: null,
    completedAt: null,
    failedAt: null,
    approvedAt: null,
    cancelledAt: null,
    createdAt: draft?.createdAt ?? now,
    updatedAt: now,
  }
  // The bought money is held on the balance that receives it; until then the payment has no hold of its own.
  const holdId = later || buying !== null ? null : command.holdId
  const payingBalanceId = buying === null ? balance.id : buying.exchange.buyBalanceId
  const effects: Effects = {
    ...(draft === undefined
      ? {
          payments: [
            {
              id: payment.id,
              customerId: payment.customerId,
              operatorId: balance.operatorId,
              connectionId: payment.connectionId,
              shard: balance.shard,
              number: payment.number,
              externalId: payment.externalId,
              status: payment.status,
              sourceBalanceId: payment.sourceBalanceId,
              payingBalanceId,
              recipientId: payment.recipientId,
              holdId,
              currency: payment.currency,
              amount: payment.amount,
              fee: payment.fee,
              rail: payment.rail,
              executionDate: payment.executionDate,
              createdBy: payment.createdBy,
              createdVia: payment.createdVia,
              details: JSON.stringify(details),
              metadata: hasMembers(command.metadata) ? JSON.stringify(command.metadata) : null,
              createdAt: now,
              ...(command.scheduledPaymentId === undefined ? {} : { scheduledPaymentId: command.scheduledPaymentId }),
            },
          ],
        }
      : { paymentRewrites: [rewriteOf(payment, { holdId, payingBalanceId, version: draft.version })] }),
    ...(holdId === null
      ? {}
      : {
          holds: [
            {
              id: holdId,
              balanceId: balance.id,
              customerId: balance.customerId,
              amount: need,
              subjectType: 'payment',
              subjectId: payment.id,
              description: `Payment ${payment.number}`,
              createdAt: now,
            },
          ],
        }),
    statusUpdates: [
      {
        objectId: payment.id,
        version: payment.version,
        customerId: balance.customerId,
        status,
        previousStatus: draft === undefined ? null : 'draft',
        message: approvalId === undefined ? 'Payment submitted.' : 'Payment submitted for approval.',
        actor: 'member',
        at: now,
      },
    ],
    events: [
      {
        id: command.eventId,
        createdAt: now,
        customerId: balance.customerId,
        operatorId: balance.operatorId,
        shard: balance.shard,
        type: 'payment.created',
        object: 'payment',
        objectId: payment.id,
        status,
        previousStatus: null,
        amount: payment.amount,
        currency: payment.currency,
      },
      ...(approval?.events ?? []),
    ],
    ...(approval !== null
      ? { approvals: approval.approvals }
      : approvalId !== undefined || buying !== null
        ? {}
        : timing.dueAt !== null
          ? { paymentsDue: [{ paymentId: payment.id, shard: balance.shard, dueAt: timing.dueAt, until: timing.until }] }
          : {
              instructions: [
                { paymentId: payment.id, shard: balance.shard, ...(notBefore === undefined ? {} : { notBefore }) },
              ],
            }),
    ...(counted === null ? {} : { outflows: counted.outflows }),
    ...(command.shown.documentIds === undefined
      ? {}
      : {
          documentUses: command.shown.documentIds.map((documentId) => ({
            documentId,
            object: 'payment' as const,
            objectId: payment.id,
          })),
        }),
    facts: [{ recipientId: command.recipient.id, version: command.recipient.version }],
    ...(command.key === null
      ? {}
      : {
          idempotency: {
            ...command.key,
            resourceId: payment.id,
            createdAt: now,
            // The answer of a creation can be built again from the payment. A draft has had other answers before, so its
            // answer is stored.
            ...(draft === undefined
              ? { status: 201, answer: null }
              : { status: 200, answer: JSON.stringify(paymentJson(payment, details.queued)) }),
          },
        }),
  }
  const available = later ? balance.available : balance.available - need
  return {
    state: counted === null ? { ...balance, available } : { ...balance, available, limits: counted.limits },
    reply: { kind: 'payment_created', payment, operatorId: balance.operatorId },
    effects: buying === null ? effects : together(effects, buying.effects),
  }
}

/** Opens the approval that the payment waits for, with the facts that must be unchanged at the last approval. */
function openingOf(balance: BalanceState, command: CreatePayment, { tier, converted }: TierMatch, now: number) {
  const { recipient, approving } = command
  return opening(
    {
      id: approving.ids.next(),
      eventId: approving.ids.next(),
      customerId: balance.customerId,
      operatorId: balance.operatorId,
      shard: balance.shard,
      subjectType: 'payment',
      subjectId: command.paymentId,
      subject: {
        title: `Payment ${command.number}`,
        amount: { amountMinor: command.amount.toString(), currency: command.currency },
        recipientName: recipient.name,
        sourceBalanceId: balance.id,
        sourceBalanceName: balance.name,
        rail: command.rail,
        itemCount: null,
        recipientMaskedIdentifier: recipient.maskedIdentifier,
      },
      payload: JSON.stringify({
        recipientId: recipient.id,
        recipientDigest: recipient.digest,
        ...(command.conversion === undefined
          ? {}
          : ({ quoteExpiresAt: command.conversion.quote.expiresAt, holdMinutes: null } satisfies ExchangePayload)),
      }),
      kind: 'payment',
      source: 'snapshot',
      tier,
      tierCurrency: balance.policy!.currency,
      converted,
      requestedBy: command.createdBy,
      requestedByName: command.createdByName,
      shapedBy: command.shapedBy ?? [],
      sandboxDecision: approving.sandboxDecision,
    },
    now,
  )
}

/** Makes the row that replaces a draft. */
export function rewriteOf(
  payment: PaymentRecord,
  { holdId, payingBalanceId, version }: Pick<PaymentRewrite, 'holdId' | 'payingBalanceId' | 'version'>,
): PaymentRewrite {
  return {
    id: payment.id,
    version,
    connectionId: payment.connectionId,
    externalId: payment.externalId,
    status: payment.status,
    sourceBalanceId: payment.sourceBalanceId,
    payingBalanceId,
    recipientId: payment.recipientId,
    holdId,
    currency: payment.currency,
    amount: payment.amount,
    fee: payment.fee,
    rail: payment.rail,
    executionDate: payment.executionDate,
    details: JSON.stringify(payment.details),
    metadata: hasMembers(payment.metadata) ? JSON.stringify(payment.metadata) : null,
    updatedAt: payment.updatedAt,
  }
}

const hasMembers = (record: Readonly<Record<string, string>>): boolean => {
  for (const _ in record) return true
  return false
}

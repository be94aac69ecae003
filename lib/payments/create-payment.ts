/**
 * The decision to make a payment, or to submit a draft, taken by the paying balance: due now or on a later day, at once
 * or after its approval. A payment that is due later holds no money before its day (release-payment.ts).
 *
 * The checks are in the order of precedence that the API promises: body, state, limits, funds. The command carries
 * every input beside the balance, so the same command on the same balance is always decided in the same way.
 */
import { idsFrom, type IdSource } from '../base/ids.ts'
import { brokenLimit, countOutflow, unusedLimits } from '../customers/limits.ts'
import type { BalanceState } from '../balances/balance.ts'
import type { Effects } from '../decisions/effects.ts'
import { moneyProblem } from '../customers/money-access.ts'
import { insufficientFunds, invalid, refuse, unrecorded, type BalanceDecision } from '../balances/decision.ts'
import { together } from '../decisions/merge.ts'
import { conversionFault, exchangeFor, quoteRefusal, type ConversionOrder } from './conversion.ts'
import { calendarOf, type CreatePayment, type PaymentCreated, type RailsChanged } from './create-payment-command.ts'
import { newPayment, type AcceptedTerms } from './new-payment.ts'
import { approvalTier, openApproval } from './payment-approval.ts'
import type { PaymentRecord } from './payment.ts'
import { creationEvent, creationKey, creationUpdate, paymentHold, paymentRow, rewriteOf } from './payment-rows.ts'
import { feeOf } from '../pricing/fees.ts'
import { dueTiming, timingOf, type Timing } from '../rails/timing.ts'

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
      message: "The recipient's account belongs to the balance that pays.",
    })
  }
  const barred = moneyProblem(balance, 'pay')
  if (barred !== null) return unrecorded(balance, barred)
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
  const timing = timingOf(command.rail, command.executionDate, calendarOf(balance, command), now)
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
      const due = { ...timing, ...dueTiming(command.rail, timing.executionDate, calendarOf(balance, command), now) }
      return { ...accept(balance, command, now, { timing: due, later: true, spent, fee, need }), refused: true }
    }
    return { ...refuse(balance, command, now, insufficientFunds(balance, need)), refused: true }
  }
  return accept(balance, command, now, { timing, later, spent, fee, need })
}

const NOTHING_TO_BUY = {
  field: '/quoteId',
  code: 'not_applicable',
  message: 'The balance already has the currency of the payment.',
} as const

/** The amount that counts against limits, for the person who set it. With an exchange that is the sold amount. */
const spending = ({ customerId, createdBy, spenderId }: CreatePayment, spent: bigint) => ({
  customerId,
  spenderId: spenderId ?? createdBy,
  amount: spent,
})

/** Accepts the payment: its record, its hold or approval, and the first step that it waits for. */
function accept(
  balance: BalanceState,
  command: CreatePayment,
  now: number,
  terms: AcceptedTerms,
): BalanceDecision<PaymentCreated> {
  const { draft } = command
  const ids = idsFrom(command.seed)
  const eventId = ids.next()
  const tier = approvalTier(balance, command, now)
  const approval = tier === null ? null : openApproval(balance, command, tier, ids, now)
  const approvalId = approval?.approvals[0]?.id ?? command.batchApprovalId
  const bought =
    command.conversion === undefined ? null : buyAmount(balance, command, command.conversion, approvalId, ids, now)
  const payment = newPayment(balance, command, terms, approvalId, bought === null ? null : bought.exchange, now)
  // The bought money is held on the balance that receives it; until then the payment has no hold of its own.
  const holdId = terms.later || bought !== null ? null : command.holdId
  const payingBalanceId = bought === null ? balance.id : bought.exchange.buyBalanceId
  const counted =
    balance.limits === null || terms.later ? null : countOutflow(balance.limits, spending(command, terms.spent), now)
  const effects: Effects = {
    ...(draft === undefined
      ? { payments: [paymentRow(payment, balance, holdId, payingBalanceId)] }
      : { paymentRewrites: [rewriteOf(payment, { holdId, payingBalanceId, version: draft.version })] }),
    ...(holdId === null ? {} : { holds: [paymentHold(payment, holdId, terms.need)] }),
    statusUpdates: [creationUpdate(payment, draft !== undefined)],
    events: [creationEvent(payment, balance, eventId), ...(approval?.events ?? [])],
    ...(approval !== null
      ? { approvals: approval.approvals }
      : approvalId !== undefined || bought !== null
        ? {}
        : firstStep(payment, balance.shard, terms.timing, command.notBefore)),
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
    ...(command.key === null ? {} : { idempotency: creationKey(command.key, payment, draft !== undefined) }),
  }
  const available = terms.later ? balance.available : balance.available - terms.need
  return {
    state: counted === null ? { ...balance, available } : { ...balance, available, limits: counted.limits },
    reply: { kind: 'payment_created', payment, operatorId: balance.operatorId },
    effects: bought === null ? effects : together(effects, bought.effects),
  }
}

/** Makes the exchange that buys the paid amount; it waits where the payment waits. */
const buyAmount = (
  balance: BalanceState,
  command: CreatePayment,
  conversion: ConversionOrder,
  approvalId: string | undefined,
  ids: IdSource,
  now: number,
): ReturnType<typeof exchangeFor> =>
  exchangeFor(
    balance,
    conversion,
    {
      id: command.paymentId,
      number: command.number,
      createdBy: command.createdBy,
      createdVia: command.createdVia === 'operator' ? 'system' : command.createdVia,
      waits: approvalId !== undefined,
      approvalId: approvalId ?? null,
    },
    ids,
    now,
  )

/** The first step of a payment that waits for no other object: its day, or its hand-over to the partner. */
const firstStep = (
  { id: paymentId }: PaymentRecord,
  shard: number,
  { dueAt, until }: Timing,
  notBefore: number | undefined,
): Pick<Effects, 'paymentsDue' | 'instructions'> =>
  dueAt !== null
    ? { paymentsDue: [{ paymentId, shard, dueAt, until }] }
    : { instructions: [{ paymentId, shard, ...(notBefore === undefined ? {} : { notBefore }) }] }

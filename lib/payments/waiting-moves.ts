/**
 * Decides what a payment's moves write before the partner has it: while it waits for approval, for its exchange, for
 * its day or for compliance.
 */
import { outcomeRecord } from '../decisions/outcome-record.ts'
import { timestamp } from '../base/clock.ts'
import { endsException, opensException } from '../compliance/exception.ts'
import { opensComplianceHold, UNDER_REVIEW } from '../compliance/hold.ts'
import type { Effects, HoldRow } from '../decisions/effects.ts'
import { failureOf } from '../rails/failure-codes.ts'
import { changeEvents, heldMoney, holdReleased, moved, outflowReturn, update } from './move-parts.ts'
import type { Bought, PaymentMoveContext, PaymentCommand, PaymentDecision, PaymentState } from './payment-state.ts'

/** Approves the payment: it is queued and keeps its hold, or it is scheduled and waits for its day. */
export function approve(
  payment: PaymentState,
  context: Extract<PaymentCommand, { kind: 'approve' }>['context'],
  now: number,
): PaymentDecision {
  const { due, notBefore, bought } = context
  if (payment.conversion !== undefined) return buy(payment, bought, context, now)
  if (payment.holdId === null && due === undefined) throw new Error(`The payment ${payment.id} has no hold and no day.`)
  const next: PaymentState = {
    ...payment,
    version: payment.version + 1,
    status: payment.holdId === null ? 'scheduled' : 'processing',
  }
  return moved(next, {
    paymentDecisions: [
      { id: payment.id, version: payment.version, status: next.status, approvedAt: now, updatedAt: now },
    ],
    statusUpdates: [update(payment, next, 'Payment approved.', 'member', now)],
    events: changeEvents(payment, next, context, now),
    ...(next.status === 'scheduled'
      ? { paymentsDue: [{ paymentId: payment.id, shard: payment.shard, ...due! }] }
      : {
          instructions: [
            { paymentId: payment.id, shard: payment.shard, ...(notBefore === undefined ? {} : { notBefore }) },
          ],
        }),
  })
}

/** Approves a payment whose exchange is booked now: it waits for that exchange. */
function buy(
  payment: PaymentState,
  bought: Bought | undefined,
  context: Pick<PaymentMoveContext, 'ids'>,
  now: number,
): PaymentDecision {
  if (bought === undefined) throw new Error(`The payment ${payment.id} is approved without its exchange.`)
  const next: PaymentState = {
    ...payment,
    version: payment.version + 1,
    status: 'processing',
    conversion: bought.conversion,
  }
  return moved(next, {
    paymentDecisions: [
      {
        id: payment.id,
        version: payment.version,
        status: next.status,
        details: bought.details,
        approvedAt: now,
        updatedAt: now,
      },
    ],
    statusUpdates: [update(payment, next, 'Payment approved.', 'member', now)],
    events: changeEvents(payment, next, context, now),
  })
}

/** Withdraws the payment: releases its hold, if it has one. */
export function withdraw(
  payment: PaymentState,
  { withdrawal: { status, reason, by }, context, key = null }: Extract<PaymentCommand, { kind: 'withdraw' }>,
  now: number,
): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, status }
  return moved(next, {
    paymentDecisions: [
      {
        id: payment.id,
        version: payment.version,
        status,
        statusReason: JSON.stringify(reason),
        ...(status === 'cancelled' ? { cancelledAt: now } : {}),
        updatedAt: now,
      },
    ],
    ...(payment.holdId === null ? {} : { holdResolutions: [holdReleased(payment, now)] }),
    ...(payment.holdId === null && payment.conversion === undefined
      ? {}
      : { outflowReturns: [outflowReturn(payment)] }),
    statusUpdates: [update(payment, next, reason.message, by, now)],
    events: changeEvents(payment, next, context, now),
    ...(payment.status === 'processing' ? { instructionsDone: [payment.id] } : {}),
    ...(payment.status === 'scheduled' ? { paymentsDueDone: [payment.id] } : {}),
    ...outcomeRecord(key, 200, { type: 'payment', id: payment.id }, null, now),
  })
}

/** Holds the bought money and queues the payment for the partner. Its status stays. */
export function fund(
  payment: PaymentState,
  { ids, notBefore }: Extract<PaymentCommand, { kind: 'funded' }>['context'],
  now: number,
): PaymentDecision {
  const holdId = ids.next()
  const next: PaymentState = { ...payment, version: payment.version + 1, holdId }
  return moved(next, {
    paymentDecisions: [{ id: payment.id, version: payment.version, status: payment.status, holdId, updatedAt: now }],
    holds: [
      {
        id: holdId,
        ...heldMoney(next),
        customerId: payment.customerId,
        subjectType: 'payment',
        subjectId: payment.id,
        description: `Payment ${payment.number}`,
        createdAt: now,
      },
    ],
    statusUpdates: [update(payment, next, 'What it pays was bought.', 'system', now)],
    instructions: [{ paymentId: payment.id, shard: payment.shard, ...(notBefore === undefined ? {} : { notBefore }) }],
  })
}

/** Fails the payment because its exchange failed; the commit that writes this also gives the sold money back. */
export function giveUp(payment: PaymentState, context: Pick<PaymentMoveContext, 'ids'>, now: number): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'failed' }
  const failure = { ...failureOf('technical_error'), message: 'The currency could not be bought.', at: timestamp(now) }
  return moved(next, {
    paymentDecisions: [
      {
        id: payment.id,
        version: payment.version,
        status: 'failed',
        failure: JSON.stringify(failure),
        failedAt: now,
        updatedAt: now,
      },
    ],
    statusUpdates: [update(payment, next, failure.message, 'system', now)],
    events: changeEvents(payment, next, context, now),
    outflowReturns: [outflowReturn(payment)],
  })
}

/** Puts the payment on hold: it leaves the queue and is under review. The customer sees no more than that. */
export function hold(
  payment: PaymentState,
  { hit, context }: Extract<PaymentCommand, { kind: 'hold' }>,
  now: number,
): PaymentDecision {
  const reviewHoldId = context.ids.next()
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'on_hold', holdId: reviewHoldId }
  const opened = opensComplianceHold(
    {
      id: context.ids.next(),
      kind: 'outbound_screening',
      provider: hit.provider,
      subjectType: 'payment',
      subjectId: payment.id,
      customerId: payment.customerId,
      operatorId: payment.operatorId,
      shard: payment.shard,
      currency: payment.currency,
      amount: payment.amount,
      counterparty: payment.recipientName,
      findings: hit.findings,
      decides: hit.decides === null ? null : { decision: hit.decides.decision, at: now + hit.decides.afterMs },
      createdAt: now,
    },
    context.ids.next(),
  )
  const exception = {
    kind: 'compliance_hold',
    code: null,
    message: 'Held by the compliance gate.',
    since: timestamp(now),
  } as const
  return moved(next, {
    paymentDecisions: [
      {
        id: payment.id,
        version: payment.version,
        status: 'on_hold',
        holdId: reviewHoldId,
        exception: JSON.stringify(exception),
        updatedAt: now,
      },
    ],
    ...holdReplaced(
      payment,
      { id: reviewHoldId, subjectType: 'payment_review', subjectId: reviewHoldId, description: UNDER_REVIEW },
      now,
    ),
    statusUpdates: [update(payment, next, `${UNDER_REVIEW}.`, 'system', now)],
    events: [...changeEvents(payment, next, context, now), ...(opened.events ?? [])],
    instructionsDone: [payment.id],
    ...(opened.complianceHolds === undefined ? {} : { complianceHolds: opened.complianceHolds }),
    ...opensException('payment', next, {
      id: context.ids.next(),
      kind: exception.kind,
      message: exception.message,
      at: now,
    }),
  })
}

/** Releases the payment from review: it waits for the partner again. */
export function release(payment: PaymentState, context: Pick<PaymentMoveContext, 'ids'>, now: number): PaymentDecision {
  const holdId = context.ids.next()
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'processing', holdId }
  return moved(next, {
    paymentDecisions: [
      { id: payment.id, version: payment.version, status: 'processing', holdId, exception: null, updatedAt: now },
    ],
    ...holdReplaced(
      payment,
      { id: holdId, subjectType: 'payment', subjectId: payment.id, description: `Payment ${payment.number}` },
      now,
    ),
    statusUpdates: [update(payment, next, 'The payment continues.', 'system', now)],
    events: changeEvents(payment, next, context, now),
    instructions: [{ paymentId: payment.id, shard: payment.shard }],
    ...endsException(payment, 'released', now),
  })
}

/** Fails the payment after review. Frozen money stays reserved by a hold that is no longer the payment's own. */
export function block(
  payment: PaymentState,
  { freezeFunds, context }: Extract<PaymentCommand, { kind: 'block' }>,
  now: number,
): PaymentDecision {
  const next: PaymentState = { ...payment, version: payment.version + 1, status: 'failed' }
  const failure = { ...failureOf('declined'), at: timestamp(now) }
  const frozen = freezeFunds ? context.ids.next() : null
  return moved(next, {
    paymentDecisions: [
      {
        id: payment.id,
        version: payment.version,
        status: 'failed',
        failure: JSON.stringify(failure),
        exception: null,
        failedAt: now,
        updatedAt: now,
      },
    ],
    ...(frozen === null
      ? { holdResolutions: [holdReleased(payment, now)] }
      : holdReplaced(
          payment,
          { id: frozen, subjectType: 'legal_order', subjectId: frozen, description: UNDER_REVIEW },
          now,
        )),
    statusUpdates: [update(payment, next, failure.message, 'system', now)],
    events: changeEvents(payment, next, context, now),
    outflowReturns: [outflowReturn(payment)],
    ...endsException(payment, 'blocked', now),
  })
}

/** Replaces the payment's hold by another of the same amount. */
function holdReplaced(
  payment: PaymentState,
  hold: Pick<HoldRow, 'id' | 'subjectType' | 'subjectId' | 'description'>,
  now: number,
): Pick<Effects, 'holds' | 'holdResolutions'> {
  return {
    holdResolutions: [holdReleased(payment, now)],
    holds: [{ ...hold, ...heldMoney(payment), customerId: payment.customerId, createdAt: now }],
  }
}

/**
 * The decision on a scheduled payment whose day has come, taken by the paying balance.
 *
 *   scheduled ──▶ processing (queued)   the funds are sufficient: they are held
 *       ├──▶ scheduled                  the funds are missing, or the customer may not pay: decided again later
 *       ├──▶ failed                     the same at the end of the wait
 *       └──▶ cancelled                  the recipient has changed
 */
import { idsFrom } from '../base/ids.ts'
import { brokenLimit, countOutflow } from '../customers/limits.ts'
import { moneyProblem } from '../customers/money-access.ts'
import type { BalanceState } from '../balances/balance.ts'
import type { Effects } from '../decisions/effects.ts'
import { timestamp } from '../base/clock.ts'
import { failureOf } from '../rails/failure-codes.ts'
import { changeEvents } from './move-parts.ts'
import { spenderOf, type PaymentRecord, type PaymentStatus } from './payment.ts'
import type { RecipientStatus } from '../recipients/review.ts'

export interface ReleasePayment {
  readonly kind: 'release_payment'
  /** The payment as it was read; the commit compares its version (I3). */
  readonly payment: PaymentRecord
  /** The recipient as it is now; null when it was deleted. */
  readonly recipient: {
    readonly id: string
    readonly status: RecipientStatus
    readonly version: bigint
    readonly digest: string
  } | null
  readonly holdId: string
  /** The seed of the ids of the rows (`idsFrom`). */
  readonly seed: string
  /** The end of the wait for missing money, epoch milliseconds. */
  readonly until: number
  /** The earliest hand-over to the partner, epoch milliseconds. */
  readonly notBefore?: number
}

export interface PaymentReleased {
  readonly kind: 'payment_released'
  /** `scheduled` while the payment still waits. */
  readonly status: PaymentStatus
}

interface ReleaseDecision {
  readonly state: BalanceState | null
  readonly reply: PaymentReleased
  readonly effects: Effects | null
  readonly refused?: boolean
}

/** Decides on one payment. Pure: `now` is epoch milliseconds. */
export function releasePayment(balance: BalanceState | null, command: ReleasePayment, now: number): ReleaseDecision {
  if (balance === null)
    throw new Error(`The payment ${command.payment.id} is to be paid by a balance that does not exist.`)
  const { payment, recipient } = command
  if (recipient === null || recipient.status !== 'active' || recipient.digest !== payment.details.recipientDigest)
    return end(balance, command, CHANGED, now)
  const short = shortage(balance, payment, now)
  if (short === null) return release(balance, command, recipient, now)
  // A refusal is given only on freshly loaded state: money may have come in since the balance was read (I4).
  if (now < command.until)
    return { state: balance, reply: { kind: 'payment_released', status: 'scheduled' }, effects: null, refused: true }
  const failure = { ...failureOf(short), at: timestamp(now) }
  return {
    ...end(
      balance,
      command,
      { status: 'failed', message: failure.message, changes: { failure: JSON.stringify(failure), failedAt: now } },
      now,
    ),
    refused: true,
  }
}

/** Returns the reason why the payment cannot be made now; null when it can. */
function shortage(
  balance: BalanceState,
  payment: PaymentRecord,
  now: number,
): 'declined' | 'insufficient_funds' | 'amount_limit_exceeded' | null {
  const { amount, fee } = payment
  if (moneyProblem(balance, 'pay') !== null) return 'declined'
  if (balance.status !== 'active' || balance.available < amount + fee) return 'insufficient_funds'
  return balance.limits !== null && brokenLimit(balance.limits, spendingOf(payment), now) !== null
    ? 'amount_limit_exceeded'
    : null
}

const spendingOf = (payment: PaymentRecord) => ({
  customerId: payment.customerId,
  spenderId: spenderOf(payment),
  amount: payment.amount,
})

/** Releases the payment: holds its money and queues it for the partner. */
function release(
  balance: BalanceState,
  command: ReleasePayment,
  recipient: NonNullable<ReleasePayment['recipient']>,
  now: number,
): ReleaseDecision {
  const { payment, holdId, notBefore } = command
  const total = payment.amount + payment.fee
  const counted = balance.limits === null ? null : countOutflow(balance.limits, spendingOf(payment), now)
  return {
    state: {
      ...balance,
      available: balance.available - total,
      ...(counted === null ? {} : { limits: counted.limits }),
    },
    reply: { kind: 'payment_released', status: 'processing' },
    effects: {
      ...moved(
        balance,
        command,
        {
          status: 'processing',
          message: 'The payment is due.',
          changes: { holdId, details: JSON.stringify({ ...payment.details, heldAt: now }) },
        },
        now,
      ),
      holds: [
        {
          id: holdId,
          balanceId: balance.id,
          customerId: balance.customerId,
          amount: total,
          subjectType: 'payment',
          subjectId: payment.id,
          description: `Payment ${payment.number}`,
          createdAt: now,
        },
      ],
      instructions: [
        { paymentId: payment.id, shard: balance.shard, ...(notBefore === undefined ? {} : { notBefore }) },
      ],
      facts: [{ recipientId: recipient.id, version: recipient.version }],
      ...(counted === null ? {} : { outflows: counted.outflows }),
    },
  }
}

interface Ending {
  readonly status: 'processing' | 'failed' | 'cancelled'
  readonly message: string
  readonly changes: Partial<NonNullable<Effects['paymentDecisions']>[number]>
}

/** The reason of a cancellation when the recipient has changed. */
export const RECIPIENT_CHANGED = {
  code: 'recipient_changed',
  message: 'The recipient has changed since the payment was submitted.',
}
const CHANGED: Ending = {
  status: 'cancelled',
  message: RECIPIENT_CHANGED.message,
  changes: { statusReason: JSON.stringify(RECIPIENT_CHANGED) },
}

/** Ends the payment: failed or cancelled. It had no hold. */
function end(balance: BalanceState, command: ReleasePayment, ending: Ending, now: number): ReleaseDecision {
  const cancelledAt = ending.status === 'cancelled' ? { cancelledAt: now } : {}
  return {
    state: balance,
    reply: { kind: 'payment_released', status: ending.status },
    effects: moved(balance, command, { ...ending, changes: { ...ending.changes, ...cancelledAt } }, now),
  }
}

/** Makes the rows that every move out of `scheduled` writes. */
function moved(
  { operatorId, shard }: BalanceState,
  { payment, seed }: ReleasePayment,
  { status, message, changes }: Ending,
  now: number,
): Effects {
  const after = { ...payment, operatorId, shard, status }
  return {
    paymentDecisions: [{ id: payment.id, version: payment.version, status, updatedAt: now, ...changes }],
    statusUpdates: [
      {
        objectId: payment.id,
        version: payment.version + 1,
        customerId: payment.customerId,
        status,
        previousStatus: payment.status,
        message,
        actor: 'system',
        at: now,
      },
    ],
    events: changeEvents({ ...after, status: payment.status }, after, { ids: idsFrom(seed) }, now),
    paymentsDueDone: [payment.id],
  }
}

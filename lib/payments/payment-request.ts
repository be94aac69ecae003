/** Rules of a requested payment that hold before its balance decides. */
import { spenderOf } from './payment.ts'
import type { CreatePayment, PaymentCreated } from './create-payment-command.ts'
import type { PaymentState } from './payment-state.ts'
import type { CurrencyCode } from '../base/currency.ts'
import { moneyJson, REQUEST_AMOUNT_MAX } from '../base/money.ts'
import { railDate } from '../rails/business-days.ts'
import { EXECUTION_DAYS_MAX, latestDate } from '../rails/timing.ts'
import type { chooseRail } from '../rails/choose-rail.ts'
import { refuseField, type Problem } from '../base/problems.ts'
import type { Rail } from '../rails/rails.ts'

/** Refuses a date that is in the past at the place of the rail, or too far in the future. @throws ProblemError */
export function checkDate(date: string | null, rail: Rail, now: number): void {
  if (date === null) return
  const today = railDate(rail, now)
  if (date < today) refuseField('/executionDate', 'in_past', 'The execution date has passed.')
  if (date > latestDate(today))
    refuseField(
      '/executionDate',
      'too_far_ahead',
      `The execution date is more than ${EXECUTION_DAYS_MAX} days ahead.`,
      { max: latestDate(today) },
    )
}

/** Computes a refusal by policy, to be recorded under its key like every refusal. */
export function policyRefusal(amount: bigint, currency: string, choice: ReturnType<typeof chooseRail>): Problem | null {
  if (amount > REQUEST_AMOUNT_MAX) {
    return {
      slug: 'limit-exceeded',
      detail: 'The amount is above the limit of a single payment.',
      extra: {
        limit: {
          kind: 'single',
          amount: moneyJson({ amountMinor: REQUEST_AMOUNT_MAX, currency: currency as CurrencyCode }),
          period: null,
          remaining: moneyJson({ amountMinor: REQUEST_AMOUNT_MAX, currency: currency as CurrencyCode }),
        },
      },
    }
  }
  if ('refused' in choice)
    return {
      slug: 'rail-unavailable',
      detail: 'No rail can carry this payment to this recipient.',
      extra: { rails: choice.refused },
    }
  return null
}

/** The state of a payment that was just written and waits for the bank, as a read of its rows would give it. */
export function queuedState(
  { payment, operatorId }: PaymentCreated,
  { holdId, rail }: CreatePayment,
  shard: number,
): PaymentState {
  return {
    id: payment.id,
    customerId: payment.customerId,
    operatorId,
    connectionId: payment.connectionId,
    shard,
    number: payment.number,
    status: payment.status,
    version: payment.version,
    sent: false,
    sourceBalanceId: payment.sourceBalanceId,
    payingBalanceId: payment.sourceBalanceId,
    holdId,
    currency: payment.currency,
    amount: payment.amount,
    fee: payment.fee,
    rail,
    reference: payment.details.reference,
    recipientName: payment.details.recipient.name,
    createdAt: payment.details.heldAt ?? payment.createdAt,
    spenderId: spenderOf(payment),
    recall: null,
    charges: payment.details.charges,
    payeeBalanceId: payment.details.payeeBalanceId,
  }
}

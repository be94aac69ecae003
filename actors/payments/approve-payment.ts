/** Moves a payment when its approval ends: approved, rejected, cancelled or expired. */
import type { ApprovalRecord } from '../../lib/approvals/approval.ts'
import { withdrawExchange } from '../../lib/exchange/approval.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import type { Conversion } from '../../lib/payments/conversion.ts'
import { payingProblem } from '../../lib/balances/staff-hold.ts'
import { payingBalance } from '../../storage/balances/staff-holds.ts'
import { movePayment } from '../../lib/payments/payment-moves.ts'
import type { PaymentCommand, PaymentState, Withdrawal } from '../../lib/payments/payment-state.ts'
import { dueTiming } from '../../lib/rails/timing.ts'
import { queueDelayMs } from '../../lib/sandbox/triggers.ts'
import type { ApprovalTx, Ending } from '../../storage/approvals/approvals.ts'
import { datesOf } from '../../storage/payments/due-payments.ts'
import { readExchange } from '../../storage/exchange/exchanges.ts'
import { readReviewed } from '../../storage/recipients/recipient-cache.ts'
import { readPayment, readPaymentDetails } from '../../storage/payments/payment-states.ts'
import type { ApprovalSubject, SubjectOutcome } from '../approvals/approval-subject.ts'
import { carryOut, sellingProblem, type ExchangeSubjectOptions } from '../exchange/approve-exchange.ts'
import type { PaymentQueue } from './payment-queue.ts'

/** The recipient as an approval of a payment keeps it, to notice a change of the recipient. */
interface Payload {
  readonly recipientId: string
  readonly recipientDigest: string
}

const MESSAGES: Readonly<Record<string, string>> = {
  cancelled_by_user: 'The payment was cancelled.',
  approval_expired: 'The payment was not approved in time.',
  recipient_changed: 'The recipient has changed since the payment was submitted.',
}

/** Returns how a payment ends whose approval ended without being given. */
export function withdrawalOf({ status, reason }: Pick<Ending, 'status' | 'reason'>): Withdrawal {
  if (status === 'rejected')
    return {
      status: 'rejected',
      reason: { code: 'rejected', message: reason ?? 'The payment was rejected.' },
      by: 'member',
    }
  const code = status === 'expired' ? 'approval_expired' : (reason ?? 'cancelled_by_user')
  return {
    status: 'cancelled',
    reason: { code, message: MESSAGES[code] ?? 'The payment was cancelled.' },
    by: code === 'cancelled_by_user' ? 'member' : 'system',
  }
}

/** Payments as the subjects of approvals. */
export function paymentSubject({
  queue,
  sandbox,
  exchanges,
}: {
  readonly queue: Pick<PaymentQueue, 'offer'>
  readonly sandbox: boolean
  readonly exchanges: ExchangeSubjectOptions
}): ApprovalSubject {
  return {
    async blocked({ client }, { subjectId }, decision) {
      if (decision === 'rejected') return null
      const payment = await readPayment(client, subjectId)
      if (payment === null) return null
      // The exchange is carried out with the approval; without one the payment meets a measure again in the queue.
      const exchange = payment.conversion && (await readExchange(client, payment.conversion.exchangeId, true))
      const barred = exchange ? await sellingProblem(client, exchange.exchange, 'pay') : null
      return barred ?? payingProblem(await payingBalance(client, payment.payingBalanceId), 'pay')
    },
    async changed({ client }, { payload }) {
      const { recipientId, recipientDigest } = JSON.parse(payload as string) as Payload
      const recipient = await readReviewed(client, recipientId)
      if (recipient?.status === 'active' && recipient.digest === recipientDigest) return null
      return { reason: 'recipient_changed', currentMaskedIdentifier: recipient?.maskedIdentifier ?? null }
    },
    ended: (tx, approval, ending) => end(tx, approval, ending),
  }

  async function end(tx: ApprovalTx, approval: ApprovalRecord, ending: Ending): Promise<SubjectOutcome> {
    const { client, ids, now } = tx
    const { subjectId } = approval
    const payment = await readPayment(client, subjectId)
    if (payment?.conversion !== undefined)
      return {
        effects: await endConversion(exchanges, tx, approval, ending, { ...payment, conversion: payment.conversion }),
      }
    const waits = payment?.holdId === null ? await dueOf(client, payment, now) : null
    const delayMs =
      payment === null || waits !== null || !sandbox
        ? 0
        : queueDelayMs({
            amountMinor: payment.amount,
            reference: payment.reference,
            recipientName: payment.recipientName,
          })
    const command: PaymentCommand =
      ending.status === 'approved'
        ? {
            kind: 'approve',
            context: {
              ids,
              ...(waits === null ? {} : { due: waits }),
              ...(delayMs === 0 ? {} : { notBefore: now + delayMs }),
            },
          }
        : { kind: 'withdraw', from: 'pending_approval', withdrawal: withdrawalOf(ending), context: { ids } }
    const { reply, effects } = movePayment(payment, command, now)
    // A payment leaves `pending_approval` with its approval and in no other way, so this would be a bug.
    if (reply.kind !== 'moved')
      throw new Error(`The payment ${subjectId} is ${reply.status ?? 'gone'}, not pending_approval.`)
    return {
      effects: effects ?? {},
      ...(reply.state.status === 'processing' && delayMs === 0
        ? { after: () => queue.offer(reply.state.id, reply.state.shard) }
        : {}),
    }
  }
}

/**
 * Returns when a payment is due that gets its hold only on its execution date: on that date, or as soon as possible
 * when the date has passed.
 */
export async function dueOf(
  client: ApprovalTx['client'],
  { id, rail }: PaymentState,
  now: number,
): Promise<{ readonly dueAt: number; readonly until: number }> {
  const { executionDate, calendar } = await datesOf(client, id)
  return dueTiming(rail, executionDate, calendar, now)
}

/**
 * Ends the approval of a payment that is paid by an exchange. Exchange and payment end together: both are booked, at
 * the rate that holds now, or both are withdrawn.
 */
async function endConversion(
  options: ExchangeSubjectOptions,
  tx: ApprovalTx,
  approval: ApprovalRecord,
  ending: Ending,
  payment: PaymentState & { readonly conversion: Conversion },
): Promise<Effects> {
  const { client, ids, now } = tx
  const found = await readExchange(client, payment.conversion.exchangeId, true)
  if (found?.exchange.status !== 'pending_approval')
    throw new Error(
      `The exchange of the payment ${payment.id} is ${found?.exchange.status ?? 'gone'}, not pending_approval.`,
    )
  const { exchange } = found
  const withdrawn = (withdrawal: Withdrawal) =>
    movedBy(payment, { kind: 'withdraw', from: 'pending_approval', withdrawal, context: { ids } }, now)
  if (ending.status !== 'approved') {
    const withdrawal = withdrawalOf(ending)
    const {
      status,
      reason: { message },
      by,
    } = withdrawal
    return withdrawExchange(exchange, { status, message, failure: null, by }, withdrawn(withdrawal), ids, now)
  }
  const details = await readPaymentDetails(client, payment.id)
  // The exchange must buy the amount of the payment, so the buy side is fixed, whichever side the quote had fixed.
  return await carryOut(
    options,
    tx,
    approval,
    { ...exchange, fixedSide: 'buy' },
    {
      booked({ sellAmount, fee }) {
        const conversion = { ...payment.conversion, sellMinor: sellAmount.toString(), feeMinor: fee.toString() }
        return movedBy(
          payment,
          {
            kind: 'approve',
            context: { ids, bought: { conversion, details: JSON.stringify({ ...details, conversion }) } },
          },
          now,
        )
      },
      rejected: ({ failure, message }) =>
        withdrawn({ status: 'rejected', reason: { code: failure?.code ?? 'unknown', message }, by: 'system' }),
    },
  )
}

function movedBy(payment: PaymentState, command: PaymentCommand, now: number): Effects {
  const { reply, effects } = movePayment(payment, command, now)
  if (reply.kind !== 'moved' || effects === null)
    throw new Error(`The payment ${payment.id} is ${payment.status}, not pending_approval.`)
  return effects
}

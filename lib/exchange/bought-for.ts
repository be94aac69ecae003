/**
 * The payment that an exchange buys for: what each way in which the exchange goes on or ends writes of the payment.
 *
 * Every change of an exchange carries it (`ExchangeMove.payment`), so an end of an exchange that forgets its payment does not compile.
 */
import type { PaymentPart } from '../ledger/effects-exchange.ts'
import type { IdSource } from '../ids.ts'
import type { CalendarTerms } from '../payments/business-days.ts'
import { awaitsExchange } from '../payments/move-parts.ts'
import { movePayment } from '../payments/payment-moves.ts'
import type { PaymentCommand, PaymentState } from '../payments/payment-state.ts'
import { dueTiming } from '../payments/timing.ts'
import { queueDelayMs } from '../sandbox/triggers.ts'
import type { ExchangeRecord } from './exchange.ts'

/** The payment of an exchange as it was read with the exchange. */
export interface BoughtFor {
  readonly payment: PaymentState
  /** `YYYY-MM-DD` */
  readonly executionDate: string
  /** The bank's days; null where they are ignored. */
  readonly calendar: CalendarTerms | null
}

/** What a move needs beside the state. */
export interface BoughtForContext {
  readonly ids: IdSource
  readonly sandbox: boolean
}

/**
 * What is written of the payment when its exchange has this outcome; empty when the payment does not wait for the exchange any more.
 * The payment's version is the fence. `now` is epoch milliseconds.
 *
 * @throws when the exchange has a payment that was not read with it, which is a bug
 */
export function paymentAfter(
  exchange: Pick<ExchangeRecord, 'id' | 'paymentId'>, boughtFor: BoughtFor | null, outcome: 'settled' | 'refused', context: BoughtForContext, now: number,
): Exclude<PaymentPart, 'waits'> {
  if (exchange.paymentId === null) return 'none'
  if (boughtFor?.payment.id !== exchange.paymentId) throw new Error(`The payment of the exchange ${exchange.id} was not read with it.`)
  const { payment } = boughtFor
  if (!awaitsExchange(payment)) return {}
  const { ids } = context
  const command: PaymentCommand = outcome === 'refused' ? { kind: 'unfunded', context: { ids } } : { kind: 'funded', context: { ids, notBefore: notBefore(boughtFor, context, now) } }
  return movePayment(payment, command, now).effects ?? {}
}

/** For exchanges that are made for themselves. @throws when a payment waits for the exchange, which is a bug */
export function forItself({ id, paymentId }: Pick<ExchangeRecord, 'id' | 'paymentId'>): 'none' {
  if (paymentId !== null) throw new Error(`The exchange ${id} ends without its payment ${paymentId}.`)
  return 'none'
}

/** The payment that takes its place in the bank's queue with this change; null when there is none, or not yet. */
export function queuedNow(part: PaymentPart): { readonly id: string; readonly shard: number } | null {
  const instruction = typeof part === 'string' ? undefined : part.instructions?.find(({ notBefore: at }) => at === undefined)
  return instruction === undefined ? null : { id: instruction.paymentId, shard: instruction.shard }
}

/** Until when the payment is not handed over: its connection keeps cut-offs and its day has not come, or a sandbox keeps it waiting. */
function notBefore({ payment: { rail, amount, reference, recipientName }, executionDate, calendar }: BoughtFor, { sandbox }: BoughtForContext, now: number): number | undefined {
  const dueAt = calendar === null ? now : dueTiming(rail, executionDate, calendar, now).dueAt
  const delayMs = sandbox ? queueDelayMs({ amountMinor: amount, reference, recipientName }) : 0
  const at = Math.max(dueAt, now + delayMs)
  return at > now ? at : undefined
}

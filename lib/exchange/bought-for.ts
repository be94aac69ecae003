/**
 * The payment that an exchange buys for: what each way in which the exchange goes on or ends writes of the payment.
 *
 * Every change of an exchange carries it (`ExchangeMove.payment`), so an end of an exchange that forgets its payment does not compile.
 */
import type { IdSource } from '../base/ids.ts'
import type { PaymentPart } from './effects.ts'
import type { ExchangeRecord } from './exchange.ts'

/** The payment of an exchange as it was read with the exchange. */
export interface BoughtFor {
  readonly paymentId: string
  /**
   * Rows of the payment when its exchange has this outcome; empty when the payment does not wait for the exchange any more. The
   * payment's version is the fence. `now` is epoch milliseconds.
   */
  after(outcome: 'settled' | 'refused', context: BoughtForContext, now: number): Exclude<PaymentPart, 'waits'>
}

/** Whatever a move needs beside the state. */
export interface BoughtForContext {
  readonly ids: IdSource
  /** How long a sandbox keeps a payment in the queue, milliseconds; 0 outside a sandbox. */
  readonly queueDelayMs: (payment: { readonly amountMinor: bigint; readonly reference: string; readonly recipientName: string }) => number
}

/**
 * Rows of the payment of an exchange with this outcome.
 *
 * @throws when the exchange has a payment that was not read with it, which is a bug
 */
export function paymentAfter(
  exchange: Pick<ExchangeRecord, 'id' | 'paymentId'>, boughtFor: BoughtFor | null, outcome: 'settled' | 'refused', context: BoughtForContext, now: number,
): Exclude<PaymentPart, 'waits'> {
  if (exchange.paymentId === null) return 'none'
  if (boughtFor?.paymentId !== exchange.paymentId) throw new Error(`The payment of the exchange ${exchange.id} was not read with it.`)
  return boughtFor.after(outcome, context, now)
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

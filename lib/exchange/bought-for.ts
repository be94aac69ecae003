/**
 * The payment that an exchange buys for: the rows of the payment that each outcome of the exchange writes.
 *
 * Every change of an exchange has the member `ExchangeMove.payment`, so code that ends an exchange and forgets its
 * payment does not compile.
 */
import type { IdSource } from '../base/ids.ts'
import type { PaymentPart } from './effects.ts'
import type { ExchangeRecord } from './exchange.ts'

/** The payment of an exchange as it was read with the exchange. */
export interface BoughtFor {
  readonly paymentId: string
  /**
   * Builds the rows of the payment when its exchange has this outcome; empty when the payment does not wait for the
   * exchange any more. The payment's version is the fence. `now` is epoch milliseconds.
   */
  after(outcome: 'settled' | 'refused', context: BoughtForContext, now: number): Exclude<PaymentPart, 'waits'>
}

/** Further data that a move needs besides the state. */
export interface BoughtForContext {
  readonly ids: IdSource
  /** The time for which a sandbox keeps the exchange's payment in the queue, milliseconds; 0 outside a sandbox. */
  readonly queueDelayMs: number
}

/**
 * Builds the rows of an exchange's payment for this outcome; `none` when the exchange has no payment.
 *
 * @throws when the exchange has a payment that was not read with it, which is a bug
 */
export function paymentAfter(
  exchange: Pick<ExchangeRecord, 'id' | 'paymentId'>,
  boughtFor: BoughtFor | null,
  outcome: 'settled' | 'refused',
  context: BoughtForContext,
  now: number,
): Exclude<PaymentPart, 'waits'> {
  if (exchange.paymentId === null) return 'none'
  if (boughtFor?.paymentId !== exchange.paymentId)
    throw new Error(`The payment of the exchange ${exchange.id} was not read with it.`)
  return boughtFor.after(outcome, context, now)
}

/**
 * Returns `none` for an exchange that buys for no payment. @throws when a payment waits for the exchange, which is a
 * bug
 */
export function forItself({ id, paymentId }: Pick<ExchangeRecord, 'id' | 'paymentId'>): 'none' {
  if (paymentId !== null) throw new Error(`The exchange ${id} ends without its payment ${paymentId}.`)
  return 'none'
}

/**
 * Returns the payment that this change puts into the bank's queue; null when there is none, or when it is queued later.
 */
export function queuedNow(part: PaymentPart): { readonly id: string; readonly shard: number } | null {
  const instruction =
    typeof part === 'string' ? undefined : part.instructions?.find(({ notBefore: at }) => at === undefined)
  return instruction === undefined ? null : { id: instruction.paymentId, shard: instruction.shard }
}

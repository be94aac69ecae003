/**
 * Releases scheduled payments on their date: brings each to the balance that pays it, which holds the money, lets
 * the payment wait, or ends it as failed or cancelled (lib/payments/release-payment.ts).
 *
 * The due time is a column, polled by the node that owns the shard. Two nodes that poll at once do no harm: the commit
 * compares the payment's version, and the second node finds it moved.
 */
import type { IdSource } from '../../lib/base/ids.ts'
import { queueDelayMs } from '../../lib/sandbox/triggers.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import { duePayments, postponeDuePayment, type DuePayment } from '../../storage/payments/due-payments.ts'
import { findPayment } from '../../storage/payments/payment-queries.ts'
import type { RecipientCache } from '../../storage/recipients/recipient-cache.ts'
import { balanceActor } from '../balances/balance.ts'
import { Poller } from '../runtime/poller.ts'
import { untilDue } from '../runtime/rest.ts'
import type { Wakes } from '../runtime/wakes.ts'
import type { ActorSystem } from '../runtime/system.ts'
import { MINUTE_MS, type Clock } from '../../lib/base/clock.ts'
import type { PaymentQueue } from './payment-queue.ts'

/** The poll interval, the number of payments per batch, and the maximum number of batches per poll. */
const TICK_MS = 1_000
const DUE_MAX = 256
const BATCHES_MAX = 16
/** The delay before a payment without enough money is tried again. */
const RETRY_MS = 15 * MINUTE_MS
/**
 * The delay before a payment is tried again that could not be decided because the database or the calendar was
 * unavailable.
 */
const FAILED_RETRY_MS = 10_000

export interface DuePaymentsOptions {
  readonly wakes: Wakes
  readonly system: ActorSystem
  readonly database: Database
  readonly recipients: RecipientCache
  readonly queue: Pick<PaymentQueue, 'offer'>
  readonly ids: IdSource
  readonly clock: Clock
  readonly shards: Shards
  readonly sandbox: boolean
  readonly onError: (error: unknown, what: string) => void
}

export class DuePayments extends Poller {
  readonly #options: DuePaymentsOptions

  constructor(options: DuePaymentsOptions) {
    super({
      everyMs: TICK_MS,
      poll: () => this.#poll(),
      rest: untilDue(options, ['payment_due'], ['events']),
      onError: (error) => options.onError(error, 'payments that are due'),
    })
    this.#options = options
  }

  async #poll(): Promise<void> {
    const { database, clock, shards, onError } = this.#options
    for (let batch = 0; batch < BATCHES_MAX; batch++) {
      const due = await duePayments(database, { now: clock.now(), owned: shards.owned(), max: DUE_MAX })
      await Promise.all(
        due.map((one) =>
          this.#decide(one).catch(async (error: unknown) => {
            onError(error, `payment ${one.paymentId}`)
            await postponeDuePayment(database, one.paymentId, clock.now() + FAILED_RETRY_MS)
          }),
        ),
      )
      if (due.length < DUE_MAX) return
    }
  }

  async #decide({ paymentId, shard, until }: DuePayment): Promise<void> {
    const { system, database, recipients, queue, ids, clock, sandbox } = this.#options
    const payment = await findPayment(database, paymentId)
    if (payment?.status !== 'scheduled') return
    // The payment uses the recipient's current details, not those in this node's cache.
    recipients.forget(payment.recipientId)
    const recipient = await recipients.find(payment.recipientId)
    const delayMs = sandbox
      ? queueDelayMs({
          amountMinor: payment.amount,
          reference: payment.details.reference,
          recipientName: payment.details.recipient.name,
        })
      : 0
    const outcome = await system.ask(balanceActor, payment.sourceBalanceId, shard, {
      kind: 'release_payment',
      payment,
      recipient,
      holdId: ids.next(),
      seed: ids.next(),
      until,
      ...(delayMs === 0 ? {} : { notBefore: clock.now() + delayMs }),
    })
    switch (outcome.kind) {
      case 'decided':
        if (outcome.reply.kind !== 'payment_released') throw new Error('A balance has answered another question.')
        if (outcome.reply.status === 'scheduled')
          await postponeDuePayment(database, paymentId, Math.min(clock.now() + RETRY_MS, until))
        if (outcome.reply.status === 'processing' && delayMs === 0) queue.offer(paymentId, shard)
        return
      // The payment or its recipient has changed meanwhile: the next poll finds the work that is left.
      case 'payment_stale':
      case 'fact_stale':
        return
      default:
        throw new Error(`A payment that is due met ${outcome.kind}.`)
    }
  }
}

/**
 * Follows the outcomes of scheduled payments by their events. One pass at a time in the whole service, in a transaction
 * that also moves the cursor.
 */
import type { PaymentStatus } from '../../lib/payments/payment.ts'
import type { PaymentOutcome } from '../../lib/scheduled-payments/schedule.ts'
import { OutboxCursor, IN_EVENT_RANGE } from '../outbox/outbox-cursor.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { expression, select } from '../db/select.ts'

/** Events of one pass. */
const EVENTS_MAX = 20_000

const OUTCOMES: Readonly<Partial<Record<PaymentStatus, PaymentOutcome>>> = {
  completed: 'completed',
  failed: 'failed',
  returned: 'failed',
  rejected: 'withdrawn',
  cancelled: 'withdrawn',
}

/** A payment of a schedule that has ended. */
export interface EndedPayment {
  readonly paymentId: string
  readonly scheduledPaymentId: string
  readonly outcome: PaymentOutcome
  /** The reason of a failure. */
  readonly message: string | null
}

/** SQL: whether any schedule waits for the end of a payment. While none does, the events are skipped unread. */
const WAITING = `select from scheduled_occurrence where outcome is null and status <> 'refused' limit 1`

// Events are read first, then the few payments among them that schedules wait for, in the order in which schedules are
// locked.
const OUTCOME = select({
  paymentId: expression<string>('c.payment_id'),
  scheduledPaymentId: expression<string>('c.scheduled_payment_id'),
  status: expression<PaymentStatus>('p.status'),
  message: expression<string | null>(`p.failure::json->>'message'`),
})
const ENDED = `select ${OUTCOME.sql} from scheduled_occurrence c join payment p on p.id = c.payment_id
  where c.outcome is null and c.status <> 'refused'
    and c.payment_id = any (array(select o.object_id from outbox o where ${IN_EVENT_RANGE} and o.object = 'payment' and not o.sandbox and o.status = any ($4)))
  order by c.scheduled_payment_id, p.updated_at, c.payment_id`

/**
 * Makes one pass within a transaction. `now` is epoch milliseconds.
 *
 * @param tell called for each payment that has ended, schedule by schedule
 * @returns whether more events wait
 */
export async function followOutcomes(
  client: TransactionClient,
  now: number,
  tell: (ended: EndedPayment) => Promise<void>,
): Promise<{ readonly more: boolean }> {
  const place = await OutboxCursor.take(client, 'scheduled_payment_follow_up', now)
  if (place === null) return { more: false }
  const stretch = await place.next(EVENTS_MAX)
  if (stretch === null) return { more: false }
  const { rowCount: waiting } = await client.query({ name: 'schedules_that_wait', text: WAITING })
  const { rows } =
    waiting === 0
      ? { rows: [] }
      : await client.query<unknown[]>({
          name: 'scheduled_payments_ended',
          text: ENDED,
          values: [...stretch.bounds, Object.keys(OUTCOMES)],
          rowMode: 'array',
        })
  let told = 0
  for (const row of rows) {
    const { paymentId, scheduledPaymentId, status, message } = OUTCOME.read(row)
    const outcome = OUTCOMES[status]
    if (outcome === undefined) continue
    await tell({ paymentId, scheduledPaymentId, outcome, message })
    told += 1
  }
  await place.move(stretch)
  // Only the cursor was written: if a server crash loses it, the next pass reads the same events again.
  if (told === 0) await client.query('set local synchronous_commit = off')
  return { more: stretch.more }
}

/**
 * Follows the events of payments that have ended: records when a recipient was last paid, and writes notices of failed
 * and returned payments and the alerts that the customer's settings demand. One pass at a time in the whole service, in
 * a transaction that also moves the cursor. So this work delays no payment, a crashed node leaves no event out, and two
 * passes never write the same recipients. The recipient's version stays: cached recipients of payments remain valid.
 */
import type { IdSource } from '../../lib/base/ids.ts'
import { tellAlerts } from '../customers/alerts.ts'
import type { Database } from '../db/database.ts'
import { OutboxCursor, IN_EVENT_RANGE } from '../outbox/outbox-cursor.ts'
import { insertNotices } from '../notices/notices.ts'
import { inTransaction } from '../db/transaction.ts'
import { pick } from '../db/columns.ts'
import { expression, from, select } from '../db/select.ts'
import { Payment } from './payment-entity.ts'

/** Events of one pass: some three a payment. A pass ends within a tenth of a second; the next pass takes the rest. */
const EVENTS_MAX = 20_000

// Events are read first, then their payments by id: with a join, Postgres would read both tables whole as soon as
// statistics are outdated.
const ENDED = (type: 'completed' | 'failed' | 'returned') =>
  `p.id = any (array(select o.object_id from outbox o where ${IN_EVENT_RANGE} and o.type = 'payment.${type}' and not o.sandbox))`

// A change of a recipient locks that one row only. Rows are locked in the order of their ids, so no deadlock is
// possible.
const PAID = `with paid as (
    select p.recipient_id as id, max(p.completed_at) as at from payment p where ${ENDED('completed')} group by p.recipient_id),
  locked as materialized (select r.id, paid.at from recipient r join paid on paid.id = r.id order by r.id for no key update of r)
  update recipient r set last_paid_at = locked.at from locked where r.id = locked.id and (r.last_paid_at is null or r.last_paid_at < locked.at)`

// The user who made the payment, if still a member; an API key receives webhooks instead.
const MADE_BY_MEMBERS = `payment p join membership m on m.tenant_id = p.customer_id and m.user_id = p.created_by and m.status = 'active'`
const news = (message: string) =>
  select({
    ...pick(from(Payment, 'p'), ['id', 'customerId', 'createdBy', 'number']),
    message: expression<string | null>(message),
  })
const FAILED = news(`p.failure::json->>'message'`)
const RETURNED = news(`p.return_info::json->>'reason'`)
const NEWS = [
  {
    type: 'payment_failed',
    word: 'failed',
    read: FAILED.read,
    text: `select ${FAILED.sql} from ${MADE_BY_MEMBERS}
    where ${ENDED('failed')} order by p.failed_at, p.id`,
  },
  {
    type: 'payment_returned',
    word: 'returned',
    read: RETURNED.read,
    text: `select ${RETURNED.sql} from ${MADE_BY_MEMBERS}
    where ${ENDED('returned')} order by p.id`,
  },
] as const

export interface FollowUp {
  /** Whether more events wait. */
  readonly more: boolean
}

const NOTHING: FollowUp = { more: false }

/**
 * Makes one pass. `now` is epoch milliseconds.
 *
 * @throws DatabaseUnavailable, OutcomeUnknown and the driver's errors; the next pass resumes where the last committed
 * pass ended
 */
export async function followUpPayments(database: Database, ids: IdSource, now: number): Promise<FollowUp> {
  return await inTransaction(database, async (client) => {
    const place = await OutboxCursor.take(client, 'payment_follow_up', now)
    if (place === null) return NOTHING
    const stretch = await place.next(EVENTS_MAX)
    if (stretch === null) return NOTHING
    const ask = async (name: string, text: string): Promise<unknown[][]> =>
      (await client.query<unknown[]>({ name, text, values: [...stretch.bounds], rowMode: 'array' })).rows
    // A server crash loses the last writes together with the cursor's position, so they are done again.
    await client.query('set local synchronous_commit = off')
    await ask('follow_up_paid', PAID)
    for (const { type, word, read, text: found } of NEWS) {
      for (const row of await ask(`follow_up_${word}`, found)) {
        const { id, customerId: tenantId, createdBy: userId, number, message } = read(row)
        const title = `Payment ${number} ${word}`
        const text = message ?? `${title}.`
        await insertNotices(
          client,
          ids,
          [userId],
          { tenantId, type, title, text, object: { type: 'payment', id } },
          now,
        )
      }
    }
    await tellAlerts(client, ids, stretch, now)
    await place.move(stretch)
    return { more: stretch.more }
  })
}

/**
 * What follows from payments that have ended, read off their events: when a recipient was last paid, and who is told that one
 * has failed or come back, or of what else its customer wants to be alerted to. One pass at a time over the whole service, in a
 * transaction that also remembers how far it has come. So nothing of it is on a payment's way, a node that dies leaves nothing
 * out, and the recipients that a pass writes meet no other pass. It leaves a recipient's version alone: what payments know of it
 * stays true.
 */
import type { IdSource } from '../../lib/base/ids.ts'
import { tellAlerts } from '../customers/alerts.ts'
import type { Database } from '../db/database.ts'
import { OutboxCursor, IN_EVENT_RANGE } from '../outbox/outbox-cursor.ts'
import { insertNotices } from '../notices/notices.ts'
import { inTransaction } from '../db/transaction.ts'

/** Events of one pass: some three a payment. A pass ends within a tenth of a second, and what is left is the next one's. */
const EVENTS_MAX = 20_000

// The events first, then their payments by id: joined, the two would be read whole as soon as statistics are a moment old.
const ENDED = (type: 'completed' | 'failed' | 'returned') =>
  `p.id = any (array(select o.object_id from outbox o where ${IN_EVENT_RANGE} and o.type = 'payment.${type}' and not o.sandbox))`

// Whoever changes a recipient holds its row alone; in the order of their ids nobody waits for a pass that waits for them.
const PAID = `with paid as (
    select p.recipient_id as id, max(p.completed_at) as at from payment p where ${ENDED('completed')} group by p.recipient_id),
  locked as materialized (select r.id, paid.at from recipient r join paid on paid.id = r.id order by r.id for no key update of r)
  update recipient r set last_paid_at = locked.at from locked where r.id = locked.id and (r.last_paid_at is null or r.last_paid_at < locked.at)`

// Who made it, if that is a person who still works there; a key has its callbacks.
const MADE_BY_MEMBERS = `payment p join membership m on m.tenant_id = p.customer_id and m.user_id = p.created_by and m.status = 'active'`
const NEWS = [
  { type: 'payment_failed', word: 'failed', text: `select p.id, p.customer_id, p.created_by, p.number, p.failure::json->>'message' from ${MADE_BY_MEMBERS}
    where ${ENDED('failed')} order by p.failed_at, p.id` },
  { type: 'payment_returned', word: 'returned', text: `select p.id, p.customer_id, p.created_by, p.number, p.return_info::json->>'reason' from ${MADE_BY_MEMBERS}
    where ${ENDED('returned')} order by p.id` },
] as const

export interface FollowUp {
  /** More events wait. */
  readonly more: boolean
  /** To be sent now that it is written. */
  readonly mails: readonly { readonly to: string; readonly subject: string; readonly text: string }[]
}

const NOTHING: FollowUp = { more: false, mails: [] }

/**
 * Makes one pass. `now` is epoch milliseconds.
 *
 * @throws DatabaseUnavailable, OutcomeUnknown and what the driver throws; the next pass does what this one has not
 */
export async function followUpPayments(database: Database, ids: IdSource, now: number): Promise<FollowUp> {
  return await inTransaction(database, async (client) => {
    const place = await OutboxCursor.take(client, 'payment_follow_up', now)
    if (place === null) return NOTHING
    const stretch = await place.next(EVENTS_MAX)
    if (stretch === null) return NOTHING
    const ask = async <Row extends unknown[]>(name: string, text: string): Promise<Row[]> =>
      (await client.query({ name, text, values: [...stretch.bounds], rowMode: 'array' })).rows as unknown as Row[]
    // What is lost with the last moments of a server is lost together with the place, and done again.
    await client.query('set local synchronous_commit = off')
    await ask('follow_up_paid', PAID)
    const mails: FollowUp['mails'][number][] = []
    for (const { type, word, text: found } of NEWS) {
      for (const [id, tenantId, userId, number, message] of await ask<[string, string, string, string, string | null]>(`follow_up_${word}`, found)) {
        const subject = `Payment ${number} ${word}`
        const text = message ?? `${subject}.`
        const addresses = await insertNotices(client, ids, [userId], { tenantId, type, title: subject, text, object: { type: 'payment', id } }, now)
        mails.push(...addresses.map((to) => ({ to, subject, text })))
      }
    }
    mails.push(...await tellAlerts(client, ids, stretch, now))
    await place.move(stretch)
    return { more: stretch.more, mails }
  })
}

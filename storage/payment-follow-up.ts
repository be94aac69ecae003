/**
 * What follows from payments that have ended, read off their events: when a recipient was last paid, and who is told of a
 * failure. One pass at a time over the whole service, in a transaction that also remembers how far it has come. So nothing
 * of it is on a payment's way, a node that dies leaves nothing out, and the recipients that a pass writes meet no other pass.
 *
 * A pass reads the events of transactions that are over, everything older than the oldest one under way, by the index that
 * callbacks are relayed by. It leaves a recipient's version alone: what payments know of it stays true.
 */
import { timestamp } from '../lib/clock.ts'
import type { IdSource } from '../lib/ids.ts'
import type { Database } from './database.ts'
import { insertNotices } from './notices.ts'
import { inTransaction } from './transaction.ts'

/** Events of one pass: some three a payment. A pass ends within a tenth of a second, and what is left is the next one's. */
const EVENTS_MAX = 20_000
/** One pass at a time; any fixed number does, this one spells "paid". */
const LOCK = 0x70616964
/** Events are stamped by the clock of the node that wrote them; no node is this far behind another. */
const CLOCK_SLACK_MS = 2 * 86_400_000

const PLACE = `select f.position::text, s.horizon::text, f.position > s.newest, f.moved_at
  from payment_follow_up f, (select pg_snapshot_xmin(pg_current_snapshot()) as horizon, pg_snapshot_xmax(pg_current_snapshot()) as newest) s`

const RANGE = 'o.written_in >= $1::text::xid8 and o.written_in < $2::text::xid8 and o.created_at >= $3'

const NEWEST = `select o.written_in::text from outbox o where ${RANGE} order by o.written_in desc limit 1`

// Where the pass ends if there are more events than one takes. Whole transactions only, so that one number says it all.
const CUT = `select o.written_in::text from outbox o where ${RANGE} order by o.written_in limit 1 offset ${EVENTS_MAX}`

// The events first, then their payments by id: joined, the two would be read whole as soon as statistics are a moment old.
const ENDED = (type: 'completed' | 'failed') =>
  `p.id = any (array(select o.object_id from outbox o where ${RANGE} and o.type = 'payment.${type}' and not o.sandbox))`

// Whoever changes a recipient holds its row alone; in the order of their ids nobody waits for a pass that waits for them.
const PAID = `with paid as (
    select p.recipient_id as id, max(p.completed_at) as at from payment p where ${ENDED('completed')} group by p.recipient_id),
  locked as materialized (select r.id, paid.at from recipient r join paid on paid.id = r.id order by r.id for no key update of r)
  update recipient r set last_paid_at = locked.at from locked where r.id = locked.id and (r.last_paid_at is null or r.last_paid_at < locked.at)`

// Who made it, if that is a person who still works there; a key has its callbacks.
const FAILED = `select p.id, p.customer_id, p.created_by, p.number, p.failure::json->>'message' from payment p
    join membership m on m.tenant_id = p.customer_id and m.user_id = p.created_by and m.status = 'active'
  where ${ENDED('failed')} order by p.failed_at, p.id`

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
    const ask = async <Row extends unknown[]>(name: string, text: string, values: unknown[] = []): Promise<Row[]> =>
      (await client.query({ name, text, values, rowMode: 'array' })).rows as unknown as Row[]
    const [lock] = await ask<[boolean]>('follow_up_lock', `select pg_try_advisory_xact_lock(${LOCK})`)
    if (lock?.[0] !== true) return NOTHING
    const [place] = await ask<[string, string, boolean, Date | null]>('follow_up_place', PLACE)
    const [from, horizon, restored, movedAt] = place as [string, string, boolean, Date | null]
    const since = timestamp((movedAt === null ? now : Math.min(movedAt.getTime(), now)) - CLOCK_SLACK_MS)
    const move = (position: string) => ask('follow_up_move', 'update payment_follow_up set position = $1::text::xid8, moved_at = $2', [position, timestamp(now)])
    // The database is a copy in another cluster, whose transactions are counted anew.
    if (restored) {
      await move(horizon)
      return NOTHING
    }
    const [newest] = await ask<[string]>('follow_up_newest', NEWEST, [from, horizon, since])
    // While nothing happens nothing is written.
    if (newest === undefined) return NOTHING
    const [cut] = await ask<[string]>('follow_up_cut', CUT, [from, horizon, since])
    // A transaction of more events than a pass may have is taken whole.
    const until = cut === undefined ? after(newest[0]) : cut[0] === from ? after(from) : cut[0]
    // What is lost with the last moments of a server is lost together with the place, and done again.
    await client.query('set local synchronous_commit = off')
    await ask('follow_up_paid', PAID, [from, until, since])
    const mails: FollowUp['mails'][number][] = []
    for (const [id, tenantId, userId, number, message] of await ask<[string, string, string, string, string | null]>('follow_up_failed', FAILED, [from, until, since])) {
      const subject = `Payment ${number} failed`
      const text = message ?? `${subject}.`
      const addresses = await insertNotices(client, ids, [userId], { tenantId, type: 'payment_failed', title: subject, text, object: { type: 'payment', id } }, now)
      mails.push(...addresses.map((to) => ({ to, subject, text })))
    }
    await move(until)
    return { more: cut !== undefined, mails }
  })
}

const after = (transaction: string): string => String(BigInt(transaction) + 1n)

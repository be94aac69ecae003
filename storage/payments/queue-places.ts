/** The places of payments in the partner’s queue. */
import { timestamp, type Clock } from '../../lib/base/clock.ts'
import type { PaymentRecord, QueuePlace } from '../../lib/payments/payment.ts'
import { plainArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'
import { PAYER_NOT_STOPPED } from './partner-instructions.ts'

/** The speed of the partner's queue, and the clock. */
export interface Queue {
  readonly clock: Clock
  /** Payments handed to the partner per second, recently. */
  readonly drainPerSecond: () => number
}

/** Positions are counted up to this number, so that a long queue does not slow its own reads. */
const POSITION_MAX = 1_000

/**
 * SQL of waiting instructions, from the smallest payment on: how many are at or before it, and which come after it up
 * to the largest. Instructions are handed over in the order of their ids, so waiting ones are at the end; those of stopped
 * balances hold up no others. Deferred ones wait at least the returned number of seconds.
 */
const WAITING = `select 'before' as part, null as payment_id, count(*)::int as waiting from (
      select payment_id from partner_instruction where payment_id <= $1 order by payment_id desc limit ${POSITION_MAX}) i
    join payment p on p.id = i.payment_id where p.sent_at is null and ${PAYER_NOT_STOPPED}
  union all
  select 'after', i.payment_id, null from (
      select payment_id from partner_instruction where payment_id > $1 and payment_id <= $2 order by payment_id limit ${POSITION_MAX}) i
    join payment p on p.id = i.payment_id where p.sent_at is null and ${PAYER_NOT_STOPPED}
  union all
  select 'kept', payment_id, ceil(extract(epoch from not_before - $4::timestamptz))::int from partner_instruction
    where payment_id = any($3::uuid[]) and not_before > $4::timestamptz
  order by 1 desc, 2`

/**
 * Reads the queue positions of the payments that wait for the partner. Payments that were handed over or have ended are
 * absent.
 */
export async function queuePlaces(
  database: Database,
  payments: readonly PaymentRecord[],
  queue: Queue,
): Promise<ReadonlyMap<string, QueuePlace>> {
  const places = new Map<string, QueuePlace>()
  const waiting = payments
    .filter(({ status, sentAt }) => status === 'processing' && sentAt === null)
    .map(({ id }) => id)
    .sort()
  if (waiting.length === 0) return places
  const rows = await database.query<['kept' | 'before' | 'after', string | null, number | null]>({
    name: 'queue_places',
    text: WAITING,
    values: [waiting[0], waiting.at(-1), plainArray(waiting), timestamp(queue.clock.now())],
  })
  const first = Math.max(rows.find(([part]) => part === 'before')?.[2] ?? 0, 1)
  const later = rows.filter(([part]) => part === 'after').map(([, id]) => id as string)
  const kept = new Map(
    rows.filter(([part]) => part === 'kept').map(([, id, seconds]) => [id as string, seconds as number]),
  )
  let passed = 0
  for (const id of waiting) {
    while (passed < later.length && later[passed]! <= id) passed += 1
    places.set(id, placeAt(Math.min(first + passed, POSITION_MAX), queue, kept.get(id)))
  }
  return places
}

/** Computes a queue position and its estimated time; the slowest queue counts as one payment a second. */
function placeAt(position: number, { clock, drainPerSecond }: Queue, keptSeconds = 0): QueuePlace {
  const etaSeconds = Math.max(Math.ceil(position / Math.max(drainPerSecond(), 1)), keptSeconds)
  return { position, etaSeconds, estimatedAt: timestamp(clock.now() + etaSeconds * 1000) }
}

/**
 * Matches incoming payments with the funds requests whose reference they quote, by following events. One pass at a
 * time in the whole service, in a transaction that also moves the cursor: a crashed node leaves no event out, and no
 * payment counts twice. A payment counts by the time of its credit. One that is too late, on another balance or in another currency stays an unmatched
 * arrival.
 */
import { referencesIn } from '../../lib/funds-requests/creditor-reference.ts'
import { fundsRequestAt } from '../../lib/funds-requests/funds-request.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Database } from '../db/database.ts'
import { OutboxCursor, IN_EVENT_RANGE } from '../outbox/outbox-cursor.ts'
import { countArrival, lockFundsRequestOfReference, type FundsRequestTx } from './funds-requests.ts'
import { inTransaction } from '../db/transaction.ts'
import { pick } from '../db/columns.ts'
import { from, select } from '../db/select.ts'
import { IncomingPayment } from '../incoming-payments/incoming-payment-entity.ts'

/** Events of one pass, of all kinds; arrivals among them are few. */
const EVENTS_MAX = 20_000

// Events are read first, then their arrivals by id: with a join, Postgres would read both tables whole as soon as
// statistics are outdated. All arrivals are locked before the first request: a member who assigns an arrival at this
// moment takes locks in the same order.
const ARRIVAL = select(
  pick(from(IncomingPayment, 'i'), ['id', 'amount', 'balanceId', 'currency', 'reference', 'creditedAt']),
)
const ARRIVALS = `select ${ARRIVAL.sql} from incoming_payment i
  where i.id = any (array(select o.object_id from outbox o where ${IN_EVENT_RANGE} and o.type = 'incoming_payment.received' and not o.sandbox))
    and i.status = 'received' and i.reference ilike '%RF%' order by i.received_at, i.id for update of i`

/**
 * Makes one pass. `now` is epoch milliseconds.
 *
 * @returns whether more events wait
 * @throws DatabaseUnavailable, OutcomeUnknown and the driver's errors; the next pass resumes where the last committed
 * pass ended
 */
export async function matchArrivals(database: Database, ids: IdSource, now: number): Promise<boolean> {
  return await inTransaction(database, async (client) => {
    const place = await OutboxCursor.take(client, 'funds_request_matching', now)
    if (place === null) return false
    const stretch = await place.next(EVENTS_MAX)
    if (stretch === null) return false
    const { rows } = await client.query<unknown[]>({
      name: 'matching_arrivals',
      text: ARRIVALS,
      values: [...stretch.bounds],
      rowMode: 'array',
    })
    for (const row of rows) await match({ client, ids, now }, ARRIVAL.read(row))
    await place.move(stretch)
    return stretch.more
  })
}

/** Assigns an arrival to the first request whose reference it quotes and that waits for this money. */
async function match(
  tx: FundsRequestTx,
  { id, amount, balanceId, currency, reference: text, creditedAt }: ReturnType<typeof ARRIVAL.read>,
): Promise<void> {
  if (balanceId === null || text === null) return
  for (const reference of referencesIn(text)) {
    const request = await lockFundsRequestOfReference(tx.client, { reference, balanceId, currency })
    const current = request === null ? null : fundsRequestAt(request, creditedAt ?? tx.now)
    if (current !== null && (await countArrival(tx, current, { id, amount }))) return
  }
}

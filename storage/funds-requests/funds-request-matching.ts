/**
 * Money that arrives, matched with the funds requests it quotes (N2), read off its events. One pass at a time over the whole
 * service, in a transaction that also remembers how far it has come: a node that dies leaves nothing out, and nothing counts
 * twice. Money that comes too late, to another balance or in another currency stays what it is, a plain arrival.
 */
import { referencesIn } from '../../lib/funds-requests/creditor-reference.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Database } from '../db/database.ts'
import { OutboxCursor, IN_EVENT_RANGE } from '../outbox/outbox-cursor.ts'
import { countArrival, lockFundsRequestOfReference, type FundsRequestTx } from './funds-requests.ts'
import { inTransaction } from '../db/transaction.ts'

/** Events of one pass, of all kinds; arrivals among them are few. */
const EVENTS_MAX = 20_000

// The events first, then their arrivals by id: joined, the two would be read whole as soon as statistics are a moment old.
// All of them are locked before the first request is: a member who counts one of them at this moment locks in the same order.
const ARRIVALS = `select i.id, i.amount::text, i.balance_id, i.currency, i.reference from incoming_payment i
  where i.id = any (array(select o.object_id from outbox o where ${IN_EVENT_RANGE} and o.type = 'incoming_payment.received' and not o.sandbox))
    and i.status = 'received' and i.reference ilike '%RF%' order by i.received_at, i.id for update of i`

type ArrivalRow = [id: string, amount: string, balanceId: string, currency: string, reference: string]

/**
 * Makes one pass. `now` is epoch milliseconds.
 *
 * @returns whether more events wait
 * @throws DatabaseUnavailable, OutcomeUnknown and what the driver throws; the next pass does what this one has not
 */
export async function matchArrivals(database: Database, ids: IdSource, now: number): Promise<boolean> {
  return await inTransaction(database, async (client) => {
    const place = await OutboxCursor.take(client, 'funds_request_matching', now)
    if (place === null) return false
    const stretch = await place.next(EVENTS_MAX)
    if (stretch === null) return false
    const { rows } = await client.query<ArrivalRow>({ name: 'matching_arrivals', text: ARRIVALS, values: [...stretch.bounds], rowMode: 'array' })
    for (const row of rows) await match({ client, ids, now }, row)
    await place.move(stretch)
    return stretch.more
  })
}

/** The first request that is quoted and waits for this money has it. */
async function match(tx: FundsRequestTx, [id, amount, balanceId, currency, text]: ArrivalRow): Promise<void> {
  for (const reference of referencesIn(text)) {
    const request = await lockFundsRequestOfReference(tx.client, { reference, balanceId, currency })
    if (request !== null && await countArrival(tx, request, { id, amount: BigInt(amount) })) return
  }
}

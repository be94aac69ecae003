/**
 * The payments, exchanges, incoming payments and incoming debits that messages of providers name. A connection speaks of what it carries
 * alone: whatever belongs to another connection is not found, however well a message names it.
 *
 * Written by hand: one statement reads what a batch of messages names, by our ids and by the provider's references.
 */
import type { MessageObject } from '../../lib/providers/provider-event.ts'
import type { Rail } from '../../lib/rails/rails.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import type { Queries } from '../db/transaction.ts'

/** The names in a message. `reference`: as the message has it. */
export interface NamedObject {
  readonly reference: string
  readonly object: MessageObject
  readonly id: string
  readonly shard: number
  readonly status: string
  readonly currency: string
  /** Minor units. */
  readonly amount: bigint
  /** Of a payment; null of others, and of a draft. */
  readonly rail: Rail | null
  readonly providerRef: string | null
  /** When a payment was handed over, epoch milliseconds; null before, and of others. */
  readonly sentAt: number | null
}

/** References by the kind of resource that they name. */
export type References = Readonly<Record<MessageObject, readonly string[]>>

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Whether a reference can be an id of ours. */
export const isOwnReference = (reference: string): boolean => UUID.test(reference)

const PAYMENT = `'payment', p.id, p.shard, p.status, p.currency, p.amount, p.rail, p.provider_ref, (extract(epoch from p.sent_at) * 1000)::float8 from payment p`
const EXCHANGE = `'exchange', x.id, x.shard, x.status, x.sell_currency, x.sell_amount, null, x.provider_ref, null::float8 from exchange x`

type Row = [string, MessageObject, string, number, string, string, string, Rail | null, string | null, number | null]

/** Reads what references of a connection name, by the reference. @throws DatabaseUnavailable, and the driver's errors */
export async function namedObjects(
  database: Queries,
  connectionId: string,
  references: References,
): Promise<ReadonlyMap<string, NamedObject>> {
  const own = (object: MessageObject) => plainArray([...new Set(references[object].filter(isOwnReference))])
  const theirs = (object: MessageObject) =>
    textArray([...new Set(references[object].filter((reference) => !isOwnReference(reference)))])
  const rows = await database.query<Row>({
    name: 'inbox_objects',
    values: [
      connectionId,
      own('payment'),
      theirs('payment'),
      own('exchange'),
      theirs('exchange'),
      own('incoming_payment'),
      theirs('incoming_payment'),
      own('incoming_debit'),
      theirs('incoming_debit'),
      own('collection'),
    ],
    text: `select p.id::text, ${PAYMENT} where p.connection_id = $1 and p.id = any($2::uuid[])
      union all select p.provider_ref, ${PAYMENT} where p.connection_id = $1 and p.provider_ref = any($3::text[])
      union all select x.id::text, ${EXCHANGE} where x.connection_id = $1 and x.id = any($4::uuid[])
      union all select x.provider_ref, ${EXCHANGE} where x.connection_id = $1 and x.provider_ref = any($5::text[])
      union all select i.id::text, 'incoming_payment', i.id, i.shard, i.status, i.currency, i.amount, i.rail, null, null::float8
        from incoming_payment i where i.connection_id = $1 and i.id = any($6::uuid[])
      union all select i.end_to_end_id, 'incoming_payment', i.id, i.shard, i.status, i.currency, i.amount, i.rail, null, null::float8
        from incoming_payment i where i.connection_id = $1 and i.end_to_end_id = any($7::text[]) and i.return_state is not null
      union all select g.id::text, 'incoming_debit', g.id, g.shard, g.status, g.currency, g.amount, null, null, null::float8
        from incoming_debit g where g.connection_id = $1 and g.id = any($8::uuid[])
      union all select * from (select distinct on (g.end_to_end_id) g.end_to_end_id::text, 'incoming_debit', g.id, g.shard, g.status, g.currency, g.amount, null, null, null::float8
        from incoming_debit g where g.connection_id = $1 and g.end_to_end_id = any($9::text[]) order by g.end_to_end_id, g.status = 'debited' desc, g.received_at desc) last_debit
      union all select c.id::text, 'collection', c.id, c.shard, c.status, c.currency, c.amount, null, null, null::float8
        from collection c where c.connection_id = $1 and c.id = any($10::uuid[])`,
  })
  return new Map(
    rows.map(([reference, object, id, shard, status, currency, amount, rail, providerRef, sentAt]) => [
      reference,
      { reference, object, id, shard, status, currency, amount: BigInt(amount), rail, providerRef, sentAt },
    ]),
  )
}

/** A balance that a credit may name. */
export interface AccountOwner {
  readonly balanceId: string
  readonly customerId: string
}

/** Reads which of these balances a connection keeps, by id. @throws DatabaseUnavailable, and the driver's errors */
export async function balancesOfConnection(
  database: Queries,
  connectionId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, AccountOwner>> {
  const rows = await database.query<[string, string]>({
    name: 'balances_of_connection',
    values: [connectionId, plainArray(ids)],
    text: 'select id, customer_id from balance where connection_id = $1 and id = any($2::uuid[])',
  })
  return new Map(rows.map(([balanceId, customerId]) => [balanceId, { balanceId, customerId }]))
}

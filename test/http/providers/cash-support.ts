/** Balances and their cash at two connections, in tests. */
import { randomUUID } from 'node:crypto'
import type { Reconciliation } from '../../../lib/reconciliation/reconciliation-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import type { World } from '../../support/world.ts'

/** Adds a connection of the operator. @returns its id */
export async function connectTo(world: World, provider: string): Promise<string> {
  const id = randomUUID()
  await world.query(
    `insert into provider_connection (id, operator_id, provider, environment, role, fallback_currencies, status, name, created_at)
     select $1, operator_id, $2, environment, 'fallback', '{EUR}', 'active', 'Bank ' || $2, $3 from provider_connection order by created_at limit 1`,
    [id, provider, new Date(world.now())],
  )
  return id
}

/** Puts a balance at another connection without its cash, and tells no node. */
export async function putAt(world: World, balanceId: string, connectionId: string): Promise<void> {
  await world.query(
    `insert into connection_move (id, operator_id, from_connection_id, to_connection_id, job_id, balance_id, currency, amount, moved_at)
     select $3, operator_id, connection_id, $2, $3, id, currency, 0, $4 from balance where id = $1`,
    [balanceId, connectionId, randomUUID(), new Date(world.now())],
  )
  await world.query(
    'update balance set connection_id = $2, version = version + 1, terms_version = terms_version + 1 where id = $1',
    [balanceId, connectionId],
  )
}

/** Compares the day of a connection, and waits for the result. */
export async function reconcileAt(world: World, connectionId: string, day: string): Promise<Reconciliation> {
  await world.operator.post('/reconciliations', { connectionId, currency: 'EUR', until: day })
  return await until(`the reconciliation of ${day}`, async () => {
    const { data } = (
      await world.operator.get<PageBody<Reconciliation>>(
        `/reconciliations?filter[connectionId]=${connectionId}&filter[currency]=EUR&filter[dayFrom]=${day}&filter[dayTo]=${day}`,
      )
    ).body
    return data[0] !== undefined && data[0].finishedAt !== null && data[0]
  })
}

/** A leg of cash as the books have it. */
export interface Leg {
  readonly by: string
  readonly to: string
  readonly amount: number
}

/** The legs of cash (L21) of an object, the oldest first. */
export const legsOf = async (world: World, subjectId: string) =>
  await world.query<{ by: string; to: string; amount: number }>(
    `select c.connection_id as by, d.connection_id as to, p.amount::int from posting p join cash_order o on o.id = p.source_id
       join account d on d.id = p.debit_account join account c on c.id = p.credit_account
     where o.subject_id = $1 and p.rule = 'L21' order by o.created_at, o.id`,
    [subjectId],
  )

/** The money that a connection has in euro by the books, and by the sandbox bank. */
export async function cashAt(world: World, connectionId: string): Promise<{ books: number; bank: number }> {
  const [row] = await world.query<{ books: number; bank: number }>(
    `select (select coalesce(sum(case when a.id = p.debit_account then p.amount else -p.amount end), 0)::int from account a join posting p on a.id in (p.debit_account, p.credit_account)
         where a.connection_id = $1 and a.key = 'nostro' and a.currency = 'EUR') as books,
       (select coalesce(sum(case direction when 'CRDT' then amount else -amount end), 0)::int from sandbox_booking where connection_id = $1 and currency = 'EUR') as bank`,
    [connectionId],
  )
  return row!
}

/** Helpers for tests of a payment's outcome: payments that the bank has, and the rows written about them. */
import type { Payment } from '../../lib/payments/payment-schema.ts'
import { until } from './until.ts'
import { paymentBody, type World } from './world.ts'

/**
 * Makes a payment of this amount in euro from the seeded balance, and waits until the bank has it.
 *
 * @throws when it is refused
 */
export async function sentPayment(world: World, amount: number, reference = 'Invoice 42'): Promise<Payment> {
  const { client, balances, recipients } = world.seeded
  const reply = await client.createPayment({ ...paymentBody(balances.EUR, recipients.EUR, amount), reference })
  if (reply.status !== 201) throw new Error(reply.text)
  return await until(`payment ${reply.body.id} is with the bank`, async () => {
    const [order] = await world.query('select from sandbox_order where reference = $1', [reply.body.id])
    return order === undefined ? null : await client.payment(reply.body.id)
  })
}

/** Lists all events of a payment: type, status and previous status. */
export async function eventsOf(world: World, id: string): Promise<(string | null)[][]> {
  const rows = await world.query<{ type: string; status: string; previous_status: string | null }>(
    'select type, status, previous_status from outbox where object_id = $1 order by id',
    [id],
  )
  return rows.map(({ type, status, previous_status: previous }) => [type, status, previous])
}

/** Lists all postings of a payment: rule and amount, in the order of booking. */
export async function postingsOf(world: World, id: string): Promise<string[][]> {
  const rows = await world.query<{ rule: string; amount: string }>(
    'select rule, amount from posting where source_id = $1 order by booked_at, rule, ordinal',
    [id],
  )
  return rows.map(({ rule, amount }) => [rule, amount])
}

/** Lists all messages of the bank about a payment: type and code. */
export async function messagesOf(world: World, id: string): Promise<(string | null)[][]> {
  const rows = await world.query<{ type: string; code: string | null }>(
    'select type, code from provider_event where object_id = $1 order by received_at, id',
    [id],
  )
  return rows.map(({ type, code }) => [type, code])
}

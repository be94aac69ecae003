/** A customer that leaves: asked for, and taken back. Statements only; rules are elsewhere. */
import { timestamp } from '../lib/clock.ts'
import { fenceBalances } from './policies.ts'
import type { TransactionClient } from './transaction.ts'

/** Payments that are under way keep a customer from closing. */
const OPEN = ['pending_approval', 'scheduled', 'processing', 'on_hold', 'exception']

/** A customer's status, which cannot change until the transaction ends; null when there is no such customer. */
export async function lockCustomer(client: TransactionClient, id: string): Promise<string | null> {
  const { rows: [row] } = await client.query<{ status: string }>({ name: 'lock_customer', text: 'select status from customer where id = $1 for update', values: [id] })
  return row?.status ?? null
}

/**
 * Moves a customer and its balances to another status. From here on no decision that rests on the old one commits, so what
 * `openPayments` counts afterwards is all there is.
 */
export async function moveCustomer(client: TransactionClient, id: string, { from, to, now }: { readonly from: 'active' | 'closing'; readonly to: 'active' | 'closing'; readonly now: number }): Promise<void> {
  await client.query({ name: 'move_customer', text: 'update customer set status = $2, version = version + 1, updated_at = $3 where id = $1', values: [id, to, timestamp(now)] })
  await fenceBalances(client, [id])
  await client.query({ name: 'move_balances', text: 'update balance set status = $3, updated_at = $4 where customer_id = $1 and status = $2', values: [id, from, to, timestamp(now)] })
}

export async function openPayments(client: TransactionClient, customerId: string): Promise<number> {
  const { rows } = await client.query<{ open: number }>({
    name: 'open_payments', text: `select count(*)::int as open from payment where customer_id = $1 and status = any($2::text[])`, values: [customerId, OPEN],
  })
  return rows[0]!.open
}

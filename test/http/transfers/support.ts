/** Transfers in tests: balances on two connections, and what becomes of a transfer. */
import { randomUUID } from 'node:crypto'

import type { Transfer } from '../../../lib/transfers/transfer-schema.ts'
import type { Client } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import type { World } from '../../support/world.ts'
import { putAt } from '../providers/cash-support.ts'

export const eur = (amountMinor: number | bigint) => ({ amountMinor: String(amountMinor), currency: 'EUR' })
export const TWO_BALANCES = {
  balances: [
    { currency: 'EUR' as const, amount: 50_000n },
    { currency: 'EUR' as const, amount: 20_000n, name: 'Savings' },
  ],
}

/** A customer with two balances, the second of them on a connection of its own. */
export async function apart(world: World) {
  const customer = await world.customer(TWO_BALANCES)
  const connection = randomUUID()
  await world.query(
    `insert into provider_connection (id, operator_id, provider, environment, role, status, name, created_at)
    select $1, operator_id, provider, environment, 'fallback', status, 'Second bank', created_at from provider_connection limit 1`,
    [connection],
  )
  const [from, to] = customer.balanceIds as [string, string]
  await putAt(world, to, connection)
  return { client: customer.client, from, to, connection }
}

/** The transfer when it has this status. */
export const becomes = (client: Client, id: string, status: Transfer['status']) =>
  until(`${id} is ${status}`, async () => {
    const { body } = await client.get<Transfer>(`/transfers/${id}`)
    return body.status === status && body
  })

/** Types of a transfer's events with what they say. */
export const events = async (world: World, id: string) =>
  (
    await world.query<{ type: string; previous_status: string | null; status: string }>(
      'select type, previous_status, status from outbox where object_id = $1 order by created_at, id',
      [id],
    )
  ).map(({ type, previous_status, status }) => `${type} ${previous_status} ${status}`)
/** Its statuses, in their order. */
export const updates = async (world: World, id: string) =>
  (
    await world.query<{ status: string }>('select status from status_update where object_id = $1 order by version', [
      id,
    ])
  ).map(({ status }) => status)

/** Exchanges in tests: quotes, exchanges, and what becomes of them. */
import { randomUUID } from 'node:crypto'

import type { Exchange, Quote } from '../../../lib/exchange/exchange-schema.ts'
import type { Client, Reply } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import type { World } from '../../support/world.ts'

export const money = (amountMinor: number | bigint, currency: string) => ({
  amountMinor: String(amountMinor),
  currency,
})

/** Asks for euros to be sold for dollars, unless said otherwise. */
export async function quote(
  client: Client,
  body: Readonly<Record<string, unknown>> = {},
  key: string = randomUUID(),
): Promise<Reply<Quote>> {
  return await client.post<Quote>(
    '/exchanges/quotes',
    { sellCurrency: 'EUR', buyCurrency: 'USD', amount: money(10_000, 'EUR'), fixedSide: 'sell', ...body },
    key,
  )
}

export async function exchange(
  client: Client,
  quoteId: string,
  body: Readonly<Record<string, unknown>> = {},
  key: string = randomUUID(),
): Promise<Reply<Exchange>> {
  return await client.post<Exchange>('/exchanges', { quoteId, ...body }, key)
}

/** The exchange when it has this status. Time passes for the service while it is waited for. */
export const becomes = (world: World, client: Client, id: string, status: Exchange['status']) =>
  until(`${id} is ${status}`, async () => {
    const { body } = await client.get<Exchange>(`/exchanges/${id}`)
    if (body.status === status) return body
    world.advance(1_000)
    return false
  })

/** The rules posted for an exchange, with currency and amount, in their order. */
export const postings = async (world: World, id: string) =>
  (
    await world.query<{ rule: string; currency: string; amount: string }>(
      'select rule, currency, amount from posting where source_id = $1 order by booked_at, rule, occurrence, ordinal',
      [id],
    )
  ).map(({ rule, currency, amount }) => `${rule} ${currency} ${amount}`)

/** Types of an exchange's events with what they say. */
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

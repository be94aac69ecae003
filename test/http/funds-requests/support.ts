/** Funds requests in tests: made, read, and paid. */
import { incomingEvent } from '../../../lib/incoming-payments/postings.ts'
import type { FundsRequest } from '../../../lib/funds-requests/funds-request-schema.ts'
import { systemClock } from '../../../lib/base/clock.ts'
import { createIdSource } from '../../../lib/base/ids.ts'
import { entry } from '../../../lib/ledger/entry.ts'
import { writeEffects } from '../../../storage/sections/write-effects.ts'
import { Database } from '../../../storage/db/database.ts'
import { matchArrivals } from '../../../storage/funds-requests/funds-request-matching.ts'
import { InternalAccountCache } from '../../../storage/journal/internal-account-cache.ts'
import { inTransaction } from '../../../storage/db/transaction.ts'
import type { Client } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import type { World } from '../../support/world.ts'

export const eur = (amountMinor: number | bigint) => ({ amountMinor: String(amountMinor), currency: 'EUR' })

/** The address of the API's operation for the link of a page. */
export const apiOf = (link: string): string => link.replace('/pay/', '/v1/public/funds-requests/')

/** A body that asks for euros, as little as is needed. */
export function requestBody(balanceId: string, amountMinor: number | bigint = 10_000, rest: object = {}) {
  return {
    balanceId,
    amount: eur(amountMinor),
    payer: { name: 'Amsterdam Trading BV' },
    description: 'Consulting in April',
    ...rest,
  }
}

/** A funds request of 100 euros unless said otherwise. @throws when it is refused */
export async function ask(
  world: World,
  amountMinor: number | bigint = 10_000,
  rest: object = {},
): Promise<FundsRequest> {
  return (
    await world.seeded.client.post<FundsRequest>(
      '/funds-requests',
      requestBody(world.seeded.balances.EUR, amountMinor, rest),
    )
  ).body
}

export async function read(client: Client, id: string): Promise<FundsRequest> {
  return (await client.get<FundsRequest>(`/funds-requests/${id}`)).body
}

/** The status changes of a request as its events tell them: `before after`, with the arrival they are about. */
export async function statusEvents(
  world: World,
  id: string,
): Promise<readonly { readonly change: string; readonly related: string | null }[]> {
  const rows = await world.query<{ previous_status: string; status: string; related_id: string | null }>(
    `select previous_status, status, related_id from outbox where object_id = $1 and type = 'funds_request.status_changed' order by created_at, id`,
    [id],
  )
  return rows.map(({ previous_status, status, related_id }) => ({
    change: `${previous_status} ${status}`,
    related: related_id,
  }))
}

export interface Money {
  readonly amount: bigint
  readonly reference: string | null
  readonly currency?: 'EUR' | 'GBP'
  readonly balanceId?: string
}

/**
 * Money that arrives at the seeded customer's balance, as the service books it. @returns the id of the incoming payment
 */
export async function arrive(
  world: World,
  { amount, reference, currency = 'EUR', balanceId = world.seeded.balances[currency] }: Money,
): Promise<string> {
  const database = new Database(world.databaseUrl, 2)
  const ids = createIdSource(systemClock)
  const [id, at] = [ids.next(), new Date(world.now()).toISOString()]
  try {
    const [balance] = await database.query<[string, string, string, number]>({
      name: 'test_balance',
      text: 'select customer_id, operator_id, connection_id, shard from balance where id = $1',
      values: [balanceId],
    })
    const [customerId, operatorId, connectionId, shard] = balance!
    const accounts = await new InternalAccountCache(database, ids).accounts({ operatorId, connectionId, currency })
    await inTransaction(database, async (client) => {
      await client.query(
        `insert into incoming_payment (id, customer_id, balance_id, operator_id, connection_id, shard, status, currency, amount, payer_name, reference, value_date, received_at, credited_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, 'received', $7, $8, 'A payer', $9, $10::timestamptz::date, $10, $10, $10)`,
        [id, customerId, balanceId, operatorId, connectionId, shard, currency, amount, reference, at],
      )
      await writeEffects(
        { client, now: world.now() },
        {
          postings: entry({
            rule: 'L01',
            amounts: { A: amount },
            currency,
            accounts,
            balances: { from: balanceId, to: { id: balanceId, fence: 'open' } },
            entryId: ids.next(),
            customerId,
            source: { object: 'incoming_payment', id },
            description: 'Incoming payment',
            reference,
            counterparty: 'A payer',
            bookedAt: world.now(),
            valueDate: at.slice(0, 10),
          }),
          events: [
            incomingEvent(
              { id, customerId, operatorId, shard, amount, currency },
              {
                id: ids.next(),
                type: 'incoming_payment.received',
                status: 'received',
                previousStatus: null,
                at: world.now(),
              },
            ),
          ],
          credits: [{ balanceId, currency }],
        },
      )
    })
    return id
  } finally {
    await database.close()
  }
}

/** The request when it has this status. */
export const reaches = (world: World, id: string, status: FundsRequest['status']) =>
  until(`${id} is ${status}`, async () => {
    const found = await read(world.seeded.client, id)
    return found.status === status && found
  })

/** Resolves when everything that has arrived so far is matched: a pass of ours finds nothing more. */
export async function settled(world: World): Promise<void> {
  const database = new Database(world.databaseUrl, 1)
  try {
    for (;;) {
      await matchArrivals(database, createIdSource(systemClock), world.now())
      const [row] = await world.query<{ behind: boolean }>(
        `select exists (select from outbox o, funds_request_matching f where o.written_in >= f.position) as behind`,
      )
      if (row?.behind !== true) return
    }
  } finally {
    await database.close()
  }
}

/** Contracts in tests: quotes taken, money read, and time that passes. */
import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'

import type { Exchange } from '../../../lib/exchange/exchange-schema.ts'
import type { Client, Reply } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import type { World } from '../../support/world.ts'

export const DAY_MS = 86_400_000
export const HOUR_MS = 3_600_000

export const eur = (amountMinor: number | bigint) => ({ amountMinor: String(amountMinor), currency: 'EUR' })
export const usd = (amountMinor: number | bigint) => ({ amountMinor: String(amountMinor), currency: 'USD' })

/** The date so many days from now, as the service counts. */
export const dayFromNow = (world: World, days: number) =>
  new Date(world.now() + days * DAY_MS).toISOString().slice(0, 10)

export interface QuoteOptions {
  readonly kind?: 'spot' | 'forward' | 'held_rate'
  readonly amount?: { readonly amountMinor: string; readonly currency: string }
  readonly sellCurrency?: string
  readonly buyCurrency?: string
  readonly fixedSide?: 'sell' | 'buy'
  readonly settlementDate?: string
  readonly holdMinutes?: number
}

/** The reply to a quote of euros for dollars, unless said otherwise. */
export async function askQuote(
  client: Client,
  {
    kind = 'forward',
    amount = eur(2_000_000),
    sellCurrency = 'EUR',
    buyCurrency = 'USD',
    fixedSide = 'sell',
    ...rest
  }: QuoteOptions,
): Promise<Reply<{ readonly id: string }>> {
  return await client.post<{ readonly id: string }>('/exchanges/quotes', {
    sellCurrency,
    buyCurrency,
    amount,
    fixedSide,
    kind,
    ...rest,
  })
}

export async function quote(client: Client, options: QuoteOptions): Promise<string> {
  return (await askQuote(client, options)).body.id
}

/** A forward of euros for dollars that settles in so many days. */
export async function forward(
  world: World,
  client: Client,
  {
    days = 10,
    amount = 2_000_000,
    ...terms
  }: { readonly days?: number; readonly amount?: number } & Readonly<Record<string, unknown>> = {},
): Promise<Exchange> {
  const quoteId = await quote(client, { amount: eur(amount), settlementDate: dayFromNow(world, days) })
  const reply = await client.post<Exchange>('/forward-contracts', { quoteId, acceptTerms: true, ...terms })
  assert.equal(reply.status, 201, reply.text)
  return reply.body
}

/** The same with its deposit paid. */
export async function activeForward(
  world: World,
  client: Client,
  options: Parameters<typeof forward>[2] = {},
): Promise<Exchange> {
  const contract = await forward(world, client, options)
  return (
    await client.post<Exchange>(`/forward-contracts/${contract.id}/deposit`, { balanceId: contract.sellBalanceId })
  ).body
}

export async function heldRate(
  client: Client,
  { amount = 2_000_000, holdMinutes }: { readonly amount?: number; readonly holdMinutes?: number } = {},
): Promise<Exchange> {
  const quoteId = await quote(client, {
    kind: 'held_rate',
    amount: eur(amount),
    ...(holdMinutes === undefined ? {} : { holdMinutes }),
  })
  return (await client.post<Exchange>('/held-rates', { quoteId })).body
}

export const read = async (client: Client, id: string): Promise<Exchange> =>
  (await client.get<Exchange>(`/exchanges/${id}`)).body

/** The exchange when it has this status. */
export const becomes = (client: Client, id: string, status: Exchange['status']): Promise<Exchange> =>
  until(
    `${id} is ${status}`,
    async () => {
      const exchange = await read(client, id)
      return exchange.status === status && exchange
    },
    { deadlineMs: 30_000 },
  )

/** The rules of an exchange's entries with what they moved, in order. */
export async function rules(world: World, id: string): Promise<string[]> {
  const rows = await world.query<{ rule: string; amount: string; debit: string; credit: string }>(
    `select p.rule, p.amount, coalesce(d.key, 'cust') as debit, coalesce(c.key, 'cust') as credit from posting p
    left join account d on d.id = p.debit_account left join account c on c.id = p.credit_account where p.source_id = $1 order by p.booked_at, p.rule, p.occurrence, p.entry_id, p.ordinal`,
    [id],
  )
  return rows.map(({ rule, amount, debit, credit }) => `${rule} ${debit} ${credit} ${amount}`)
}

/** The events of an exchange, in order. */
export async function events(world: World, id: string): Promise<string[]> {
  const rows = await world.query<{ type: string; previous_status: string | null; status: string }>(
    'select type, previous_status, status from outbox where object_id = $1 order by created_at, id',
    [id],
  )
  return rows.map(({ type, previous_status: before, status }) => `${type} ${before} ${status}`)
}

/** Its statuses, one for each version. */
export async function updates(world: World, id: string): Promise<string[]> {
  return (
    await world.query<{ status: string }>('select status from status_update where object_id = $1 order by version', [
      id,
    ])
  ).map(({ status }) => status)
}

export async function book(client: Client, balanceId: string): Promise<bigint> {
  return BigInt((await client.balance(balanceId)).bookBalance.amountMinor)
}

/** Lets time pass until a moment, `2026-12-01T09:00:00Z`. */
export function advanceTo(world: World, moment: string): void {
  world.advance(Date.parse(moment) - world.now())
}

export type Customer = Awaited<ReturnType<typeof euros>>

/** A customer with euros, and an empty balance in dollars. */
export async function euros(world: World, amount: bigint) {
  const {
    client,
    balanceIds: [from, to],
  } = await world.customer({
    balances: [
      { currency: 'EUR', amount },
      { currency: 'USD', amount: 0n },
    ],
  })
  return { client, from: from as string, to: to as string }
}

/** Draws from a contract. A 503, which a busy machine may answer, is repeated under its key, as clients do. */
export const draw = async (
  client: Client,
  contract: Pick<Exchange, 'id' | 'kind'>,
  body: object,
  key: string = randomUUID(),
): Promise<Reply<Exchange>> =>
  await until('the draw is decided', async () => {
    const reply = await client.post<Exchange>(
      `/${contract.kind === 'forward' ? 'forward-contracts' : 'held-rates'}/${contract.id}/drawdowns`,
      body,
      key,
    )
    return reply.status === 503 ? null : reply
  })

export const drawdowns = async (
  client: Client,
  contract: Pick<Exchange, 'id' | 'kind'>,
): Promise<readonly Exchange[]> =>
  (
    await client.list<Exchange>(
      `/${contract.kind === 'forward' ? 'forward-contracts' : 'held-rates'}/${contract.id}/drawdowns`,
      { sort: 'createdAt' },
    )
  ).body.data

/** The facts that a new card rests on. */
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { BalanceStatus } from '../../lib/balances/closing.ts'
import type { ProviderId } from '../../lib/providers/provider.ts'
import type { Reader } from '../db/connection.ts'
import type { TransactionClient } from '../db/transaction.ts'

/** The balance that a card is to pay from, and the provider of its connection. */
export interface CardBalance {
  readonly operatorId: string
  readonly connectionId: string
  readonly provider: ProviderId
  readonly shard: number
  readonly currency: CurrencyCode
  readonly status: BalanceStatus
}

/** Reads a balance of a customer, and keeps it from closing until the transaction ends; null when there is none. */
export async function holdCardBalance(
  client: TransactionClient,
  customerId: string,
  id: string,
): Promise<CardBalance | null> {
  const {
    rows: [row],
  } = await client.query<{
    operator_id: string
    connection_id: string
    provider: ProviderId
    shard: number
    currency: CurrencyCode
    status: BalanceStatus
  }>({
    name: 'card_balance',
    text: `select b.operator_id, b.connection_id, k.provider, b.shard, b.currency, b.status
      from balance b join provider_connection k on k.id = b.connection_id
      where b.id = $1 and b.customer_id = $2 for share of b`,
    values: [id, customerId],
  })
  return row === undefined
    ? null
    : {
        operatorId: row.operator_id,
        connectionId: row.connection_id,
        provider: row.provider,
        shard: row.shard,
        currency: row.currency,
        status: row.status,
      }
}

/** Tells whether a person is an active member of a customer. */
export async function isActiveMember(client: TransactionClient, customerId: string, userId: string): Promise<boolean> {
  const { rows } = await client.query({
    name: 'card_holder_member',
    text: `select from membership m where m.tenant_id = $1 and m.user_id = $2 and m.level = 'customer' and m.status = 'active'`,
    values: [customerId, userId],
  })
  return rows.length > 0
}

/** Cards whose month of expiry is over, with their customers. `month`: the first valid one, `YYYY-MM`. */
export async function expiringCards(
  client: Pick<TransactionClient, 'query'>,
  month: string,
  max: number,
): Promise<readonly { readonly id: string; readonly customerId: string }[]> {
  const { rows } = await client.query<{ id: string; customer_id: string }>({
    name: 'expiring_cards',
    text: `select id, customer_id from card where expiry < $1 and status not in ('expired', 'closed') order by id limit $2`,
    values: [month, max],
  })
  return rows.map(({ id, customer_id }) => ({ id, customerId: customer_id }))
}

/** The open cards that the catalogue of simulations names. */
const CATALOGUE_MAX = 20

/** Returns the lines of the catalogue of simulations that name open cards, oldest first: `card <id> EUR active`. */
export async function catalogueCards(reader: Reader, customerId: string): Promise<readonly string[]> {
  const { rows } = await reader.query({
    name: 'catalogue_cards',
    text: `select concat_ws(' ', 'card', id, currency, status) from card
      where customer_id = $1 and status not in ('expired', 'closed') order by id limit ${CATALOGUE_MAX}`,
    values: [customerId],
  })
  return (rows as [string][]).map(([line]) => line)
}

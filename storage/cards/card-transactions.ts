/** Card transactions as rows: read for decisions and lists, and those of which the authorisation has expired. */
import { sql } from 'kysely'
import type { CardAnswer } from '../../lib/cards/card-transaction.ts'
import type { CardEventRecord, CardTransactionRecord } from '../../lib/cards/card-transaction-view.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import { plainArrayOrNull } from '../db/array-literal.ts'
import { pick } from '../db/columns.ts'
import type { Reader } from '../db/connection.ts'
import type { Queries } from '../db/transaction.ts'
import { Conditions, EMPTY, readPage, type ReadDatabase, type TimeTo } from '../db/page.ts'
import { expression, from, select } from '../db/select.ts'
import { CardEvent, CardTransaction } from './card-transaction-entity.ts'

export const CARD_TRANSACTION = select(
  pick(from(CardTransaction, 't'), [
    'id',
    'version',
    'cardId',
    'customerId',
    'operatorId',
    'connectionId',
    'shard',
    'balanceId',
    'currency',
    'ref',
    'status',
    'network',
    'channel',
    'mcc',
    'merchantName',
    'merchantCountry',
    'markup',
    'authorised',
    'reversed',
    'cleared',
    'refunded',
    'disputed',
    'recovered',
    'held',
    'holdId',
    'expiresAt',
    'authorisedAt',
    'declineReason',
  ]),
)

/** A message that was decided: its answer, and what it was about. */
export interface DecidedMessage {
  readonly answer: CardAnswer
  readonly ref: string
  readonly amount: bigint
  readonly at: number
}

const DECIDED = select({
  ...pick(from(CardEvent, 'e'), ['transactionId', 'declineReason', 'amount', 'at']),
  ...pick(from(CardTransaction, 't'), ['ref']),
})

/** Reads a message that was decided; null for one that was not. */
export async function decidedMessage(reader: Reader, id: string): Promise<DecidedMessage | null> {
  const { rows } = await reader.query({
    name: 'decided_card_message',
    text: `select ${DECIDED.sql} from card_event e join card_transaction t on t.id = e.transaction_id where e.id = $1`,
    values: [id],
  })
  if (rows[0] === undefined) return null
  const { transactionId, declineReason, ...about } = DECIDED.read(rows[0])
  return { ...about, answer: { transactionId, approved: declineReason === null, declineReason } }
}

/** An authorisation whose time is over. */
export interface ExpiredAuthorisation {
  readonly id: string
  readonly cardId: string
  readonly connectionId: string
  readonly ref: string
  readonly version: number
}

/** Finds authorisations of shards (null: of all) whose time was over by `now`, epoch milliseconds. */
export async function expiredAuthorisations(
  database: Queries,
  shards: readonly number[] | null,
  now: string,
  max: number,
): Promise<readonly ExpiredAuthorisation[]> {
  const rows = await database.query<[string, string, string, string, number]>({
    name: 'expired_authorisations',
    text: `select t.id, t.card_id, t.connection_id, t.ref, t.version from card_transaction t
      where t.expires_at <= $1 and ($2::smallint[] is null or t.shard = any($2)) order by t.expires_at limit $3`,
    values: [now, plainArrayOrNull(shards), max],
  })
  return rows.map(([id, cardId, connectionId, ref, version]) => ({ id, cardId, connectionId, ref, version }))
}

const EVENTS = `coalesce((select json_agg(json_build_object('id', e.id, 'phase', e.phase, 'amount', e.amount::text, 'fee', e.fee::text,
  'declineReason', e.decline_reason, 'merchantAmount', e.merchant_amount::text, 'merchantCurrency', e.merchant_currency,
  'rate', trim_scale(e.rate)::text, 'markup', e.markup::text, 'at', to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by e.at, e.id)
  from card_event e where e.transaction_id = t.id), '[]')`

const SHOWN = select({
  ...from(CardTransaction, 't'),
  events: expression<readonly CardEventRecord[]>(EVENTS),
})

export interface CardTransactionFilters {
  readonly cardId?: readonly string[]
  readonly balanceId?: readonly string[]
  readonly status?: readonly string[]
  readonly currency?: readonly string[]
  readonly mcc?: readonly string[]
  readonly merchantCountry?: readonly string[]
  readonly channel?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

/** Lists the card transactions of a customer, by pages. @throws DatabaseUnavailable */
export async function listCardTransactions(
  db: ReadDatabase,
  { tenant, filters, sort, ...query }: RowQuery<CardTransactionFilters, '-createdAt' | 'createdAt'>,
): Promise<ListResult<CardTransactionRecord>> {
  if (tenant.kind !== 'customer') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const where = new Conditions()
    .add(sql`t.customer_id = ${tenant.id}::uuid`)
    .anyOf(sql`t.card_id`, filters.cardId, 'uuid')
    .anyOf(sql`t.balance_id`, filters.balanceId, 'uuid')
    .anyOf(sql`t.status`, filters.status, 'text')
    .anyOf(sql`t.currency`, filters.currency, 'bpchar')
    .anyOf(sql`t.mcc`, filters.mcc, 'bpchar')
    .anyOf(sql`t.merchant_country`, filters.merchantCountry, 'bpchar')
    .anyOf(sql`t.channel`, filters.channel, 'text')
    .created('t', filters.createdFrom, filters.createdTo)
  const branch = {
    columns: sql.raw(SHOWN.named),
    from: sql`card_transaction t`,
    where: where.list,
    order: { keys: [{ expression: sql`t.id`, type: 'uuid' as const }], descending: sort === '-createdAt' },
  }
  const { rows, ...page } = await readPage<object>(db, [branch], query)
  return { ...page, rows: rows.map((row) => SHOWN.readNamed(row)) }
}

/** Reads one transaction of a customer; null when the customer has none with this id. */
export async function getCardTransaction(
  reader: Reader,
  customerId: string,
  id: string,
): Promise<CardTransactionRecord | null> {
  const { rows } = await reader.query({
    name: 'card_transaction',
    text: `select ${SHOWN.sql} from card_transaction t where t.id = $1 and t.customer_id = $2`,
    values: [id, customerId],
  })
  return rows[0] === undefined ? null : SHOWN.read(rows[0])
}

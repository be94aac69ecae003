/** Transactions as the customer sees them. */
import type { SourceObject } from '../../lib/ledger/posting.ts'
import type { TransactionType } from '../../lib/ledger/postings.ts'
import { sql } from 'kysely'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { cardFacts, conversionOf, type CardFactsJson } from '../../lib/transactions/card-facts.ts'
import { transactionJson, type TransactionRecord } from '../../lib/transactions/transaction.ts'
import type { Database } from '../db/database.ts'
import { catchUp } from './transactions.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import {
  Conditions,
  EMPTY,
  epochMs,
  readPage,
  type Branch,
  type Order,
  type ReadDatabase,
  type TimeTo,
} from '../db/page.ts'
import type { Rail } from '../../lib/rails/rails.ts'

export interface TransactionFilters {
  readonly status?: readonly string[]
  readonly type?: readonly string[]
  readonly direction?: readonly string[]
  readonly balanceId?: readonly string[]
  readonly currency?: readonly string[]
  readonly rail?: readonly string[]
  readonly recipientId?: readonly string[]
  readonly cardId?: readonly string[]
  readonly category?: readonly string[]
  readonly sourceId?: readonly string[]
  readonly amountFrom?: bigint
  readonly amountTo?: bigint
  readonly bookedFrom?: string
  readonly bookedTo?: TimeTo
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
  readonly hasAttachments?: boolean
  readonly hasAnnotations?: boolean
}

export type TransactionSort = '-createdAt' | 'createdAt' | '-bookedAt' | '-amount'
export type TransactionListQuery = RowQuery<TransactionFilters, TransactionSort>

export interface TransactionRow {
  readonly id: string
  readonly customer_id: string
  readonly balance_id: string
  readonly type: TransactionType
  readonly status: TransactionRecord['status']
  readonly direction: TransactionRecord['direction']
  readonly currency: CurrencyCode
  readonly amount: string
  readonly fee: string
  readonly fee_tax: string
  readonly order_id: string | null
  readonly description: string
  readonly counterparty_name: string | null
  readonly counterparty_identifier: string | null
  readonly recipient_id: string | null
  readonly reference: string | null
  readonly rail: Rail | null
  readonly category: string | null
  readonly source_object: SourceObject
  readonly source_id: string
  readonly rate: string | null
  readonly sell_amount: string | null
  readonly sell_currency: CurrencyCode | null
  readonly buy_amount: string | null
  readonly buy_currency: CurrencyCode | null
  readonly card: CardFactsJson | null
  readonly running_balance: string | null
  readonly booked_ms: number | null
  readonly value_day: string | null
  readonly attachment_count: number
  readonly annotation_count: number
  readonly version: string
  readonly created_ms: number
  readonly updated_ms: number
}

const COLUMNS = sql`t.id, t.customer_id, t.balance_id, t.type, t.status, t.direction, t.currency, t.amount, t.fee, t.fee_tax, t.order_id, t.description, t.counterparty_name,
  t.counterparty_identifier, t.recipient_id, t.reference, t.rail, t.category, t.source_object, t.source_id, trim_scale(x.rate)::text as rate, x.sell_amount, x.sell_currency,
  x.buy_amount, x.buy_currency, k.facts as card, t.running_balance, ${epochMs('t.booked_at')} as booked_ms, t.value_date::text as value_day, t.attachment_count, t.annotation_count, t.version,
  ${epochMs('t.created_at')} as created_ms, ${epochMs('t.updated_at')} as updated_ms`
/** The facts of a card, of the message that booked the transaction, or else of the first. */
const CARD_FACTS = sql`select json_build_object('id', c.card_id, 'merchantName', c.merchant_name, 'mcc', c.mcc, 'country', c.merchant_country,
    'merchantAmount', e.merchant_amount::text, 'merchantCurrency', e.merchant_currency, 'rate', trim_scale(e.rate)::text, 'markup', e.markup::text) as facts
  from card_transaction c join card_event e on e.transaction_id = c.id
  where c.id = t.source_id and t.source_object = 'card_transaction'
  order by coalesce(t.id in (e.entry_id, marked_id(e.entry_id, 1)), false) desc, e.at, e.id limit 1`
const FROM = sql`account_transaction t left join exchange x on x.id = t.source_id and t.source_object = 'exchange'
  left join lateral (${CARD_FACTS}) k on true`

const ID = { expression: sql`t.id`, type: 'uuid' } as const
const CREATED = { expression: sql`t.created_at`, type: 'timestamptz' } as const
const ORDERS: Readonly<Record<TransactionSort, Order>> = {
  '-createdAt': { keys: [CREATED, ID], descending: true },
  createdAt: { keys: [CREATED, ID], descending: false },
  // Pending transactions come first: their booking is in the future.
  '-bookedAt': {
    keys: [{ expression: sql`coalesce(t.booked_at, 'infinity'::timestamptz)`, type: 'timestamptz' }, ID],
    descending: true,
  },
  '-amount': { keys: [{ expression: sql`t.amount`, type: 'bigint' }, ID], descending: true },
}

/** The searched text; written exactly as in the index. */
const SEARCHED = sql`search_words(t.customer_id, t.description || ' ' || coalesce(t.counterparty_name, '') || ' ' || coalesce(t.reference, '') || ' ' || coalesce(t.order_id, ''))`

/** Payment types by direction. */
const TYPES_OF: Readonly<Record<string, readonly string[] | undefined>> = {
  in: ['incoming_payment'],
  out: ['outgoing_payment'],
}

/**
 * The FROM and WHERE of a list; exported so that a test can check its plan, and for exports, which read the same rows.
 */
export function transactionBranch({
  tenant,
  filters,
  sort,
  q,
}: Pick<TransactionListQuery, 'tenant' | 'filters' | 'sort' | 'q'>): Branch {
  const where = new Conditions()
    .add(sql`t.customer_id = ${tenant.id}::uuid`)
    .anyOf(sql`t.status`, filters.status, 'text')
    .anyOf(sql`t.type`, filters.type, 'text')
    .anyOf(sql`t.direction`, filters.direction, 'text')
    .anyOf(sql`t.balance_id`, filters.balanceId, 'uuid')
    .anyOf(sql`t.currency`, filters.currency, 'bpchar')
    .anyOf(sql`t.rail`, filters.rail, 'text')
    .anyOf(sql`t.recipient_id`, filters.recipientId, 'uuid')
    .anyOf(sql`t.category`, filters.category, 'text')
    .anyOf(sql`t.source_id`, filters.sourceId, 'uuid')
    .amounts(sql`t.amount`, filters.amountFrom, filters.amountTo)
    .during(sql`t.booked_at`, filters.bookedFrom, filters.bookedTo)
    .during(sql`t.created_at`, filters.createdFrom, filters.createdTo)
  // Written exactly as in the conditions of the indexes; otherwise the planner cannot use them.
  if (filters.status !== undefined && !filters.status.includes('completed')) where.add(sql`t.status <> 'completed'`)
  const types = filters.type ?? TYPES_OF[filters.direction?.join() ?? '']
  if (types !== undefined && !types.includes('outgoing_payment')) where.add(sql`t.type <> 'outgoing_payment'`)
  if (types !== undefined && !types.includes('incoming_payment')) where.add(sql`t.type <> 'incoming_payment'`)
  if (filters.recipientId !== undefined) where.add(sql`t.recipient_id is not null`)
  if (filters.rail !== undefined) where.add(sql`t.rail is not null`)
  if (filters.category !== undefined) where.add(sql`t.category is not null`)
  if (filters.hasAttachments !== undefined)
    where.add(filters.hasAttachments ? sql`t.attachment_count > 0` : sql`t.attachment_count = 0`)
  if (filters.hasAnnotations !== undefined)
    where.add(filters.hasAnnotations ? sql`t.annotation_count > 0` : sql`t.annotation_count = 0`)
  // A range of booking times excludes pending transactions; this condition lets the scan of the booking index begin at
  // the range.
  if (sort === '-bookedAt') {
    if (filters.bookedFrom !== undefined)
      where.add(sql`coalesce(t.booked_at, 'infinity'::timestamptz) >= ${filters.bookedFrom}::timestamptz`)
    if (filters.bookedTo !== undefined)
      where.add(sql`coalesce(t.booked_at, 'infinity'::timestamptz) < ${filters.bookedTo.before}::timestamptz`)
  }
  if (filters.cardId !== undefined)
    where.add(
      sql`t.source_id = any(array(select c.id from card_transaction c where c.card_id = any(${filters.cardId}::uuid[]) and c.customer_id = ${tenant.id}::uuid))`,
    )
  const search = q === null ? {} : { search: sql`${SEARCHED} @@ search_query(${tenant.id}::uuid, ${q})` }
  return { columns: COLUMNS, from: FROM, where: where.list, order: ORDERS[sort], ...search }
}

/** Lists the transactions of a customer, including all commits before the call. Operators have none of their own. */
export async function listTransactions(
  database: Database,
  db: ReadDatabase,
  query: TransactionListQuery,
  now: number,
): Promise<ListResult<ReturnType<typeof transactionJson>>> {
  if (query.tenant.kind !== 'customer') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  await catchUp(database, query.tenant.id, now)
  const { rows, ...page } = await readPage<TransactionRow>(db, [transactionBranch(query)], query)
  return { ...page, rows: rows.map((row) => transactionJson(transactionRecord(row))) }
}

/** Finds one transaction of a customer; null when it is not the tenant's. */
export async function findTransaction(
  database: Database,
  db: ReadDatabase,
  tenant: Tenant,
  id: string,
  now: number,
): Promise<TransactionRecord | null> {
  if (tenant.kind !== 'customer') return null
  await catchUp(database, tenant.id, now)
  const {
    rows: [row],
  } =
    await sql<TransactionRow>`select ${COLUMNS} from ${FROM} where t.id = ${id}::uuid and t.customer_id = ${tenant.id}::uuid`.execute(
      db.kysely,
    )
  return row === undefined ? null : transactionRecord(row)
}

export const text = (value: string | null | undefined): string | null => value ?? null
const big = (value: string | null): bigint | null => (value === null ? null : BigInt(value))

export function transactionRecord(row: TransactionRow): TransactionRecord {
  return {
    id: row.id,
    customerId: row.customer_id,
    balanceId: row.balance_id,
    type: row.type,
    status: row.status,
    direction: row.direction,
    currency: row.currency,
    amount: BigInt(row.amount),
    fee: BigInt(row.fee),
    feeTax: BigInt(row.fee_tax),
    orderId: row.order_id,
    description: row.description,
    counterpartyName: row.counterparty_name,
    counterpartyIdentifier: row.counterparty_identifier,
    recipientId: row.recipient_id,
    reference: row.reference,
    rail: row.rail,
    category: row.category,
    sourceObject: row.source_object,
    sourceId: row.source_id,
    exchange: exchangeOf(row),
    card: row.card === null ? null : cardFacts(row.card),
    runningBalance: big(row.running_balance),
    bookedAt: row.booked_ms,
    valueDate: row.value_day,
    attachmentCount: row.attachment_count,
    annotationCount: row.annotation_count,
    version: BigInt(row.version),
    createdAt: row.created_ms,
    updatedAt: row.updated_ms,
  }
}

/** A transaction's exchange: that of an order, or the conversion of the card scheme. */
function exchangeOf({ rate, card, ...row }: TransactionRow): TransactionRecord['exchange'] {
  if (rate !== null)
    return {
      rate,
      sellAmount: BigInt(row.sell_amount as string),
      sellCurrency: row.sell_currency as CurrencyCode,
      buyAmount: BigInt(row.buy_amount as string),
      buyCurrency: row.buy_currency as CurrencyCode,
    }
  const [own, facts] = [{ amount: BigInt(row.amount), currency: row.currency }, card === null ? null : cardFacts(card)]
  return facts === null ? null : conversionOf(row.direction, own, facts)
}

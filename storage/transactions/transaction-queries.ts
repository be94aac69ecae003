/** Transactions as the customer sees them. */
import { sql } from 'kysely'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { moneyJson } from '../../lib/base/money.ts'
import type { PaymentFailure, PaymentDetails, PaymentReturn } from '../../lib/payments/payment.ts'
import { attachmentJson } from '../../lib/documents/document.ts'
import {
  relatedOf,
  type Sibling,
  transactionJson,
  type TransactionRecord,
  transactionStatus,
} from '../../lib/transactions/transaction.ts'
import { transactionId } from '../../lib/ledger/transaction-id.ts'
import type { Database } from '../db/database.ts'
import { attachmentsOf } from '../documents/documents.ts'
import { annotationsOf } from './annotations.ts'
import { catchUp } from './transactions.ts'
import { findHolds } from '../balances/hold-queries.ts'
import { linesOfTransaction } from '../balances/journal-queries.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import {
  Conditions,
  EMPTY,
  epochMs,
  NEVER,
  readPage,
  type Branch,
  type Order,
  type ReadDatabase,
  type TimeTo,
} from '../db/page.ts'

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
  readonly type: string
  readonly status: TransactionRecord['status']
  readonly direction: TransactionRecord['direction']
  readonly currency: CurrencyCode
  readonly amount: string
  readonly fee: string
  readonly order_id: string | null
  readonly description: string
  readonly counterparty_name: string | null
  readonly counterparty_identifier: string | null
  readonly recipient_id: string | null
  readonly reference: string | null
  readonly rail: string | null
  readonly category: string | null
  readonly source_object: string
  readonly source_id: string
  readonly rate: string | null
  readonly sell_amount: string | null
  readonly sell_currency: CurrencyCode | null
  readonly buy_amount: string | null
  readonly buy_currency: CurrencyCode | null
  readonly running_balance: string | null
  readonly booked_ms: number | null
  readonly value_day: string | null
  readonly attachment_count: number
  readonly annotation_count: number
  readonly version: string
  readonly created_ms: number
  readonly updated_ms: number
}

const COLUMNS = sql`t.id, t.customer_id, t.balance_id, t.type, t.status, t.direction, t.currency, t.amount, t.fee, t.order_id, t.description, t.counterparty_name,
  t.counterparty_identifier, t.recipient_id, t.reference, t.rail, t.category, t.source_object, t.source_id, trim_scale(x.rate)::text as rate, x.sell_amount, x.sell_currency,
  x.buy_amount, x.buy_currency, t.running_balance, ${epochMs('t.booked_at')} as booked_ms, t.value_date::text as value_day, t.attachment_count, t.annotation_count, t.version,
  ${epochMs('t.created_at')} as created_ms, ${epochMs('t.updated_at')} as updated_ms`
const FROM = sql`account_transaction t left join exchange x on x.id = t.source_id and t.source_object = 'exchange'`

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
  // Cards do not exist yet.
  if (filters.cardId !== undefined) where.add(NEVER)
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

const text = (value: string | null | undefined): string | null => value ?? null
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
    exchange:
      row.rate === null
        ? null
        : {
            rate: row.rate,
            sellAmount: BigInt(row.sell_amount as string),
            sellCurrency: row.sell_currency as CurrencyCode,
            buyAmount: BigInt(row.buy_amount as string),
            buyCurrency: row.buy_currency as CurrencyCode,
          },
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

// ── A single transaction ──────────────────────────────────────────────────────────────────────────────────────────────

/** Updates shown with a transaction, at most; their own list has all of them. */
const UPDATES_SHOWN = 20

/** Reads a transaction with its related rows and its version; null when the transaction is not the tenant's. */
export async function getTransaction(database: Database, db: ReadDatabase, tenant: Tenant, id: string, now: number) {
  const record = await findTransaction(database, db, tenant, id, now)
  if (record === null) return null
  const source = await sourceOf(db, record)
  const [updates, holds, journalLines, annotations, attachments, siblings] = await Promise.all([
    updatesOf(db, record),
    findHolds(db, source.holdIds, record.currency),
    linesOfTransaction(db, record, record),
    annotationsOf(database, id),
    attachmentsOf(database, id),
    siblingsOf(db, record),
  ])
  return {
    version: record.version,
    view: {
      ...transactionJson(record),
      updates: updates.slice(0, UPDATES_SHOWN),
      holds,
      journalLines,
      annotations,
      attachments: attachments.map(attachmentJson),
      related: relatedOf(record, siblings),
      references: source.references,
      failure: source.failure,
      return: source.returned,
      originalAmount: null,
    },
  }
}

async function siblingsOf(db: ReadDatabase, { sourceId, customerId }: TransactionRecord): Promise<readonly Sibling[]> {
  return (
    await sql<Sibling>`select t.id, t.type from account_transaction t where t.source_id = ${sourceId}::uuid and t.customer_id = ${customerId}::uuid order by t.created_at, t.id`.execute(
      db.kysely,
    )
  ).rows
}

/** Reads the facts that only the cause's row has, where the cause is the movement itself. */
async function sourceOf(db: ReadDatabase, { id, sourceObject, sourceId, currency }: TransactionRecord) {
  const nothing = {
    holdIds: [] as string[],
    references: { endToEndId: null as string | null, uetr: null as string | null },
    failure: null as PaymentFailure | null,
    returned: null as ReturnType<typeof returnJson> | null,
  }
  const parse = <Kind>(json: string | null): Kind | null => (json === null ? null : (JSON.parse(json) as Kind))
  const ids = (...all: readonly (string | null)[]): string[] => all.filter((one) => one !== null)
  switch (sourceObject) {
    case 'payment': {
      const {
        rows: [row],
      } = await sql<{ hold_id: string | null; details: string; failure: string | null; return_info: string | null }>`
        select hold_id, details, failure, return_info from payment where id = ${sourceId}::uuid`.execute(db.kysely)
      if (row === undefined) return nothing
      const { endToEndId, uetr } = JSON.parse(row.details) as PaymentDetails
      const references = { endToEndId: text(endToEndId), uetr: text(uetr) }
      if (id !== sourceId) return { ...nothing, references }
      const returned = parse<PaymentReturn>(row.return_info)
      return {
        holdIds: ids(row.hold_id),
        references,
        failure: parse<PaymentFailure>(row.failure),
        returned: returned === null ? null : returnJson(returned, currency, sourceId),
      }
    }
    case 'incoming_payment': {
      const {
        rows: [row],
      } = await sql<{ end_to_end_id: string | null; uetr: string | null; recall_hold_id: string | null }>`
        select end_to_end_id, uetr, recall_hold_id from incoming_payment where id = ${sourceId}::uuid`.execute(
        db.kysely,
      )
      return row === undefined
        ? nothing
        : {
            ...nothing,
            holdIds: id === sourceId ? ids(row.recall_hold_id) : [],
            references: { endToEndId: row.end_to_end_id, uetr: row.uetr },
          }
    }
    case 'transfer': {
      const {
        rows: [row],
      } = await sql<{ failure: string | null; hold_id: string | null }>`
        select t.failure, o.hold_id from transfer t left join transfer_order o on o.transfer_id = t.id where t.id = ${sourceId}::uuid`.execute(
        db.kysely,
      )
      return row === undefined
        ? nothing
        : { ...nothing, holdIds: id === sourceId ? ids(row.hold_id) : [], failure: parse<PaymentFailure>(row.failure) }
    }
    case 'exchange': {
      const {
        rows: [row],
      } = await sql<{
        failure: string | null
        hold_id: string | null
      }>`select failure, hold_id from exchange where id = ${sourceId}::uuid`.execute(db.kysely)
      return row === undefined
        ? nothing
        : { ...nothing, holdIds: id === sourceId ? ids(row.hold_id) : [], failure: parse<PaymentFailure>(row.failure) }
    }
    default:
      return nothing
  }
}

const returnJson = (
  { amountMinor, reasonCode, reason, receivedAt, suspended }: PaymentReturn,
  currency: CurrencyCode,
  paymentId: string,
) => ({
  amount: moneyJson({ amountMinor: BigInt(amountMinor), currency }),
  reasonCode,
  reason,
  receivedAt,
  transactionId: suspended === true ? null : transactionId(paymentId, 'return'),
})

// ── Updates ───────────────────────────────────────────────────────────────────────────────────────────────────────────

export type TransactionUpdateQuery = RowQuery<object, '-at' | 'at'> & { readonly transactionId: string }

interface UpdateRow {
  readonly version: number
  readonly status: string
  readonly previous_status: string | null
  readonly message: string
  readonly actor: 'system' | 'member' | 'partner'
  readonly at_ms: number
}

const UPDATE_COLUMNS = sql`u.version, u.status, u.previous_status, u.message, u.actor, ${epochMs('u.at')} as at_ms`

/** Lists the updates of a transaction; null when the transaction is not the tenant's. */
export async function listTransactionUpdates(
  database: Database,
  db: ReadDatabase,
  query: TransactionUpdateQuery,
  now: number,
): Promise<ListResult<ReturnType<typeof updateJson>> | null> {
  const record = await findTransaction(database, db, query.tenant, query.transactionId, now)
  if (record === null) return null
  const { rows, ...page } = await readPage<UpdateRow>(
    db,
    [
      {
        columns: UPDATE_COLUMNS,
        from: updatesFrom(record),
        where: [],
        order: { keys: [{ expression: sql`u.version`, type: 'bigint' }], descending: query.sort === '-at' },
      },
    ],
    query,
  )
  return { ...page, rows: rows.map((row) => updateJson(record.id, row)) }
}

async function updatesOf(db: ReadDatabase, record: TransactionRecord) {
  const { rows } =
    await sql<UpdateRow>`select ${UPDATE_COLUMNS} from ${updatesFrom(record)} order by u.version desc limit ${sql.lit(UPDATES_SHOWN)}`.execute(
      db.kysely,
    )
  return rows.map((row) => updateJson(record.id, row))
}

/**
 * SQL of the updates of the cause, from the first movement on; a transaction that was booked immediately has that
 * single update.
 */
function updatesFrom({ id, sourceId, status, createdAt, description }: TransactionRecord) {
  const booked = sql`select 1 as version, ${status}::text as status, null::text as previous_status, ${`${description}.`}::text as message, 'partner'::text as actor, ${timestamp(createdAt)}::timestamptz as at`
  if (id !== sourceId && id !== transactionId(sourceId, 'other_side')) return sql`(${booked}) u`
  const told = sql`select s.version, s.status, case when s.previous_status = 'draft' then null else s.previous_status end as previous_status, s.message, s.actor, s.at from status_update s where s.object_id = ${sourceId}::uuid and s.status <> 'draft'`
  return sql`(${told} union all select * from (${booked}) b where not exists (select from status_update s where s.object_id = ${sourceId}::uuid)) u`
}

function updateJson(id: string, { version, status, previous_status, message, actor, at_ms }: UpdateRow) {
  return {
    id: updateId(id, version),
    transactionId: id,
    status: transactionStatus(status),
    previousStatus: previous_status === null ? null : transactionStatus(previous_status),
    message,
    actor,
    at: timestamp(at_ms),
  }
}

/**
 * Derives the id of an update: the transaction's id with its last eight digits XORed with the version, so it never
 * changes.
 */
function updateId(id: string, version: number): string {
  return id.slice(0, -8) + ((Number.parseInt(id.slice(-8), 16) ^ version) >>> 0).toString(16).padStart(8, '0')
}

/** Funds requests as the API shows them. */
import { sql } from 'kysely'
import { timestamp } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { remainingOf, type FundsRequestState, type FundsRequestStatus } from '../../lib/funds-requests/funds-request.ts'
import { moneyJson } from '../../lib/base/money.ts'
import type { Database } from '../db/database.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { Conditions, EMPTY, readPage, type Branch, type Order, type ReadDatabase, type TimeTo } from '../db/page.ts'

export interface FundsRequestFilters {
  readonly status?: readonly string[]
  readonly balanceId?: readonly string[]
  readonly currency?: readonly string[]
  readonly number?: readonly string[]
  readonly dueFrom?: string
  readonly dueTo?: string
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

export type FundsRequestSort = '-createdAt' | 'dueDate'
export type FundsRequestListQuery = RowQuery<FundsRequestFilters, FundsRequestSort>

/** Fields that depend on the service's address, and are not part of a request's entity tag. */
export const FUNDS_REQUEST_UNTAGGED: readonly string[] = ['link']

export interface FundsRequestColumns {
  readonly id: string
  readonly customer_id: string
  readonly operator_id: string
  readonly shard: number
  readonly number: string
  readonly external_id: string | null
  readonly status: FundsRequestStatus
  readonly version: string
  readonly balance_id: string
  readonly currency: CurrencyCode
  readonly amount: string
  readonly paid_amount: string
  readonly payer_name: string
  readonly payer_email: string | null
  readonly payer_recipient_id: string | null
  readonly description: string
  readonly invoice_number: string | null
  readonly due_date: string | null
  readonly expires_ms: number
  readonly allow_partial: boolean
  readonly reference: string
  readonly reminders_sent: number
  readonly last_reminded_ms: number | null
  readonly metadata: Record<string, string>
  readonly created_by: string
  readonly created_ms: number
  readonly updated_ms: number
  readonly payments: readonly { readonly id: string; readonly amount: string; readonly ms: number }[]
}

const ms = (column: string, name: string) => `(extract(epoch from r.${column}) * 1000)::float8 as ${name}`

/** The columns of a funds request `r`. */
export const fundsRequestColumns = `r.id, r.customer_id, r.operator_id, r.shard, r.number, r.external_id, r.status, r.version, r.balance_id, r.currency, r.amount,
  r.paid_amount, r.payer_name, r.payer_email, r.payer_recipient_id, r.description, r.invoice_number, r.due_date::text as due_date, ${ms('expires_at', 'expires_ms')},
  r.allow_partial, r.reference, r.reminders_sent, ${ms('last_reminded_at', 'last_reminded_ms')}, r.metadata, r.created_by, ${ms('created_at', 'created_ms')},
  ${ms('updated_at', 'updated_ms')}, (select coalesce(json_agg(json_build_object('id', p.incoming_payment_id, 'amount', p.amount::text, 'ms', extract(epoch from p.at) * 1000)
    order by p.at, p.incoming_payment_id), '[]'::json) from funds_request_payment p where p.funds_request_id = r.id) as payments`

/** A funds request as stored. Amounts are minor units, times epoch milliseconds. */
export interface FundsRequestRecord extends FundsRequestState {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly number: string
  readonly externalId: string | null
  readonly version: bigint
  readonly balanceId: string
  readonly currency: CurrencyCode
  readonly payer: { readonly name: string; readonly email: string | null; readonly recipientId: string | null }
  readonly description: string
  readonly invoiceNumber: string | null
  readonly dueDate: string | null
  readonly expiresAt: number
  readonly allowPartial: boolean
  readonly reference: string
  /** In the order in which they were counted. */
  readonly payments: readonly { readonly incomingPaymentId: string; readonly amount: bigint; readonly at: number }[]
  readonly metadata: Readonly<Record<string, string>>
  readonly createdBy: string
  readonly createdAt: number
  readonly updatedAt: number
}

export function fundsRequestRecord(row: FundsRequestColumns): FundsRequestRecord {
  return {
    id: row.id,
    customerId: row.customer_id,
    operatorId: row.operator_id,
    shard: row.shard,
    number: row.number,
    externalId: row.external_id,
    status: row.status,
    version: BigInt(row.version),
    balanceId: row.balance_id,
    currency: row.currency,
    amount: BigInt(row.amount),
    paidAmount: BigInt(row.paid_amount),
    payer: { name: row.payer_name, email: row.payer_email, recipientId: row.payer_recipient_id },
    payerEmail: row.payer_email,
    description: row.description,
    invoiceNumber: row.invoice_number,
    dueDate: row.due_date,
    expiresAt: row.expires_ms,
    allowPartial: row.allow_partial,
    reference: row.reference,
    payments: row.payments.map(({ id, amount, ms: at }) => ({ incomingPaymentId: id, amount: BigInt(amount), at })),
    remindersSent: row.reminders_sent,
    lastRemindedAt: row.last_reminded_ms,
    metadata: row.metadata,
    createdBy: row.created_by,
    createdAt: row.created_ms,
    updatedAt: row.updated_ms,
  }
}

/** A funds request as the customer sees it, with the account details for the payment and the payer's link. */
export function fundsRequestJson<Details>(
  record: FundsRequestRecord,
  { depositDetails, link }: { readonly depositDetails: Details; readonly link: string | null },
) {
  const { currency } = record
  const money = (amountMinor: bigint) => moneyJson({ amountMinor, currency })
  return {
    id: record.id,
    customerId: record.customerId,
    number: record.number,
    externalId: record.externalId,
    status: record.status,
    balanceId: record.balanceId,
    amount: money(record.amount),
    paidAmount: money(record.paidAmount),
    remainingAmount: money(remainingOf(record)),
    payer: record.payer,
    description: record.description,
    invoiceNumber: record.invoiceNumber,
    dueDate: record.dueDate,
    expiresAt: timestamp(record.expiresAt),
    allowPartial: record.allowPartial,
    reference: record.reference,
    depositDetails,
    link,
    payments: record.payments.map(({ incomingPaymentId, amount, at }) => ({
      incomingPaymentId,
      amount: money(amount),
      at: timestamp(at),
    })),
    remindersSent: record.remindersSent,
    lastRemindedAt: record.lastRemindedAt === null ? null : timestamp(record.lastRemindedAt),
    metadata: record.metadata,
    createdBy: record.createdBy,
    createdAt: timestamp(record.createdAt),
    updatedAt: timestamp(record.updatedAt),
  }
}

const ORDERS: Readonly<Record<FundsRequestSort, Order>> = {
  '-createdAt': { keys: [{ expression: sql`r.id`, type: 'uuid' }], descending: true },
  // Requests without a due day come last; `infinity` stands for null, because a keyset has no nulls.
  dueDate: {
    keys: [
      { expression: sql`coalesce(r.due_date, 'infinity'::date)`, type: 'date' },
      { expression: sql`r.id`, type: 'uuid' },
    ],
    descending: false,
  },
}

/** Lists the funds requests of a customer. Operators have none of their own. */
export async function listFundsRequests(
  db: ReadDatabase,
  query: FundsRequestListQuery,
): Promise<ListResult<FundsRequestRecord>> {
  if (query.tenant.kind !== 'customer') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const { rows, ...page } = await readPage<FundsRequestColumns>(db, [fundsRequestBranch(query)], query)
  return { ...page, rows: rows.map(fundsRequestRecord) }
}

/** The FROM and WHERE of a list; exported so that a test can check its plan. */
export function fundsRequestBranch({ tenant, filters, sort }: FundsRequestListQuery): Branch {
  const where = new Conditions()
    .add(sql`r.customer_id = ${tenant.id}::uuid`)
    .anyOf(sql`r.status`, filters.status, 'text')
    .anyOf(sql`r.balance_id`, filters.balanceId, 'uuid')
    .anyOf(sql`r.currency`, filters.currency, 'bpchar')
    .anyOf(sql`r.number`, filters.number, 'text')
    .days(sql`r.due_date`, filters.dueFrom, filters.dueTo)
    .created('r', filters.createdFrom, filters.createdTo)
  return { columns: sql.raw(fundsRequestColumns), from: sql`funds_request r`, where: where.list, order: ORDERS[sort] }
}

const FIND = `select ${fundsRequestColumns} from funds_request r where`

/** Reads one funds request of a customer; null when the request is not the tenant's. */
export async function getFundsRequest(
  database: Database,
  tenant: Tenant,
  id: string,
): Promise<FundsRequestRecord | null> {
  if (tenant.kind !== 'customer') return null
  const {
    rows: [row],
  } = await database.pool.query<FundsRequestColumns>({
    name: 'get_funds_request',
    text: `${FIND} r.id = $1 and r.customer_id = $2`,
    values: [id, tenant.id],
  })
  return row === undefined ? null : fundsRequestRecord(row)
}

/** Finds the funds request of a link, with the payee's name; null when it does not exist. */
export async function findFundsRequestOfLink(
  database: Database,
  linkSha256: string,
): Promise<{ readonly record: FundsRequestRecord; readonly payeeName: string } | null> {
  const {
    rows: [row],
  } = await database.pool.query<FundsRequestColumns & { payee_name: string }>({
    name: 'funds_request_of_link',
    values: [linkSha256],
    text: `select ${fundsRequestColumns}, c.legal_name as payee_name from funds_request r join customer c on c.id = r.customer_id where r.link_sha256 = decode($1, 'hex')`,
  })
  return row === undefined ? null : { record: fundsRequestRecord(row), payeeName: row.payee_name }
}

/** Bulk payments and their rows as the API shows them. */
import { sql } from 'kysely'
import { timestamp } from '../../lib/base/clock.ts'
import type { BulkFormat } from '../../lib/bulk-payments/formats.ts'
import type { BulkStatus, RowFailure, RowStatus } from '../../lib/bulk-payments/bulk-payment.ts'
import type { RowFault, RowWarning } from '../../lib/bulk-payments/instruction.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { moneyJson } from '../../lib/base/money.ts'
import { BULK_COLUMNS, bulkRecord, findBulk, type BulkColumns, type BulkRecord } from './bulk-payments.ts'
import type { Database } from '../db/database.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { Conditions, EMPTY, readPage, type Branch, type ReadDatabase, type TimeTo } from '../db/page.ts'
import type { PaymentStatus } from '../../lib/payments/payment.ts'
import type { Rail } from '../../lib/rails/rails.ts'

export type BulkPaymentListQuery = RowQuery<
  {
    readonly status?: readonly string[]
    readonly format?: readonly string[]
    readonly createdBy?: readonly string[]
    readonly createdFrom?: string
    readonly createdTo?: TimeTo
  },
  '-createdAt' | 'createdAt'
>

export type BulkRowListQuery = RowQuery<
  {
    readonly status?: readonly string[]
    readonly recipientId?: readonly string[]
    readonly errorCode?: readonly string[]
    readonly paymentStatus?: readonly string[]
    readonly createdFrom?: string
    readonly createdTo?: TimeTo
  },
  'rowNumber' | '-rowNumber'
> & { readonly bulkPaymentId: string }

const at = (ms: number | null): string | null => (ms === null ? null : timestamp(ms))

/** The bulk payment as the API shows it. */
export function bulkPaymentJson(record: BulkRecord) {
  return {
    id: record.id,
    customerId: record.customerId,
    number: record.number,
    name: record.name,
    status: record.status satisfies BulkStatus,
    format: record.format satisfies BulkFormat,
    fileName: record.fileName,
    fileHash: record.fileHash,
    sourceBalanceId: record.sourceBalanceId,
    executionDate: record.executionDate,
    requireAllValid: record.options.requireAllValid,
    counts: record.counts,
    totals: record.totals.map(({ currency, amount, fee, rows }) => ({
      currency: currency as CurrencyCode,
      amountMinor: amount.toString(),
      fee: fee.toString(),
      rows,
    })),
    fileErrors: [...record.fileErrors],
    warnings: [...record.warnings],
    duplicateOf: record.duplicateOf,
    jobId: record.jobId,
    approvalId: record.approvalId,
    lastProgressAt: at(record.lastProgressAt),
    submittedBy: record.submittedBy,
    submittedAt: at(record.submittedAt),
    closedAt: at(record.closedAt),
    createdBy: record.createdBy,
    createdAt: timestamp(record.createdAt),
    updatedAt: timestamp(record.updatedAt),
  }
}

/** Lists the bulk payments of a customer. Operators have none of their own. */
export async function listBulkPayments(
  db: ReadDatabase,
  query: BulkPaymentListQuery,
): Promise<ListResult<ReturnType<typeof bulkPaymentJson>>> {
  if (query.tenant.kind !== 'customer') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const { rows, ...page } = await readPage<BulkColumns>(db, [bulkPaymentBranch(query)], query)
  return { ...page, rows: rows.map((row) => bulkPaymentJson(bulkRecord(row))) }
}

/** The FROM and WHERE of the list; exported so that a test can check its plan. */
export function bulkPaymentBranch({ tenant, filters, sort }: BulkPaymentListQuery): Branch {
  const where = new Conditions()
    .add(sql`b.customer_id = ${tenant.id}::uuid`)
    .anyOf(sql`b.status`, filters.status, 'text')
    .anyOf(sql`b.format`, filters.format, 'text')
    .anyOf(sql`b.created_by`, filters.createdBy, 'uuid')
    .created('b', filters.createdFrom, filters.createdTo)
  return {
    columns: sql.raw(BULK_COLUMNS),
    from: sql`bulk_payment b`,
    where: where.list,
    order: { keys: [{ expression: sql`b.id`, type: 'uuid' }], descending: sort === '-createdAt' },
  }
}

/** Finds a bulk payment of a customer; null when it is not the tenant's. */
export async function findBulkPayment(database: Database, tenant: Tenant, id: string): Promise<BulkRecord | null> {
  const found = tenant.kind === 'customer' ? await findBulk(database, id) : null
  return found?.customerId === tenant.id ? found : null
}

interface RowColumns {
  readonly id: string
  readonly bulk_payment_id: string
  readonly row_number: number
  readonly status: RowStatus
  readonly external_id: string | null
  readonly recipient_id: string | null
  readonly recipient_name: string
  readonly masked_identifier: string | null
  readonly currency: string | null
  readonly amount: string | null
  readonly rail: Rail | null
  readonly reference: string | null
  readonly execution_day: string | null
  readonly source_balance_id: string | null
  readonly fee: string | null
  readonly fee_tax: string | null
  readonly fee_currency: string | null
  readonly estimated_arrival: Date | null
  readonly errors: string
  readonly warnings: string
  readonly payment_id: string | null
  readonly payment_status: PaymentStatus | null
  readonly mandate_id: string | null
  readonly collection_id: string | null
  readonly failure_code: RowFailure | null
  readonly created_at: Date
  readonly updated_at: Date
}

// A row has the id of its payment before the payment exists; the id is shown only once the payment exists.
const ROW_COLUMNS = `r.id, r.bulk_payment_id, r.row_number, r.status, r.external_id, r.recipient_id, r.recipient_name, r.masked_identifier, r.currency, r.amount, r.rail, r.reference,
  r.execution_date::text as execution_day, r.source_balance_id, r.fee, r.fee_tax, (select s.currency from balance s where s.id = r.source_balance_id) as fee_currency, r.estimated_arrival, r.errors, r.warnings,
  r.payment_id, (select p.status from payment p where p.id = r.payment_id) as payment_status, (select m.id from mandate m where m.id = r.payment_id) as mandate_id,
  (select c.id from collection c where c.id = r.payment_id) as collection_id, r.failure_code, r.created_at, r.updated_at`

function bulkRowJson(row: RowColumns) {
  const money = (amount: string | null, currency: string | null) =>
    amount === null || currency === null
      ? null
      : moneyJson({ amountMinor: BigInt(amount), currency: currency as CurrencyCode })
  return {
    id: row.id,
    bulkPaymentId: row.bulk_payment_id,
    rowNumber: row.row_number,
    status: row.status,
    externalId: row.external_id,
    recipientId: row.recipient_id,
    recipientName: row.recipient_name,
    maskedIdentifier: row.masked_identifier,
    amount: money(row.amount, row.currency),
    rail: row.rail,
    reference: row.reference,
    executionDate: row.execution_day,
    sourceBalanceId: row.source_balance_id,
    fee: money(row.fee, row.fee_currency),
    feeTax: money(row.fee_tax, row.fee_currency),
    estimatedArrival: row.estimated_arrival === null ? null : timestamp(row.estimated_arrival.getTime()),
    errors: JSON.parse(row.errors) as RowFault[],
    warnings: JSON.parse(row.warnings) as RowWarning[],
    paymentId: row.payment_status === null ? null : row.payment_id,
    paymentStatus: row.payment_status,
    mandateId: row.mandate_id,
    collectionId: row.collection_id,
    failureCode: row.failure_code,
    createdAt: timestamp(row.created_at.getTime()),
    updatedAt: timestamp(row.updated_at.getTime()),
  }
}

/** Lists the rows of one file; null when the file is not the tenant's. */
export async function listBulkPaymentRows(
  database: Database,
  db: ReadDatabase,
  query: BulkRowListQuery,
): Promise<ListResult<ReturnType<typeof bulkRowJson>> | null> {
  if ((await findBulkPayment(database, query.tenant, query.bulkPaymentId)) === null) return null
  const { rows, ...page } = await readPage<RowColumns>(db, [bulkRowBranch(query)], query)
  return { ...page, rows: rows.map(bulkRowJson) }
}

/**
 * Rows with one of these statuses have an index of their own, because clients search for them among a hundred thousand
 * rows.
 */
const FAULTY: ReadonlySet<string> = new Set<RowStatus>(['invalid', 'failed'])

/** The FROM and WHERE of the rows of a file; exported so that a test can check its plan. */
export function bulkRowBranch({ bulkPaymentId, filters, sort }: Omit<BulkRowListQuery, 'tenant'>): Branch {
  const { status, recipientId, errorCode, paymentStatus } = filters
  const where = new Conditions()
    .add(sql`r.bulk_payment_id = ${bulkPaymentId}::uuid`)
    .anyOf(sql`r.status`, status, 'text')
    .anyOf(sql`r.recipient_id`, recipientId, 'uuid')
    .during(sql`r.created_at`, filters.createdFrom, filters.createdTo)
  if (errorCode !== undefined || status?.every((each) => FAULTY.has(each)) === true)
    where.add(sql`r.status in ('invalid', 'failed')`)
  if (errorCode !== undefined)
    where.add(sql`(r.error_codes && ${errorCode}::text[] or r.failure_code = any(${errorCode}::text[]))`)
  if (paymentStatus !== undefined)
    where.add(
      sql`exists (select from payment p where p.id = r.payment_id and p.status = any(${paymentStatus}::text[]))`,
    )
  return {
    columns: sql.raw(ROW_COLUMNS),
    from: sql`bulk_payment_row r`,
    where: where.list,
    order: { keys: [{ expression: sql`r.row_number`, type: 'integer' }], descending: sort === '-rowNumber' },
  }
}

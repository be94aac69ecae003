/** Payments as the customer sees them, and as the domain reads them. */
import { sql } from 'kysely'
import { operatorPaymentJson } from '../../lib/payments/operator-view.ts'
import { paymentJson, type PaymentRecord } from '../../lib/payments/payment.ts'
import { plainArray } from '../db/array-literal.ts'
import { without } from '../db/columns.ts'
import type { Database } from '../db/database.ts'
import { liveRecipients } from './drafts.ts'
import { Payment } from './payment-entity.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { Conditions, EMPTY, readPage, type Branch, type Order, type ReadDatabase, type TimeTo } from '../db/page.ts'
import { from, select } from '../db/select.ts'
import { type Queue, queuePlaces } from './queue-places.ts'

export interface PaymentFilters {
  readonly status?: readonly string[]
  readonly rail?: readonly string[]
  readonly currency?: readonly string[]
  readonly recipientId?: readonly string[]
  readonly sourceBalanceId?: readonly string[]
  readonly bulkPaymentId?: readonly string[]
  readonly scheduledPaymentId?: readonly string[]
  readonly createdVia?: readonly string[]
  readonly externalId?: readonly string[]
  readonly number?: readonly string[]
  readonly amountFrom?: bigint
  readonly amountTo?: bigint
  readonly executionFrom?: string
  readonly executionTo?: string
  readonly completedFrom?: string
  readonly completedTo?: TimeTo
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

export type PaymentSort = '-createdAt' | 'createdAt' | '-executionDate' | '-amount'
export type PaymentListQuery = RowQuery<PaymentFilters, PaymentSort>

/** The columns of a payment that are read for display; those that only decisions need are left out. */
const RECORD = select(without(from(Payment, 'p'), ['operatorId', 'shard', 'payingBalanceId', 'holdId', 'recallDueAt']))

const ID = { expression: sql`p.id`, type: 'uuid' } as const

/**
 * Sort orders of payments. Creation has the index by customer and id. Execution date and amount have no index, because
 * every payment would pay for it: these two sort all matching payments of the customer, at the same cost for every
 * page.
 */
const ORDERS: Readonly<Record<PaymentSort, Order>> = {
  '-createdAt': { keys: [ID], descending: true },
  createdAt: { keys: [ID], descending: false },
  // Drafts without a date come first, as the furthest date.
  '-executionDate': {
    keys: [{ expression: sql`coalesce(p.execution_date, date '9999-12-31')`, type: 'date' }, ID],
    descending: true,
    sorted: ID.expression,
  },
  '-amount': { keys: [{ expression: sql`p.amount`, type: 'bigint' }, ID], descending: true, sorted: ID.expression },
}

/**
 * Lists the payments of a customer; with `forOperator` as its operator sees them. Operators have none of their own.
 */
export async function listPayments(
  database: Database,
  db: ReadDatabase,
  query: PaymentListQuery,
  queue: Queue,
  forOperator: boolean,
): Promise<ListResult<ReturnType<typeof paymentJson>>> {
  if (query.tenant.kind !== 'customer') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const { rows, ...page } = await readPage<object>(db, [paymentBranch(query)], query)
  const records = await withLiveRecipients(
    database,
    rows.map((row) => paymentRecord(RECORD.readNamed(row))),
  )
  const places = await queuePlaces(database, records, queue)
  const shown = forOperator ? operatorPaymentJson : paymentJson
  return { ...page, rows: records.map((record) => shown(record, places.get(record.id) ?? null)) }
}

/** The FROM and WHERE of a list; exported so that a test can check its plan. */
export function paymentBranch({ tenant, filters, metadata, sort }: PaymentListQuery): Branch {
  const where = new Conditions()
    .add(sql`p.customer_id = ${tenant.id}::uuid`)
    .anyOf(sql`p.status`, filters.status, 'text')
    .anyOf(sql`p.rail`, filters.rail, 'text')
    .anyOf(sql`p.currency`, filters.currency, 'bpchar')
    .anyOf(sql`p.recipient_id`, filters.recipientId, 'uuid')
    .anyOf(sql`p.source_balance_id`, filters.sourceBalanceId, 'uuid')
    .anyOf(sql`p.scheduled_payment_id`, filters.scheduledPaymentId, 'uuid')
    .anyOf(sql`p.created_via`, filters.createdVia, 'text')
    .anyOf(sql`p.external_id`, filters.externalId, 'text')
    .anyOf(sql`p.number`, filters.number, 'text')
    .amounts(sql`p.amount`, filters.amountFrom, filters.amountTo)
    .days(sql`p.execution_date`, filters.executionFrom, filters.executionTo)
    .during(sql`p.completed_at`, filters.completedFrom, filters.completedTo)
    .created('p', filters.createdFrom, filters.createdTo)
    .metadata(sql`p.metadata`, metadata)
  // The payments of the rows of these files.
  if (filters.bulkPaymentId !== undefined)
    where.add(
      sql`p.id in (select r.payment_id from bulk_payment_row r where r.bulk_payment_id = any(${plainArray(filters.bulkPaymentId)}::uuid[]) and r.payment_id is not null)`,
    )
  return { columns: sql.raw(RECORD.named), from: sql`payment p`, where: where.list, order: ORDERS[sort] }
}

/** Finds a payment by its id, of any customer; null when it does not exist. */
export async function findPayment(database: Pick<Database, 'query'>, id: string): Promise<PaymentRecord | null> {
  const [row] = await database.query({
    name: 'get_payment',
    text: `select ${RECORD.sql} from payment p where p.id = $1`,
    values: [id],
  })
  return row === undefined ? null : paymentRecord(RECORD.read(row))
}

/**
 * Reads one payment of a customer with its version, with `forOperator` as its operator sees it; null when the payment
 * is not the tenant's.
 */
export async function getPayment(database: Database, tenant: Tenant, id: string, queue: Queue, forOperator: boolean) {
  if (tenant.kind !== 'customer') return null
  const found = await findPayment(database, id)
  if (found === null || found.customerId !== tenant.id) return null
  const [record] = (await withLiveRecipients(database, [found])) as [PaymentRecord]
  const places = await queuePlaces(database, [record], queue)
  const shown = forOperator ? operatorPaymentJson : paymentJson
  return { version: record.version, view: shown(record, places.get(id) ?? null) }
}

/** Drafts show the present state of their recipients; a deleted recipient is shown as the draft recorded it. */
async function withLiveRecipients(
  database: Database,
  payments: readonly PaymentRecord[],
): Promise<readonly PaymentRecord[]> {
  const drafts = payments.filter(({ status }) => status === 'draft')
  if (drafts.length === 0) return payments
  const recipients = await liveRecipients(
    database,
    drafts.map(({ recipientId }) => recipientId),
  )
  return payments.map((payment) => {
    const recipient = payment.status === 'draft' ? recipients.get(payment.recipientId) : undefined
    return recipient === undefined ? payment : { ...payment, details: { ...payment.details, recipient } }
  })
}

const paymentRecord = (row: ReturnType<typeof RECORD.read>): PaymentRecord => ({ ...row, metadata: row.metadata ?? {} })

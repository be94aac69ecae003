/**
 * Counts for an operator's overview. What waits is read from the indexes that hold nothing else; customers and payments
 * are counted row by row, within a time, so that the overview of a large operator cannot keep Postgres busy.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { CustomerStatus } from '../../lib/customers/status.ts'
import type { WaitingKind } from '../../lib/statistics/statistics-schema.ts'
import type { Database } from '../db/database.ts'
import { idAt } from '../db/page.ts'
import { asUnavailable } from '../db/pool.ts'
import { QUERY_CANCELED, sqlState } from '../db/sqlstates.ts'
import { inTransaction, type TransactionClient } from '../db/transaction.ts'

/** The time that Postgres may work on one of the statements. */
const STATEMENT_TIMEOUT_MS = 2_000
/** How far the time in an id may be from the time of its row: see `Conditions.created`. */
const ID_SLACK_MS = 300_000

/** A kind of waiting work: its table, its condition, and the time since when. `$1` is the operator. */
const QUEUES: Readonly<Record<WaitingKind, readonly [table: string, condition: string, since: string]>> = {
  approvals: ['approval', `status = 'pending'`, 'created_at'],
  complianceHolds: ['compliance_hold', `status = 'open'`, 'created_at'],
  exceptions: ['exception_case', `status = 'open'`, 'created_at'],
  kybCases: ['kyb_case', `status in ('submitted', 'in_review')`, 'submitted_at'],
  recipientReviews: ['recipient_review', `status = 'pending'`, 'created_at'],
  suspenseItems: ['incoming_payment', `suspense = 'open'`, 'received_at'],
  reconciliationBreaks: ['reconciliation_item', `status in ('open', 'in_suspense')`, 'created_at'],
}

/** The statement of what waits; exported so that a test can check its plan. */
export const WAITING_SQL = Object.entries(QUEUES)
  .map(
    ([name, [table, condition, since]]) =>
      `select '${name}' as queue, count(*)::int as count, floor(extract(epoch from min(${since})) * 1000)::float8 as oldest_ms from ${table} where operator_id = $1 and ${condition}`,
  )
  .join(' union all ')

const CUSTOMERS_SQL = `select case when status = 'active' then coalesce(measure, status) else status end as status, count(*)::int as count
  from customer where operator_id = $1 group by 1`

/**
 * The statement of the payments of a time, which the order of ids bounds: `$2` is the smallest id, `$3` the time.
 * Exported so that a test can check its plan.
 */
export const PAYMENTS_SQL = `select status, currency, count(*)::int as count, sum(amount)::text as amount from payment
  where operator_id = $1 and id >= $2 and created_at >= $3 group by status, currency order by status, currency`

const CREDITS_SQL = `select currency, count(*)::int as count, sum(amount)::text as amount from incoming_payment
  where operator_id = $1 and id >= $2 and credited_at >= $3 group by currency order by currency`

/** A sum in one currency; the amount in minor units. */
export interface Volume {
  readonly currency: string
  readonly count: number
  readonly amount: string
}

export interface OperatorCounts {
  readonly customers: readonly { readonly status: CustomerStatus; readonly count: number }[]
  /** Epoch milliseconds in `oldest_ms`; null when nothing waits. */
  readonly waiting: readonly {
    readonly queue: WaitingKind
    readonly count: number
    readonly oldest_ms: number | null
  }[]
}

export interface ActivityCounts {
  readonly payments: readonly (Volume & { readonly status: string })[]
  readonly credits: readonly Volume[]
}

/** Counts an operator's customers, and what waits for people. @throws DatabaseUnavailable, also when it takes too long */
export async function countOperator(database: Database, operatorId: string): Promise<OperatorCounts> {
  return await inTime(database, async (client) => {
    const values = [operatorId]
    const customers = await client.query<OperatorCounts['customers'][number]>(CUSTOMERS_SQL, values)
    const waiting = await client.query<OperatorCounts['waiting'][number]>(WAITING_SQL, values)
    return { customers: customers.rows, waiting: waiting.rows }
  })
}

/**
 * Counts the payments that were created, and the money that was credited, since a moment in epoch milliseconds; null
 * when that takes too long. @throws DatabaseUnavailable
 */
export async function countActivity(
  database: Database,
  operatorId: string,
  since: number,
): Promise<ActivityCounts | null> {
  const values = [operatorId, idAt(since - ID_SLACK_MS), timestamp(since)]
  try {
    return await inTime(database, async (client) => {
      const payments = await client.query<ActivityCounts['payments'][number]>(PAYMENTS_SQL, values)
      const credits = await client.query<Volume>(CREDITS_SQL, values)
      return { payments: payments.rows, credits: credits.rows }
    })
  } catch (error) {
    if (sqlState(error) === QUERY_CANCELED) return null
    throw asUnavailable(error)
  }
}

async function inTime<Result>(
  database: Database,
  work: (client: TransactionClient) => Promise<Result>,
): Promise<Result> {
  return await inTransaction(database, async (client) => {
    await client.query(`set transaction isolation level repeatable read read only`)
    await client.query(`set local statement_timeout = ${STATEMENT_TIMEOUT_MS}`)
    return await work(client)
  })
}

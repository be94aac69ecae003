/** Scheduled payments and their occurrences, as the API shows them and as the domain reads them. */
import { sql } from 'kysely'
import type { Editor } from '../../lib/approvals/requesters.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { moneyJson } from '../../lib/base/money.ts'
import type { CalendarTerms } from '../../lib/rails/business-days.ts'
import type { PaymentStatus } from '../../lib/payments/payment.ts'
import type { Rail } from '../../lib/rails/rails.ts'
import type { DayPolicy, Frequency, Occurrence } from '../../lib/scheduled-payments/occurrences.ts'
import { foreseeable } from '../../lib/scheduled-payments/rail-calendar.ts'
import type { PaymentOutcome, ScheduleState, ScheduleStatus } from '../../lib/scheduled-payments/schedule.ts'
import { CALENDAR_OF_CONNECTION } from '../providers/connection-calendars.ts'
import type { Database } from '../db/database.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { Conditions, EMPTY, readPage, type Branch, type Order, type ReadDatabase, type TimeTo } from '../db/page.ts'

export interface ScheduledPaymentFilters {
  readonly status?: readonly string[]
  readonly recipientId?: readonly string[]
  readonly sourceBalanceId?: readonly string[]
  readonly frequency?: readonly string[]
  readonly nextFrom?: string
  readonly nextTo?: TimeTo
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}
export type ScheduledPaymentSort = 'nextOccurrenceAt' | '-createdAt'
export type ScheduledPaymentListQuery = RowQuery<ScheduledPaymentFilters, ScheduledPaymentSort>
export type OccurrenceListQuery = RowQuery<object, '-number'> & { readonly scheduledPaymentId: string }

/** A schedule as read from storage; times are epoch milliseconds, dates `YYYY-MM-DD`. */
export interface ScheduleRecord {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly number: string
  readonly externalId: string | null
  readonly version: bigint
  readonly recipientId: string
  readonly sourceBalanceId: string
  readonly currency: string
  /** Minor units. */
  readonly amount: bigint
  readonly requestedRail: Rail | null
  /** The rail whose calendar gives the days. */
  readonly rail: Rail
  /** The calendar of the connection that the payments use; null where the rail's own calendar applies. */
  readonly calendar: CalendarTerms | null
  readonly reference: string
  readonly purposeCode: string | null
  readonly chargeBearer: 'shared' | 'sender' | 'recipient'
  readonly state: ScheduleState
  readonly lastPaymentId: string | null
  readonly lastPaymentStatus: PaymentStatus | null
  readonly metadata: Readonly<Record<string, string>>
  /** The users and keys that changed its terms, each with the last time. */
  readonly editors: readonly Editor[]
  /** The user whose limits its payments count for; null: `createdBy`. */
  readonly amountSetBy: string | null
  readonly createdBy: string
  readonly createdByName: string
  readonly createdAt: number
  readonly updatedAt: number
}

export interface ScheduleColumns {
  readonly id: string
  readonly customer_id: string
  readonly operator_id: string
  readonly shard: number
  readonly number: string
  readonly external_id: string | null
  readonly status: ScheduleStatus
  readonly version: string
  readonly recipient_id: string
  readonly source_balance_id: string
  readonly currency: string
  readonly amount: string
  readonly requested_rail: Rail | null
  readonly rail: Rail
  readonly calendar: CalendarTerms | null
  readonly reference: string
  readonly purpose_code: string | null
  readonly charge_bearer: 'shared' | 'sender' | 'recipient'
  readonly frequency: Frequency
  readonly start_day: string
  readonly end_day: string | null
  readonly max_occurrences: number | null
  readonly day_policy: DayPolicy
  readonly last_day_of_month: boolean
  readonly next_index: number | null
  readonly next_planned_day: string | null
  readonly next_execution_day: string | null
  readonly next_ms: number | null
  readonly occurrences_begun: number
  readonly occurrences_created: number
  readonly consecutive_failures: number
  readonly last_payment_id: string | null
  readonly last_payment_status: PaymentStatus | null
  readonly paused_ms: number | null
  readonly metadata: Record<string, string>
  readonly editors: readonly Editor[]
  readonly amount_set_by: string | null
  readonly created_by: string
  readonly created_by_name: string
  readonly created_ms: number
  readonly updated_ms: number
}

const ms = (column: string, name: string) => `(extract(epoch from s.${column}) * 1000)::float8 as ${name}`

/** The columns of a schedule `s`. */
export const SCHEDULE_COLUMNS = `s.id, s.customer_id, s.operator_id, s.shard, s.number, s.external_id, s.status, s.version, s.recipient_id, s.source_balance_id, s.currency,
  s.amount, s.requested_rail, s.rail, s.reference, s.purpose_code, s.charge_bearer, s.frequency, s.start_date::text as start_day, s.end_date::text as end_day,
  s.max_occurrences, s.day_policy, s.last_day_of_month, s.next_index, s.next_planned_date::text as next_planned_day, s.next_execution_date::text as next_execution_day,
  ${ms('next_occurrence_at', 'next_ms')}, s.occurrences_begun, s.occurrences_created, s.consecutive_failures, s.last_payment_id, ${ms('paused_at', 'paused_ms')},
  (select p.status from payment p where p.id = s.last_payment_id) as last_payment_status,
  (select ${CALENDAR_OF_CONNECTION} from balance b join provider_connection k on k.id = b.connection_id where b.id = s.source_balance_id) as calendar,
  s.metadata, s.editors, s.amount_set_by, s.created_by, s.created_by_name, ${ms('created_at', 'created_ms')}, ${ms('updated_at', 'updated_ms')}`

export function scheduleRecord(row: ScheduleColumns): ScheduleRecord {
  return {
    id: row.id,
    customerId: row.customer_id,
    operatorId: row.operator_id,
    shard: row.shard,
    number: row.number,
    externalId: row.external_id,
    version: BigInt(row.version),
    recipientId: row.recipient_id,
    sourceBalanceId: row.source_balance_id,
    currency: row.currency,
    amount: BigInt(row.amount),
    requestedRail: row.requested_rail,
    rail: row.rail,
    calendar: row.calendar,
    reference: row.reference,
    purposeCode: row.purpose_code,
    chargeBearer: row.charge_bearer,
    state: {
      status: row.status,
      series: {
        frequency: row.frequency,
        startDate: row.start_day,
        endDate: row.end_day,
        dayPolicy: row.day_policy,
        lastDayOfMonth: row.last_day_of_month,
      },
      maxOccurrences: row.max_occurrences,
      next:
        row.next_index === null
          ? null
          : {
              index: row.next_index,
              plannedDate: row.next_planned_day as string,
              executionDate: row.next_execution_day as string,
            },
      nextOccurrenceAt: row.next_ms,
      occurrencesBegun: row.occurrences_begun,
      occurrencesCreated: row.occurrences_created,
      consecutiveFailures: row.consecutive_failures,
      pausedAt: row.paused_ms,
    },
    lastPaymentId: row.last_payment_id,
    lastPaymentStatus: row.last_payment_status,
    metadata: row.metadata,
    editors: row.editors,
    amountSetBy: row.amount_set_by,
    createdBy: row.created_by,
    createdByName: row.created_by_name,
    createdAt: row.created_ms,
    updatedAt: row.updated_ms,
  }
}

const at = (time: number | null): string | null => (time === null ? null : timestamp(time))

/** The schedule as the API shows it. */
export function scheduleJson(record: ScheduleRecord) {
  const { state } = record
  return {
    id: record.id,
    customerId: record.customerId,
    number: record.number,
    externalId: record.externalId,
    status: state.status,
    recipientId: record.recipientId,
    sourceBalanceId: record.sourceBalanceId,
    amount: moneyJson({ amountMinor: record.amount, currency: record.currency as CurrencyCode }),
    requestedRail: record.requestedRail,
    reference: record.reference,
    purposeCode: record.purposeCode,
    chargeBearer: record.chargeBearer,
    frequency: state.series.frequency,
    startDate: state.series.startDate,
    endDate: state.series.endDate,
    maxOccurrences: state.maxOccurrences,
    dayPolicy: state.series.dayPolicy,
    lastDayOfMonth: state.series.lastDayOfMonth,
    nextOccurrenceAt: at(state.nextOccurrenceAt),
    occurrencesCreated: state.occurrencesCreated,
    lastPaymentId: record.lastPaymentId,
    lastPaymentStatus: record.lastPaymentStatus,
    consecutiveFailures: state.consecutiveFailures,
    pausedAt: at(state.pausedAt),
    metadata: record.metadata,
    createdBy: record.createdBy,
    createdAt: timestamp(record.createdAt),
    updatedAt: timestamp(record.updatedAt),
  }
}

const ID = { expression: sql`s.id`, type: 'uuid' } as const

const ORDERS: Readonly<Record<ScheduledPaymentSort, Order>> = {
  // Schedules without a next occurrence come last; `infinity` stands for null, because a keyset has no nulls.
  nextOccurrenceAt: {
    keys: [{ expression: sql`coalesce(s.next_occurrence_at, 'infinity'::timestamptz)`, type: 'timestamptz' }, ID],
    descending: false,
  },
  '-createdAt': { keys: [ID], descending: true },
}

/** Lists the schedules of a customer. Operators have none of their own. */
export async function listScheduledPayments(
  db: ReadDatabase,
  query: ScheduledPaymentListQuery,
): Promise<ListResult<ReturnType<typeof scheduleJson>>> {
  if (query.tenant.kind !== 'customer') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const { rows, ...page } = await readPage<ScheduleColumns>(db, [scheduleBranch(query)], query)
  return { ...page, rows: rows.map((row) => scheduleJson(scheduleRecord(row))) }
}

/** The FROM and WHERE of a list; exported so that a test can check its plan. */
export function scheduleBranch({ tenant, filters, sort }: ScheduledPaymentListQuery): Branch {
  const where = new Conditions()
    .add(sql`s.customer_id = ${tenant.id}::uuid`)
    .anyOf(sql`s.status`, filters.status, 'text')
    .anyOf(sql`s.recipient_id`, filters.recipientId, 'uuid')
    .anyOf(sql`s.source_balance_id`, filters.sourceBalanceId, 'uuid')
    .anyOf(sql`s.frequency`, filters.frequency, 'text')
    .during(sql`s.next_occurrence_at`, filters.nextFrom, filters.nextTo)
    .created('s', filters.createdFrom, filters.createdTo)
  return { columns: sql.raw(SCHEDULE_COLUMNS), from: sql`scheduled_payment s`, where: where.list, order: ORDERS[sort] }
}

/** Finds a schedule of a customer; null when the schedule is not the tenant's. */
export async function findSchedule(database: Database, tenant: Tenant, id: string): Promise<ScheduleRecord | null> {
  if (tenant.kind !== 'customer') return null
  const {
    rows: [row],
  } = await database.pool.query<ScheduleColumns>({
    name: 'get_scheduled_payment',
    text: `select ${SCHEDULE_COLUMNS} from scheduled_payment s where s.id = $1 and s.customer_id = $2`,
    values: [id, tenant.id],
  })
  return row === undefined ? null : scheduleRecord(row)
}

/** Reads one schedule of a customer with its version; null when the schedule is not the tenant's. */
export async function getScheduledPayment(database: Database, tenant: Tenant, id: string) {
  const record = await findSchedule(database, tenant, id)
  return record === null ? null : { version: record.version, view: scheduleJson(record) }
}

// ── Occurrences
// ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** Foreseeable dates shown, at most. */
const UPCOMING_MAX = 12

export type OccurrenceStatus = 'due' | 'created' | 'refused' | 'skipped'

interface OccurrenceColumns {
  readonly number: number
  readonly planned_day: string
  readonly execution_day: string
  readonly status: OccurrenceStatus
  readonly outcome: PaymentOutcome | null
  readonly refusal: string | null
  readonly payment_id: string
  readonly payment_status: PaymentStatus | null
  readonly created_ms: number
}

const OCCURRENCE_COLUMNS = `o.number, o.planned_date::text as planned_day, o.execution_date::text as execution_day, o.status, o.outcome, o.refusal, o.payment_id,
  (select p.status from payment p where p.id = o.payment_id) as payment_status, (extract(epoch from o.created_at) * 1000)::float8 as created_ms`

function occurrenceJson(row: OccurrenceColumns) {
  const paid = row.payment_status !== null
  return {
    number: row.number,
    plannedDate: row.planned_day,
    executionDate: row.execution_day,
    status: row.status,
    paymentId: paid ? row.payment_id : null,
    paymentStatus: row.payment_status,
    refusal:
      row.refusal === null ? null : (JSON.parse(row.refusal) as { readonly code: string; readonly message: string }),
    createdAt: timestamp(row.created_ms),
  }
}

function dateJson({ plannedDate, executionDate }: Occurrence) {
  return { plannedDate, executionDate }
}

/**
 * Lists the past occurrences of a schedule, newest first, and the foreseeable next ones; null when the schedule is not
 * the tenant's.
 */
export async function listOccurrences(database: Database, db: ReadDatabase, query: OccurrenceListQuery) {
  const schedule = await findSchedule(database, query.tenant, query.scheduledPaymentId)
  if (schedule === null) return null
  const { rows, ...page } = await readPage<OccurrenceColumns>(
    db,
    [
      {
        columns: sql.raw(OCCURRENCE_COLUMNS),
        from: sql`scheduled_occurrence o`,
        where: [sql`o.scheduled_payment_id = ${schedule.id}::uuid`],
        order: { keys: [{ expression: sql`o.number`, type: 'bigint' }], descending: true },
      },
    ],
    query,
  )
  const { status, series, next, maxOccurrences, occurrencesBegun } = schedule.state
  const left = maxOccurrences === null ? UPCOMING_MAX : Math.min(UPCOMING_MAX, maxOccurrences - occurrencesBegun)
  // A paused schedule continues at an unknown time, so it has no foreseeable occurrences.
  const upcoming = status === 'active' ? foreseeable(series, next, left, schedule.rail, schedule.calendar) : []
  return { page: { ...page, rows: rows.map(occurrenceJson) }, upcoming: upcoming.map(dateJson) }
}

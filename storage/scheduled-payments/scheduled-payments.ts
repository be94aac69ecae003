/**
 * Rows of scheduled payments as they are created and changed. Statements only; rules are in lib/scheduled-payments.
 * Locks are taken in one order: recipients, then schedules by id, then balances and payments.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { CalendarTerms } from '../../lib/rails/business-days.ts'
import type { ScheduleState } from '../../lib/scheduled-payments/schedule.ts'
import { CALENDAR_OF_CONNECTION } from '../providers/connection-calendars.ts'
import {
  SCHEDULE_COLUMNS,
  scheduleRecord,
  type ScheduleColumns,
  type ScheduleRecord,
} from './scheduled-payment-queries.ts'
import type { TransactionClient } from '../db/transaction.ts'
import type { BalanceStatus } from '../../lib/balances/closing.ts'
import type { RecipientStatus } from '../../lib/recipients/review.ts'

const at = (time: number | null): string | null => (time === null ? null : timestamp(time))

/** Serialises changes of one customer's schedules that must be unique or bounded, until the transaction ends. */
export async function lockSchedulesOf(client: TransactionClient, customerId: string): Promise<void> {
  await client.query({
    name: 'lock_schedules',
    text: `select pg_advisory_xact_lock(hashtextextended('scheduled payments of ' || $1::text, 0))`,
    values: [customerId],
  })
}

/** Whether a customer has at least this many schedules that are not over. */
export async function hasSchedules(client: TransactionClient, customerId: string, count: number): Promise<boolean> {
  const { rows } = await client.query({
    name: 'has_schedules',
    text: `select from scheduled_payment where customer_id = $1 and status in ('active', 'paused') offset $2 limit 1`,
    values: [customerId, count - 1],
  })
  return rows.length > 0
}

/** Finds the schedule that has an external id already; null when none has. */
export async function scheduleWithExternalId(
  client: TransactionClient,
  customerId: string,
  externalId: string,
): Promise<string | null> {
  const { rows } = await client.query<{ id: string }>({
    name: 'schedule_with_external_id',
    text: 'select id from scheduled_payment where customer_id = $1 and external_id = $2',
    values: [customerId, externalId],
  })
  return rows[0]?.id ?? null
}

/** Reads the facts about a balance that decisions on its payments need; null when the balance is not the customer's. */
export async function scheduleBalance(
  client: TransactionClient,
  customerId: string,
  id: string,
): Promise<{
  readonly currency: string
  readonly status: BalanceStatus
  readonly operatorId: string
  readonly shard: number
  readonly calendar: CalendarTerms | null
} | null> {
  const {
    rows: [row],
  } = await client.query<{
    currency: string
    status: BalanceStatus
    operator_id: string
    shard: number
    calendar: CalendarTerms | null
  }>({
    name: 'schedule_balance',
    values: [id, customerId],
    text: `select b.currency, b.status, b.operator_id, b.shard, (select ${CALENDAR_OF_CONNECTION} from provider_connection k where k.id = b.connection_id) as calendar
      from balance b where b.id = $1 and b.customer_id = $2`,
  })
  return row === undefined
    ? null
    : {
        currency: row.currency,
        status: row.status,
        operatorId: row.operator_id,
        shard: row.shard,
        calendar: row.calendar,
      }
}

/** Locks a customer's recipient until the transaction ends and reads its status; null when it does not exist. */
export async function holdRecipient(
  client: TransactionClient,
  customerId: string,
  id: string,
): Promise<RecipientStatus | null> {
  const {
    rows: [row],
  } = await client.query<{ status: RecipientStatus }>({
    name: 'schedule_recipient',
    text: `select status from recipient where id = $1 and customer_id = $2 and status <> 'deleted' for share`,
    values: [id, customerId],
  })
  return row?.status ?? null
}

/** The changeable columns, in the order of `movingValues`. */
const MOVING = [
  'external_id',
  'amount',
  'requested_rail',
  'rail',
  'reference',
  'purpose_code',
  'end_date',
  'max_occurrences',
  'metadata',
  'status',
  'next_index',
  'next_planned_date',
  'next_execution_date',
  'next_occurrence_at',
  'occurrences_begun',
  'occurrences_created',
  'consecutive_failures',
  'last_payment_id',
  'paused_at',
  'editors',
  'amount_set_by',
] as const

function movingValues({
  externalId,
  amount,
  requestedRail,
  rail,
  reference,
  purposeCode,
  metadata,
  lastPaymentId,
  editors,
  amountSetBy,
  state,
}: ScheduleRecord): unknown[] {
  const {
    series,
    maxOccurrences,
    status,
    next,
    nextOccurrenceAt,
    occurrencesBegun,
    occurrencesCreated,
    consecutiveFailures,
    pausedAt,
  } = state
  return [
    externalId,
    amount,
    requestedRail,
    rail,
    reference,
    purposeCode,
    series.endDate,
    maxOccurrences,
    JSON.stringify(metadata),
    status,
    next?.index ?? null,
    next?.plannedDate ?? null,
    next?.executionDate ?? null,
    at(nextOccurrenceAt),
    occurrencesBegun,
    occurrencesCreated,
    consecutiveFailures,
    lastPaymentId,
    at(pausedAt),
    JSON.stringify(editors),
    amountSetBy,
  ]
}

const FIXED = [
  'id',
  'customer_id',
  'operator_id',
  'shard',
  'number',
  'recipient_id',
  'source_balance_id',
  'currency',
  'charge_bearer',
  'frequency',
  'start_date',
  'day_policy',
  'last_day_of_month',
  'created_by',
  'created_by_name',
  'created_at',
  'updated_at',
] as const

export async function insertSchedule(client: TransactionClient, record: ScheduleRecord): Promise<void> {
  const { series } = record.state
  const columns = [...FIXED, ...MOVING]
  await client.query({
    name: 'insert_schedule',
    text: `insert into scheduled_payment (${columns.join(', ')}) values (${columns.map((_, index) => `$${index + 1}`).join(', ')})`,
    values: [
      record.id,
      record.customerId,
      record.operatorId,
      record.shard,
      record.number,
      record.recipientId,
      record.sourceBalanceId,
      record.currency,
      record.chargeBearer,
      series.frequency,
      series.startDate,
      series.dayPolicy,
      series.lastDayOfMonth,
      record.createdBy,
      record.createdByName,
      timestamp(record.createdAt),
      timestamp(record.updatedAt),
      ...movingValues(record),
    ],
  })
}

/** Writes a locked schedule as its next version. */
export async function updateSchedule(client: TransactionClient, record: ScheduleRecord, now: number): Promise<void> {
  const { rowCount } = await client.query({
    name: 'update_schedule',
    text: `update scheduled_payment set updated_at = $3, version = version + 1, ${MOVING.map((name, index) => `${name} = $${index + 4}`).join(', ')} where id = $1 and version = $2`,
    values: [record.id, record.version, timestamp(now), ...movingValues(record)],
  })
  if (rowCount !== 1) throw new Error(`The scheduled payment ${record.id} was written without its lock.`)
}

/** Locks a schedule until the transaction ends; null when it does not exist. */
export async function lockSchedule(client: TransactionClient, id: string): Promise<ScheduleRecord | null> {
  const {
    rows: [row],
  } = await client.query<ScheduleColumns>({
    name: 'lock_schedule',
    text: `select ${SCHEDULE_COLUMNS} from scheduled_payment s where s.id = $1 for update`,
    values: [id],
  })
  return row === undefined ? null : scheduleRecord(row)
}

/** Locks the schedules to a recipient that are not over, until the transaction ends. */
export async function lockSchedulesTo(
  client: TransactionClient,
  recipientId: string,
): Promise<readonly ScheduleRecord[]> {
  const { rows } = await client.query<ScheduleColumns>({
    name: 'lock_schedules_to',
    text: `select ${SCHEDULE_COLUMNS} from scheduled_payment s where s.recipient_id = $1 and s.status in ('active', 'paused') order by s.id for update`,
    values: [recipientId],
  })
  return rows.map(scheduleRecord)
}

/** Locks the active and paused schedules of a customer, in the order of their ids. */
export async function lockSchedulesOfCustomer(
  client: TransactionClient,
  customerId: string,
): Promise<readonly ScheduleRecord[]> {
  const { rows } = await client.query<ScheduleColumns>({
    name: 'lock_schedules_of_customer',
    text: `select ${SCHEDULE_COLUMNS} from scheduled_payment s where s.customer_id = $1 and s.status in ('active', 'paused') order by s.id for update`,
    values: [customerId],
  })
  return rows.map(scheduleRecord)
}

/** Finds the first schedules to a recipient that are not over. */
export async function schedulesTo(
  client: TransactionClient,
  recipientId: string,
  max: number,
): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>({
    name: 'schedules_to',
    text: `select id from scheduled_payment where recipient_id = $1 and status in ('active', 'paused') order by id limit $2`,
    values: [recipientId, max],
  })
  return rows.map(({ id }) => id)
}

/** Returns a schedule with another state. */
export const withState = (record: ScheduleRecord, state: ScheduleState): ScheduleRecord => ({ ...record, state })

/**
 * Occurrences of scheduled payments: each is begun once, and ends with a payment or without one.
 *
 * Written by hand: occurrences of many customers are taken and ended at once, together with payments.
 */
import { MINUTE_MS, dateIn, timestamp } from '../../lib/base/clock.ts'
import { occurrenceKey } from '../../lib/scheduled-payments/key.ts'
import type { Occurrence } from '../../lib/scheduled-payments/occurrences.ts'
import type { MadeOutcome, PaymentOutcome } from '../../lib/scheduled-payments/schedule.ts'
import type { ScheduleRecord } from './scheduled-payment-queries.ts'
import { plainArrayOrNull } from '../db/array-literal.ts'
import type { Queries, TransactionClient } from '../db/transaction.ts'

const DUE_SCHEDULES = `select s.id from scheduled_payment s where s.status = 'active' and s.next_occurrence_at <= $1::timestamptz
  and ($2::smallint[] is null or s.shard = any($2))
  and not exists (select from scheduled_occurrence o where o.scheduled_payment_id = s.id and o.status = 'due') order by s.next_occurrence_at limit $3`

const ABANDONED_OCCURRENCES = `select scheduled_payment_id from scheduled_occurrence where status = 'due' and taken_at <= $1::timestamptz
  and ($2::smallint[] is null or shard = any($2)) order by taken_at limit $3`

/**
 * Reads the active schedules of these shards (null: all) that are due at `now` (epoch milliseconds), the longest due
 * first, `max` at most, as ids.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function dueSchedules(
  database: Queries,
  { now, owned, max }: { readonly now: number; readonly owned: readonly number[] | null; readonly max: number },
): Promise<readonly string[]> {
  const due = await database.query<[string]>({
    name: 'due_schedules',
    text: DUE_SCHEDULES,
    values: [timestamp(now), plainArrayOrNull(owned), max],
  })
  return due.map(([id]) => id)
}

/**
 * Reads the schedules of these shards (null: all) with an occurrence that a node took up before `takenBefore` (epoch
 * milliseconds) and that is still due, because the node died; the longest taken first, `max` at most, as ids.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function schedulesWithAbandonedOccurrences(
  database: Queries,
  {
    takenBefore,
    owned,
    max,
  }: { readonly takenBefore: number; readonly owned: readonly number[] | null; readonly max: number },
): Promise<readonly string[]> {
  const left = await database.query<[string]>({
    name: 'abandoned_occurrences',
    text: ABANDONED_OCCURRENCES,
    values: [timestamp(takenBefore), plainArrayOrNull(owned), max],
  })
  return left.map(([id]) => id)
}

/** An occurrence that is being made. */
export interface DueOccurrence extends Occurrence {
  readonly paymentId: string
  /** The number of the occurrence, from 1. */
  readonly number: number
  /** Epoch milliseconds. */
  readonly takenAt: number
}

interface DueColumns {
  readonly payment_id: string
  readonly number: number
  readonly index: number
  readonly planned_day: string
  readonly execution_day: string
  readonly taken_ms: number
}

/** Reads the occurrence that a locked schedule is making; null when there is none. */
export async function dueOccurrence(client: TransactionClient, scheduleId: string): Promise<DueOccurrence | null> {
  const {
    rows: [row],
  } = await client.query<DueColumns>({
    name: 'due_occurrence',
    text: `select payment_id, number, index, planned_date::text as planned_day, execution_date::text as execution_day, (extract(epoch from taken_at) * 1000)::float8 as taken_ms
      from scheduled_occurrence where scheduled_payment_id = $1 and status = 'due'`,
    values: [scheduleId],
  })
  return row === undefined
    ? null
    : {
        paymentId: row.payment_id,
        number: row.number,
        index: row.index,
        plannedDate: row.planned_day,
        executionDate: row.execution_day,
        takenAt: row.taken_ms,
      }
}

/** Takes the next occurrence of a locked schedule. */
export async function insertOccurrence(
  client: TransactionClient,
  { id, customerId, shard }: Pick<ScheduleRecord, 'id' | 'customerId' | 'shard'>,
  due: DueOccurrence,
): Promise<void> {
  await client.query({
    name: 'insert_occurrence',
    text: `insert into scheduled_occurrence (payment_id, scheduled_payment_id, customer_id, shard, number, index, planned_date, execution_date, status, taken_at, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, 'due', $9, $9)`,
    values: [
      due.paymentId,
      id,
      customerId,
      shard,
      due.number,
      due.index,
      due.plannedDate,
      due.executionDate,
      timestamp(due.takenAt),
    ],
  })
}

/**
 * The recorded answer for the key of an occurrence that was given up; a later request for its payment gets this answer.
 */
export const GIVEN_UP = 'schedule-stopped'
const GIVEN_UP_ANSWER = {
  status: 409,
  answer: JSON.stringify({ code: GIVEN_UP, message: 'The schedule was stopped.' }),
}
/** Milliseconds after midnight during which a decision under way may still carry the date of the day before. */
const MIDNIGHT_MS = 5 * MINUTE_MS

/**
 * Ends the occurrence that a locked schedule is making at this moment: its payment exists by now, or can never be made.
 * A late request, for instance from a node that was delayed, finds the idempotency key used.
 */
export async function giveUpDue(client: TransactionClient, id: string, now: number): Promise<void> {
  const due = await dueOccurrence(client, id)
  if (due !== null) await giveUpOccurrence(client, id, due, now)
}

/**
 * Gives up an occurrence of a locked schedule whose payment failed to be made. @returns false when its payment exists
 * after all
 */
export async function giveUpOccurrence(
  client: TransactionClient,
  scheduleId: string,
  { number, paymentId, takenAt }: Pick<DueOccurrence, 'number' | 'paymentId' | 'takenAt'>,
  now: number,
): Promise<boolean> {
  const { id: key, fingerprint } = occurrenceKey(scheduleId, number)
  const days = [takenAt, takenAt + MIDNIGHT_MS, now - MIDNIGHT_MS, now].map((time) => dateIn(time, 'UTC'))
  await client.query({
    name: 'give_up_occurrence',
    values: [key, [...new Set(days)], fingerprint, GIVEN_UP_ANSWER.status, GIVEN_UP_ANSWER.answer, timestamp(now)],
    // A key that another transaction is writing at this moment is waited for, and then conflicts.
    text: `insert into idempotency (id, day, fingerprint, status, resource_id, answer, created_at) select $1, d.day, $3, $4, null, $5, $6 from unnest($2::date[]) as d (day) on conflict do nothing`,
  })
  const { rowCount } = await client.query({
    name: 'payment_of_occurrence',
    text: 'select from payment where id = $1',
    values: [paymentId],
  })
  return rowCount === 0
}

/** Takes an occurrence again that another node has abandoned. */
export async function retakeOccurrence(client: TransactionClient, paymentId: string, now: number): Promise<void> {
  await client.query({
    name: 'retake_occurrence',
    text: 'update scheduled_occurrence set taken_at = $2 where payment_id = $1',
    values: [paymentId, timestamp(now)],
  })
}

/** Ends the making of an occurrence. @returns false when it has ended before */
export async function endOccurrence(
  client: TransactionClient,
  paymentId: string,
  end: { readonly status: MadeOutcome; readonly refusal: object | null },
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'end_occurrence',
    text: `update scheduled_occurrence set status = $2, refusal = $3 where payment_id = $1 and status = 'due'`,
    values: [paymentId, end.status, end.refusal === null ? null : JSON.stringify(end.refusal)],
  })
  return rowCount === 1
}

/** Records the outcome of an occurrence's payment. @returns false when the outcome is recorded already */
export async function noteOutcome(
  client: TransactionClient,
  paymentId: string,
  outcome: PaymentOutcome,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'note_occurrence_outcome',
    text: 'update scheduled_occurrence set outcome = $2 where payment_id = $1 and outcome is null',
    values: [paymentId, outcome],
  })
  return rowCount === 1
}

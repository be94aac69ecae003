/**
 * The rows of a run: taken, paid or failed, left, and followed after their approval has ended.
 *
 * Written by hand: a statement changes hundreds of the up to 100 000 rows of a file.
 */
import { MINUTE_MS, dateIn, timestamp } from '../../lib/base/clock.ts'
import type { RowFailure, RowStatus } from '../../lib/bulk-payments/bulk-payment.ts'
import type { BulkInstruction, RowFault } from '../../lib/bulk-payments/instruction.ts'
import type { PolicyTerms } from '../../lib/approvals/policy.ts'
import type { PolicyTotal } from '../../lib/bulk-payments/approval.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { IS_OWN_ACCOUNT } from '../accounts/account-details.ts'
import { BULK_COLUMNS, bulkRecord, type BulkColumns, type BulkRecord } from './bulk-payments.ts'
import type { Database } from '../db/database.ts'
import { REVIEWED_DIGEST } from '../recipients/recipient-cache.ts'
import type { TransactionClient } from '../db/transaction.ts'

/** SQL: whether what a row `r` asks for exists: a payment, or a mandate or collection under the id that the row gave it. */
const MADE = `(exists (select from payment p where p.id = r.payment_id) or exists (select from mandate m where m.id = r.payment_id)
  or exists (select from collection c where c.id = r.payment_id))`

/** A row whose payment is to be made. */
export interface RowToSubmit {
  readonly rowNumber: number
  readonly id: string
  readonly instruction: BulkInstruction
  readonly recipientId: string
  readonly sourceBalanceId: string
  readonly reference: string
  /** The id of its payment, whether or not the payment exists yet. */
  readonly paymentId: string
  /** An earlier run has already made this payment, but did not record it. */
  readonly paid: boolean
}

interface TakenColumns {
  readonly row_number: number
  readonly id: string
  readonly instruction: string
  readonly recipient_id: string
  readonly source_balance_id: string
  readonly reference: string
  readonly payment_id: string
  readonly was: RowStatus
  readonly paid: boolean
}

/**
 * Takes the next rows of a run from a number on: rows left by an earlier run, and valid ones, each with the id of its
 * payment. `taken` is the number of rows that were valid until now.
 */
export async function takeRows(
  client: TransactionClient,
  {
    bulkPaymentId,
    from,
    max,
    ids,
    now,
  }: {
    readonly bulkPaymentId: string
    readonly from: number
    readonly max: number
    readonly ids: IdSource
    readonly now: number
  },
): Promise<{ readonly rows: readonly RowToSubmit[]; readonly taken: number }> {
  const { rows } = await client.query<TakenColumns>({
    name: 'bulk_rows_take',
    values: [bulkPaymentId, from, max, Array.from({ length: max }, () => ids.next()), timestamp(now)],
    text: `with next as materialized (
        select row_number, status, row_number() over (order by row_number) as nth from (
          select row_number, status from bulk_payment_row where bulk_payment_id = $1 and row_number >= $2 and status in ('valid', 'submitting') order by row_number limit $3) n)
      update bulk_payment_row r set status = 'submitting', payment_id = coalesce(r.payment_id, ($4::uuid[])[next.nth]), updated_at = $5
      from next where r.bulk_payment_id = $1 and r.row_number = next.row_number
      returning r.row_number, r.id, r.instruction, r.recipient_id, r.source_balance_id, r.reference, r.payment_id, next.status as was,
        next.status = 'submitting' and ${MADE} as paid`,
  })
  return {
    taken: rows.filter(({ was }) => was === 'valid').length,
    rows: rows
      .map((row) => ({
        rowNumber: row.row_number,
        id: row.id,
        instruction: JSON.parse(row.instruction) as BulkInstruction,
        recipientId: row.recipient_id,
        sourceBalanceId: row.source_balance_id,
        reference: row.reference,
        paymentId: row.payment_id,
        paid: row.paid,
      }))
      .sort((left, right) => left.rowNumber - right.rowNumber),
  }
}

/**
 * Reads the ids of users and keys that changed the account, name or address of a file's payees since a time, epoch
 * milliseconds.
 */
export async function editorsOfPayees(
  client: TransactionClient,
  bulkPaymentId: string,
  since: number,
): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>({
    name: 'bulk_editors_of_payees',
    values: [bulkPaymentId, since],
    text: `select distinct e->>'id' as id from bulk_payment_row r join recipient c on c.id = r.recipient_id cross join lateral jsonb_array_elements(c.editors) e
      where r.bulk_payment_id = $1 and (e->>'at')::float8 >= $2`,
  })
  return rows.map(({ id }) => id)
}

/** The result of a row. Without a failure its payment exists. */
export interface RowEnd {
  readonly rowNumber: number
  readonly failure: RowFailure | null
  readonly errors: readonly RowFault[]
}

/** Ends rows that are being submitted. @returns the numbers of rows that became payments and of rows that failed */
export async function endRows(
  client: TransactionClient,
  bulkPaymentId: string,
  ends: readonly RowEnd[],
  now: number,
): Promise<{ readonly submitted: number; readonly failed: number }> {
  const { rows } = await client.query<{ status: RowStatus }>({
    name: 'bulk_rows_end',
    values: [
      bulkPaymentId,
      ends.map(({ rowNumber }) => rowNumber),
      ends.map(({ failure }) => failure),
      ends.map(({ errors }) => JSON.stringify(errors)),
      ends.map(({ errors }) => [...new Set(errors.map(({ code }) => code))].join(' ')),
      timestamp(now),
    ],
    text: `update bulk_payment_row r set status = case when v.failure is null then 'submitted' else 'failed' end, failure_code = v.failure,
        errors = case when v.failure is null then r.errors else v.errors end,
        error_codes = case when v.failure is null then r.error_codes else string_to_array(v.codes, ' ') end,
        payment_id = case when v.failure is null then r.payment_id end, updated_at = $6
      from unnest($2::int[], $3::text[], $4::text[], $5::text[]) as v (row_number, failure, errors, codes)
      where r.bulk_payment_id = $1 and r.row_number = v.row_number and r.status = 'submitting' returning r.status`,
  })
  const submitted = rows.filter(({ status }) => status === 'submitted').length
  return { submitted, failed: rows.length - submitted }
}

/**
 * Rows that a run has left: valid ones; and of the rows under way, those whose payment was made before the run ended
 * (`paid`) and the others (`unpaid`).
 */
export interface RowsLeft {
  readonly valid: number
  readonly paid: number
  readonly unpaid: number
}

/** The recorded answer for the key of a row that was given up; a later request for its payment gets this answer. */
const GIVEN_UP = { status: 409, answer: '{"code":"invalid-transition"}' }
/** Milliseconds after midnight during which a decision under way may still carry the date of the day before. */
const MIDNIGHT_MS = 5 * MINUTE_MS

/**
 * Ends all rows that a run has left: rows whose payment exists as submitted, all others as failed. From then on no
 * payment for these rows can be made: a late request, for instance from a node that was delayed, finds its idempotency
 * key used.
 */
export async function endRowsLeft(
  client: TransactionClient,
  bulkPaymentId: string,
  failure: RowFailure,
  now: number,
): Promise<RowsLeft> {
  const days = [...new Set([dateIn(now, 'UTC'), dateIn(now - MIDNIGHT_MS, 'UTC')])]
  await client.query({
    name: 'bulk_rows_close',
    values: [bulkPaymentId, days, GIVEN_UP.status, GIVEN_UP.answer, timestamp(now)],
    // A key that another transaction is writing at this moment is waited for, and then conflicts.
    text: `insert into idempotency (id, day, fingerprint, status, resource_id, answer, created_at)
      select r.id, d.day, r.id, $3, null, $4, $5 from bulk_payment_row r cross join unnest($2::date[]) as d (day)
      where r.bulk_payment_id = $1 and r.status = 'submitting' on conflict do nothing`,
  })
  const { rows } = await client.query<{ was: RowStatus; paid: boolean; count: string }>({
    name: 'bulk_rows_fail',
    values: [bulkPaymentId, failure, timestamp(now)],
    text: `with gone as materialized (
        select r.row_number, r.status, r.status = 'submitting' and ${MADE} as paid from bulk_payment_row r
        where r.bulk_payment_id = $1 and r.status in ('valid', 'submitting') for update of r),
      ended as (
        update bulk_payment_row r set status = case when gone.paid then 'submitted' else 'failed' end, failure_code = case when gone.paid then null else $2 end,
          payment_id = case when gone.paid then r.payment_id end, updated_at = $3
        from gone where r.bulk_payment_id = $1 and r.row_number = gone.row_number)
      select status as was, paid, count(*) from gone group by 1, 2`,
  })
  const of = (status: RowStatus, paid: boolean): number =>
    Number(rows.find((row) => row.was === status && row.paid === paid)?.count ?? 0)
  return { valid: of('valid', false), paid: of('submitting', true), unpaid: of('submitting', false) }
}

/**
 * Leases due bulk payments until `until`, when another node may take them; `shards` is an array literal, null for all.
 */
export async function claimDueBulks(
  database: Database,
  {
    now,
    until,
    shards,
    max,
  }: { readonly now: number; readonly until: number; readonly shards: string | null; readonly max: number },
): Promise<readonly BulkRecord[]> {
  const { rows } = await database.pool.query<BulkColumns>({
    name: 'bulks_due',
    values: [timestamp(now), timestamp(until), shards, max],
    text: `with due as materialized (
        select id from bulk_payment where due_at <= $1 and ($3::smallint[] is null or shard = any($3::smallint[])) order by due_at limit $4 for update skip locked)
      update bulk_payment b set due_at = $2 from due where b.id = due.id returning ${BULK_COLUMNS}`,
  })
  return rows.map(bulkRecord)
}

/** Sets when a bulk payment is due next. */
export async function wakeBulk(
  client: Pick<TransactionClient, 'query'>,
  id: string,
  dueAt: number | null,
): Promise<void> {
  await client.query({
    name: 'bulk_wake',
    text: 'update bulk_payment set due_at = $2 where id = $1',
    values: [id, dueAt === null ? null : timestamp(dueAt)],
  })
}

/** Reads the next payments of a bulk payment that wait for its approval, after the row that was followed last. */
export async function waitingPayments(
  client: TransactionClient,
  bulkPaymentId: string,
  max: number,
): Promise<readonly { readonly rowNumber: number; readonly paymentId: string }[]> {
  const { rows } = await client.query<{ row_number: number; payment_id: string }>({
    name: 'bulk_waiting_payments',
    values: [bulkPaymentId, max],
    text: `select r.row_number, r.payment_id from bulk_payment_row r join payment p on p.id = r.payment_id
      where r.bulk_payment_id = $1 and r.row_number > (select decided_rows from bulk_payment where id = $1) and p.status = 'pending_approval' order by r.row_number limit $2`,
  })
  return rows.map(({ row_number: rowNumber, payment_id: paymentId }) => ({ rowNumber, paymentId }))
}

/** Records that the payments of rows up to this one have followed their approval, and when the next rows are due. */
export async function noteDecided(
  client: TransactionClient,
  bulkPaymentId: string,
  rowNumber: number,
  dueAt: number,
): Promise<void> {
  await client.query({
    name: 'bulk_decided_rows',
    text: 'update bulk_payment set decided_rows = greatest(decided_rows, $2), due_at = $3 where id = $1',
    values: [bulkPaymentId, rowNumber, timestamp(dueAt)],
  })
}

/** Selects the payments whose recipient is unchanged since they were made. */
export async function unchangedPayees(
  client: TransactionClient,
  paymentIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ id: string }>({
    name: 'unchanged_payees',
    values: [paymentIds],
    text: `select p.id from payment p join recipient r on r.id = p.recipient_id
      where p.id = any($1::uuid[]) and r.status = 'active' and ${REVIEWED_DIGEST} = p.details::jsonb->>'recipientDigest'`,
  })
  return new Set(rows.map(({ id }) => id))
}

/** Finds the payments to a recipient that wait for the approval of a bulk payment. */
export async function batchPaymentsTo(
  client: Pick<TransactionClient, 'query'>,
  customerId: string,
  recipientId: string,
): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>({
    name: 'batch_payments_to',
    values: [customerId, recipientId],
    text: `select p.id from approval a join bulk_payment_row r on r.bulk_payment_id = a.subject_id and r.recipient_id = $2 join payment p on p.id = r.payment_id
      where a.customer_id = $1 and a.subject_type = 'bulk_payment' and a.status = 'pending' and p.status = 'pending_approval' order by p.id`,
  })
  return rows.map(({ id }) => id)
}

/** Serialises the submissions of an operator until the transaction ends. @returns how many run now */
export async function countSubmissions(client: TransactionClient, operatorId: string): Promise<number> {
  await client.query({
    name: 'bulk_lock_submissions',
    text: `select pg_advisory_xact_lock(hashtextextended('bulk submissions of ' || $1::text, 0))`,
    values: [operatorId],
  })
  const {
    rows: [row],
  } = await client.query<{ count: string }>({
    name: 'bulk_count_submissions',
    text: `select count(*) from bulk_payment where operator_id = $1 and status = 'submitting'`,
    values: [operatorId],
  })
  return Number(row?.count ?? 0)
}

/**
 * Sums the valid rows to which a policy applies, by currency; `connectionId` is a connection whose market can compare
 * the currencies.
 */
export async function totalsUnder(
  client: TransactionClient,
  bulkPaymentId: string,
  { appliesTo, exemptOwnAccounts }: Pick<PolicyTerms, 'appliesTo' | 'exemptOwnAccounts'>,
): Promise<{ readonly totals: readonly PolicyTotal[]; readonly connectionId: string | null }> {
  const { rows } = await client.query<{ currency: string; amount: string; connection_id: string }>({
    name: 'bulk_totals_under',
    values: [
      bulkPaymentId,
      appliesTo?.balanceIds ?? null,
      appliesTo?.rails ?? null,
      appliesTo?.recipientIds ?? null,
      exemptOwnAccounts,
    ],
    text: `select w.currency::text as currency, sum(w.amount)::text as amount, min(b.connection_id::text) as connection_id
      from bulk_payment_row w join recipient r on r.id = w.recipient_id join balance b on b.id = w.source_balance_id
      where w.bulk_payment_id = $1 and w.status = 'valid' and ($2::uuid[] is null or w.source_balance_id = any($2)) and ($3::text[] is null or w.rail = any($3))
        and ($4::uuid[] is null or w.recipient_id = any($4)) and not ($5 and ${IS_OWN_ACCOUNT}) group by 1 order by 1`,
  })
  return {
    totals: rows.map(({ currency, amount }) => ({ currency, amount: BigInt(amount) })),
    connectionId: rows[0]?.connection_id ?? null,
  }
}

// ── Locks of a run
// ────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Reads the job and the approval of a bulk payment without a lock; null when there is no such bulk payment. @throws
 * what the driver throws
 */
export async function readRun(
  client: TransactionClient,
  id: string,
): Promise<{ readonly jobId: string | null; readonly approvalId: string | null } | null> {
  const {
    rows: [seen],
  } = await client.query<{ job_id: string | null; approval_id: string | null }>({
    name: 'bulk_run',
    text: 'select job_id, approval_id from bulk_payment where id = $1',
    values: [id],
  })
  return seen === undefined ? null : { jobId: seen.job_id, approvalId: seen.approval_id }
}

/** Sets the savepoint before the locks of a run. @throws what the driver throws */
export async function setRunSavepoint(client: TransactionClient): Promise<void> {
  await client.query('savepoint bulk_run')
}

/** Ends the savepoint of a run: keeps the locks taken since, or gives them back. @throws what the driver throws */
export async function endRunSavepoint(
  client: TransactionClient,
  { keepLocks }: { readonly keepLocks: boolean },
): Promise<void> {
  await client.query(keepLocks ? 'release savepoint bulk_run' : 'rollback to savepoint bulk_run')
}

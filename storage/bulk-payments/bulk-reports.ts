/** Reads the data of reports on bulk payments, and records the reports that were made. */
import type { RowFailure, RowStatus } from '../../lib/bulk-payments/bulk-payment.ts'
import type { RowFault, RowWarning } from '../../lib/bulk-payments/instruction.ts'
import { transactionStatus, type StatusCounts, type Pain002Status } from '../../lib/bulk-payments/pain002.ts'
import type { ReportFormat, ReportRow } from '../../lib/bulk-payments/report.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { FailureCode } from '../../lib/rails/failure-codes.ts'
import type { PaymentStatus } from '../../lib/payments/payment.ts'
import type { Database } from '../db/database.ts'
import { inTransaction, type TransactionClient } from '../db/transaction.ts'
import type { Rail } from '../../lib/rails/rails.ts'

/** Rows per batch: some milliseconds of the event loop. */
const ROWS_AT_ONCE = 500

/**
 * Reads a text that identifies the state a report would show now: the same text while nothing in the report would
 * change.
 */
export async function reportState(database: Database, bulkPaymentId: string): Promise<string> {
  const [row] = await database.query<[string, string]>({
    name: 'bulk_report_state',
    values: [bulkPaymentId],
    text: `select b.version, (select coalesce(sum(p.version), 0) from bulk_payment_row r join payment p on p.id = r.payment_id where r.bulk_payment_id = b.id) from bulk_payment b where b.id = $1`,
  })
  return (row ?? []).join('.')
}

/** Reads the file and the state of the last report; null when there is none. */
export async function keptReport(
  database: Database,
  bulkPaymentId: string,
  format: ReportFormat,
): Promise<{ readonly fileId: string; readonly state: string } | null> {
  const [row] = await database.query<[string, string]>({
    name: 'bulk_report_kept',
    values: [bulkPaymentId, format],
    text: 'select file_id, state from bulk_payment_report where bulk_payment_id = $1 and format = $2',
  })
  return row === undefined ? null : { fileId: row[0], state: row[1] }
}

export async function keepReport(
  database: Database,
  bulkPaymentId: string,
  format: ReportFormat,
  state: string,
  fileId: string,
): Promise<void> {
  await database.query({
    name: 'bulk_report_keep',
    values: [bulkPaymentId, format, state, fileId],
    text: `insert into bulk_payment_report (bulk_payment_id, format, state, file_id) values ($1, $2, $3, $4)
      on conflict (bulk_payment_id, format) do update set state = excluded.state, file_id = excluded.file_id`,
  })
}

/** All rows as they were at one moment. */
export interface ReportSnapshot {
  readonly counts: StatusCounts
  /** The rows in their order, one batch at a time. */
  readonly batches: AsyncGenerator<ReportRow[]>
}

/** Runs `work` on a snapshot of the rows of a bulk payment. Keeps a connection for as long as `work` runs. */
export async function readReport<Result>(
  database: Database,
  bulkPaymentId: string,
  work: (snapshot: ReportSnapshot) => Promise<Result>,
): Promise<Result> {
  return await inTransaction(database, async (client) => {
    await client.query('set transaction isolation level repeatable read, read only')
    return await work({ counts: await statusCounts(client, bulkPaymentId), batches: batches(client, bulkPaymentId) })
  })
}

async function statusCounts(client: TransactionClient, bulkPaymentId: string): Promise<StatusCounts> {
  const { rows } = await client.query<{
    status: RowStatus
    failure_code: RowFailure | null
    payment_status: PaymentStatus | null
    count: string
  }>({
    name: 'bulk_report_counts',
    values: [bulkPaymentId],
    text: `select r.status, r.failure_code, p.status as payment_status, count(*) from bulk_payment_row r left join payment p on p.id = r.payment_id where r.bulk_payment_id = $1 group by 1, 2, 3`,
  })
  const counts: Partial<Record<Pain002Status, number>> = {}
  for (const { status, failure_code, payment_status, count } of rows) {
    const said = transactionStatus({
      status,
      failureCode: failure_code,
      payment: payment_status === null ? null : { status: payment_status },
    })
    counts[said] = (counts[said] ?? 0) + Number(count)
  }
  return counts
}

interface Columns {
  readonly row_number: number
  readonly line: number | null
  readonly status: RowStatus
  readonly failure_code: RowFailure | null
  readonly mandate_id: string | null
  readonly collection_id: string | null
  readonly payment_id: string | null
  readonly payment_number: string | null
  readonly payment_status: PaymentStatus | null
  readonly payment_failure: FailureCode | null
  readonly return_reason: string | null
  readonly recipient_name: string
  readonly masked_identifier: string | null
  readonly currency: CurrencyCode | null
  readonly amount: string | null
  readonly fee: string | null
  readonly fee_tax: string | null
  readonly fee_currency: CurrencyCode | null
  readonly rail: Rail | null
  readonly reference: string | null
  readonly execution_day: string | null
  readonly external_id: string | null
  readonly end_to_end_id: string | null
  readonly payment_information_id: string | null
  readonly errors: string
  readonly warnings: string
}

// A row has the id of its payment before the payment exists, so only columns of the payment itself prove that it
// exists.
const ROWS = `select r.row_number, r.line, r.status, r.failure_code, m.id as mandate_id, c.id as collection_id, p.id as payment_id, p.number as payment_number, p.status as payment_status, p.failure::json->>'code' as payment_failure,
    p.return_info::json->>'reasonCode' as return_reason, r.recipient_name, r.masked_identifier, r.currency, r.amount, coalesce(p.fee, r.fee) as fee, case when p.id is null then r.fee_tax else (p.details::json#>>'{charges,feeTax}')::bigint end as fee_tax, s.currency as fee_currency,
    coalesce(p.rail, r.rail) as rail, r.reference, coalesce(p.execution_date, r.execution_date)::text as execution_day, r.external_id, r.instruction::json->>'endToEndId' as end_to_end_id,
    r.instruction::json->>'paymentInformationId' as payment_information_id, r.errors, r.warnings
  from bulk_payment_row r left join payment p on p.id = r.payment_id left join mandate m on m.id = r.payment_id left join collection c on c.id = r.payment_id left join balance s on s.id = r.source_balance_id
  where r.bulk_payment_id = $1 and r.row_number > $2 order by r.row_number limit $3`

async function* batches(client: TransactionClient, bulkPaymentId: string): AsyncGenerator<ReportRow[]> {
  for (let last = 0; ; ) {
    const { rows } = await client.query<Columns>({
      name: 'bulk_report_rows',
      text: ROWS,
      values: [bulkPaymentId, last, ROWS_AT_ONCE],
    })
    if (rows.length > 0) yield rows.map(reportRow)
    if (rows.length < ROWS_AT_ONCE) return
    last = rows.at(-1)!.row_number
  }
}

const bigintOf = (text: string | null): bigint | null => (text === null ? null : BigInt(text))

function reportRow(row: Columns): ReportRow {
  return {
    rowNumber: row.row_number,
    line: row.line,
    status: row.status,
    failureCode: row.failure_code,
    mandateId: row.mandate_id,
    collectionId: row.collection_id,
    payment:
      row.payment_id === null
        ? null
        : {
            id: row.payment_id,
            number: row.payment_number!,
            status: row.payment_status!,
            failureCode: row.payment_failure,
            returnReason: row.return_reason,
          },
    recipientName: row.recipient_name,
    maskedIdentifier: row.masked_identifier,
    currency: row.currency,
    amount: bigintOf(row.amount),
    fee: bigintOf(row.fee),
    feeTax: bigintOf(row.fee_tax),
    feeCurrency: row.fee_currency,
    rail: row.rail,
    reference: row.reference,
    executionDate: row.execution_day,
    externalId: row.external_id,
    endToEndId: row.end_to_end_id,
    paymentInformationId: row.payment_information_id,
    errors: JSON.parse(row.errors) as RowFault[],
    warnings: JSON.parse(row.warnings) as RowWarning[],
  }
}

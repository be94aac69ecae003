/**
 * The rows of a bulk payment as its check leaves them.
 *
 * Written by hand: a statement writes hundreds of the up to 100 000 rows of a file.
 */
import { timestamp } from '../../lib/base/clock.ts'
import { addTotals, type CurrencyTotal, type RowCounts } from '../../lib/bulk-payments/bulk-payment.ts'
import type { BulkInstruction, RowFault, RowWarning } from '../../lib/bulk-payments/instruction.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { at } from './bulk-payments.ts'
import type { Rail } from '../../lib/rails/rails.ts'

/** A row with the results of its validation. */
export interface CheckedRow {
  readonly rowNumber: number
  readonly line: number | null
  readonly status: 'valid' | 'invalid'
  readonly instruction: BulkInstruction
  readonly recipientId: string | null
  readonly recipientName: string
  readonly maskedIdentifier: string | null
  readonly currency: string | null
  readonly amount: bigint | null
  readonly rail: Rail | null
  readonly reference: string | null
  readonly executionDate: string | null
  readonly sourceBalanceId: string | null
  readonly fee: bigint | null
  readonly feeTax: bigint | null
  /** Epoch milliseconds. */
  readonly estimatedArrival: number | null
  readonly errors: readonly RowFault[]
  readonly warnings: readonly RowWarning[]
}

/**
 * Writes the results of checking rows, in place of earlier results; a row keeps its id. One statement of arrays per
 * batch, so a hundred thousand rows take two hundred statements.
 */
export async function writeCheckedRows(
  client: TransactionClient,
  bulkPaymentId: string,
  rows: readonly CheckedRow[],
  ids: IdSource,
  now: number,
): Promise<void> {
  const plain = (of: (row: CheckedRow) => string | number | bigint | null): string => plainArray(rows.map(of))
  const text = (of: (row: CheckedRow) => string | null): string => textArray(rows.map(of))
  await client.query({
    name: 'bulk_rows_write',
    text: `insert into bulk_payment_row as r (bulk_payment_id, row_number, id, line, status, instruction, recipient_id, recipient_name, masked_identifier, currency, amount, rail, reference, execution_date,
        source_balance_id, fee, fee_tax, estimated_arrival, external_id, errors, error_codes, warnings, created_at, updated_at)
      select $1, v.row_number, v.id, v.line, v.status, v.instruction, v.recipient_id, v.recipient_name, v.masked_identifier, v.currency, v.amount, v.rail, v.reference, v.execution_date,
        v.source_balance_id, v.fee, v.fee_tax, v.estimated_arrival, v.external_id, v.errors, string_to_array(v.error_codes, ' '), v.warnings, $2, $2
      from unnest($3::int[], $4::uuid[], $5::int[], $6::text[], $7::text[], $8::uuid[], $9::text[], $10::text[], $11::text[], $12::bigint[], $13::text[], $14::text[], $15::date[], $16::uuid[], $17::bigint[],
        $18::bigint[], $19::timestamptz[], $20::text[], $21::text[], $22::text[], $23::text[])
        as v (row_number, id, line, status, instruction, recipient_id, recipient_name, masked_identifier, currency, amount, rail, reference, execution_date, source_balance_id, fee, fee_tax, estimated_arrival,
          external_id, errors, error_codes, warnings)
      on conflict (bulk_payment_id, row_number) do update set line = excluded.line, status = excluded.status, instruction = excluded.instruction, recipient_id = excluded.recipient_id,
        recipient_name = excluded.recipient_name, masked_identifier = excluded.masked_identifier, currency = excluded.currency, amount = excluded.amount, rail = excluded.rail, reference = excluded.reference,
        execution_date = excluded.execution_date, source_balance_id = excluded.source_balance_id, fee = excluded.fee, fee_tax = excluded.fee_tax, estimated_arrival = excluded.estimated_arrival, external_id = excluded.external_id,
        errors = excluded.errors, error_codes = excluded.error_codes, warnings = excluded.warnings, updated_at = excluded.updated_at`,
    values: [
      bulkPaymentId,
      timestamp(now),
      plain((row) => row.rowNumber),
      plain(() => ids.next()),
      plain((row) => row.line),
      plain((row) => row.status),
      text((row) => JSON.stringify(row.instruction)),
      plain((row) => row.recipientId),
      text((row) => row.recipientName),
      text((row) => row.maskedIdentifier),
      text((row) => row.currency),
      plain((row) => row.amount),
      text((row) => row.rail),
      text((row) => row.reference),
      plain((row) => row.executionDate),
      plain((row) => row.sourceBalanceId),
      plain((row) => row.fee),
      plain((row) => row.feeTax),
      plain((row) => at(row.estimatedArrival)),
      text((row) => row.instruction.externalId ?? null),
      text((row) => JSON.stringify(row.errors)),
      text((row) => [...new Set(row.errors.map(({ code }) => code))].join(' ')),
      text((row) => JSON.stringify(row.warnings)),
    ],
  })
}

/** Resets all rows to `pending`, to be checked again; earlier findings are deleted. */
export async function resetRows(client: TransactionClient, bulkPaymentId: string, now: number): Promise<void> {
  await client.query({
    name: 'bulk_rows_reset',
    values: [bulkPaymentId, timestamp(now)],
    text: `update bulk_payment_row set status = 'pending', errors = '[]', error_codes = '{}', warnings = '[]', updated_at = $2 where bulk_payment_id = $1`,
  })
}

/** Deletes the rows above a number: rows of an invalid reading, or rows that a shorter reading no longer has. */
export async function deleteRowsAbove(
  client: TransactionClient,
  bulkPaymentId: string,
  rowNumber: number,
): Promise<void> {
  await client.query({
    name: 'bulk_rows_delete',
    text: 'delete from bulk_payment_row where bulk_payment_id = $1 and row_number > $2',
    values: [bulkPaymentId, rowNumber],
  })
}

/** Adds the counts and totals of a batch's rows. */
export function countedRows(
  counts: RowCounts,
  totals: readonly CurrencyTotal[],
  rows: readonly CheckedRow[],
): { readonly counts: RowCounts; readonly totals: readonly CurrencyTotal[] } {
  const valid = rows.filter(({ status }) => status === 'valid')
  return {
    counts: {
      ...counts,
      total: counts.total + rows.length,
      valid: counts.valid + valid.length,
      invalid: counts.invalid + rows.length - valid.length,
    },
    totals: addTotals(
      totals,
      // A mandate has no amount.
      valid.flatMap(({ currency, amount, fee }) =>
        currency === null || amount === null ? [] : [{ currency, amount, fee: fee ?? 0n }],
      ),
    ),
  }
}

/** The content of the report on a bulk file, row by row, and the columns of its table. Pure. */
import type { CurrencyCode } from '../base/currency.ts'
import { failureFor, isoReasonOf, type FailureCode } from '../rails/failure-codes.ts'
import type { PaymentStatus } from '../payments/payment.ts'
import type { Cell } from '../statements/table.ts'
import type { RowFailure, RowStatus } from './bulk-payment.ts'
import type { RowFault, RowWarning } from './instruction.ts'
import type { Rail } from '../rails/rails.ts'

export const REPORT_FORMATS = ['csv', 'pain002'] as const
export type ReportFormat = (typeof REPORT_FORMATS)[number]

/** The payment made from a row, in its present state. */
export interface ReportedPayment {
  readonly id: string
  readonly number: string
  readonly status: PaymentStatus
  readonly failureCode: FailureCode | null
  /** The scheme's reason code of a payment that was returned. */
  readonly returnReason: string | null
}

export interface ReportRow {
  readonly rowNumber: number
  readonly line: number | null
  readonly status: RowStatus
  readonly failureCode: RowFailure | null
  readonly payment: ReportedPayment | null
  /** The mandate or the collection that was made from the row. */
  readonly mandateId: string | null
  readonly collectionId: string | null
  readonly recipientName: string
  readonly maskedIdentifier: string | null
  readonly currency: CurrencyCode | null
  /** Minor units. */
  readonly amount: bigint | null
  readonly fee: bigint | null
  /** The tax within the fee. */
  readonly feeTax: bigint | null
  readonly feeCurrency: CurrencyCode | null
  readonly rail: Rail | null
  readonly reference: string | null
  readonly executionDate: string | null
  readonly externalId: string | null
  readonly endToEndId: string | null
  /** The block of the pain.001 message that contains the row. */
  readonly paymentInformationId: string | null
  readonly errors: readonly RowFault[]
  readonly warnings: readonly RowWarning[]
}

/**
 * Maps the reason why a row was not paid to the failure code of a payment; null where no payment fails for that reason.
 */
function failureOfRow({ status, failureCode, payment, errors }: ReportRow): FailureCode | null {
  if (payment !== null)
    return payment.failureCode ?? (payment.returnReason === null ? null : failureFor(payment.returnReason).code)
  if (failureCode !== null) return OF_FAILURES[failureCode] ?? null
  return status === 'invalid' ? (errors.map(failureOfFault).find((code) => code !== null) ?? null) : null
}

const OF_FAILURES: Readonly<Partial<Record<RowFailure, FailureCode>>> = {
  insufficient_funds: 'insufficient_funds',
  limit_exceeded: 'amount_limit_exceeded',
  recipient_not_approved: 'account_not_eligible',
  customer_restricted: 'declined',
  customer_not_active: 'declined',
  internal_error: 'technical_error',
}

const OF_CODES: Readonly<Record<string, FailureCode>> = {
  recipient_not_found: 'account_not_found',
  recipient_not_approved: 'account_not_eligible',
  duplicate_external_id: 'duplicate',
  limit_exceeded: 'amount_limit_exceeded',
  verification_mismatch: 'name_mismatch',
  rail_unavailable: 'bank_unreachable',
  insufficient_funds: 'insufficient_funds',
}
const OF_COLUMNS: Readonly<Record<string, FailureCode>> = {
  currency: 'unsupported_currency',
  reference: 'reference_invalid',
  purpose: 'regulatory_information_missing',
  purpose_code: 'regulatory_information_missing',
  address_line1: 'regulatory_information_missing',
  address_line2: 'regulatory_information_missing',
  city: 'regulatory_information_missing',
  postal_code: 'regulatory_information_missing',
  state: 'regulatory_information_missing',
  country: 'regulatory_information_missing',
  iban: 'invalid_account_details',
  bic: 'invalid_account_details',
  account_number: 'invalid_account_details',
  sort_code: 'invalid_account_details',
  routing_number: 'invalid_account_details',
  account_type: 'invalid_account_details',
  bsb: 'invalid_account_details',
  institution_number: 'invalid_account_details',
  transit_number: 'invalid_account_details',
  bank_code: 'invalid_account_details',
  branch_code: 'invalid_account_details',
  clearing_number: 'invalid_account_details',
  ifsc: 'invalid_account_details',
  clabe: 'invalid_account_details',
  bank_country: 'invalid_account_details',
}

const failureOfFault = ({ code, column }: RowFault): FailureCode | null => OF_CODES[code] ?? OF_COLUMNS[column] ?? null

/**
 * Returns the reason why a row was not paid: a reason code of ISO 20022 where one exists, and the code of the API. Null
 * for a row without a failure.
 */
export function reasonOf(
  row: ReportRow,
): { readonly iso: string | null; readonly word: string; readonly details: readonly string[] } | null {
  const failure = failureOfRow(row)
  const { payment } = row
  const stopped =
    payment === null ? null : payment.status === 'rejected' || payment.status === 'cancelled' ? payment.status : null
  const word = row.failureCode ?? payment?.failureCode ?? stopped ?? row.errors[0]?.code ?? failure
  if (word === null || word === undefined) return null
  return { iso: failure === null ? null : isoReasonOf(failure), word, details: row.errors.map(sentence) }
}

const sentence = ({ column, message }: RowFault | RowWarning): string =>
  column === '' ? message : `${column}: ${message}`

export const REPORT_COLUMNS: readonly string[] = [
  'row_number',
  'line',
  'status',
  'payment_number',
  'payment_id',
  'payment_status',
  'failure_code',
  'recipient_name',
  'account',
  'currency',
  'amount',
  'fee',
  'fee_tax',
  'fee_currency',
  'rail',
  'reference',
  'execution_date',
  'external_id',
  'end_to_end_id',
  'errors',
  'warnings',
  'mandate_id',
  'collection_id',
]

/** Builds a row of the table, in the order of REPORT_COLUMNS. */
export function reportCells(row: ReportRow): readonly Cell[] {
  const whole = (value: number | null): Cell => (value === null ? null : { kind: 'integer', value })
  const money = (value: bigint | null, currency: CurrencyCode | null): Cell =>
    value === null || currency === null ? null : { kind: 'amount', value, currency }
  return [
    whole(row.rowNumber),
    whole(row.line),
    row.status,
    row.payment?.number ?? null,
    row.payment?.id ?? null,
    row.payment?.status ?? null,
    row.failureCode ?? row.payment?.failureCode ?? null,
    row.recipientName,
    row.maskedIdentifier,
    row.currency,
    money(row.amount, row.currency),
    money(row.fee, row.feeCurrency),
    money(row.feeTax, row.feeCurrency),
    row.feeCurrency,
    row.rail,
    row.reference,
    row.executionDate === null ? null : { kind: 'date', value: row.executionDate },
    row.externalId,
    row.endToEndId,
    row.errors.map((error) => `${error.code} (${sentence(error)})`).join('; '),
    row.warnings.map((warning) => `${warning.code} (${sentence(warning)})`).join('; '),
    row.mandateId,
    row.collectionId,
  ]
}

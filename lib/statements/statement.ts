/** The content of statements of balances, independent of the format. Pure. */
import type { CurrencyCode } from '../base/currency.ts'
import type { JournalSide } from '../ledger/journal-line.ts'
import type { TransactionType } from '../ledger/postings.ts'

export const STATEMENT_FORMATS = ['pdf', 'csv', 'xlsx', 'camt053', 'mt940'] as const
export type StatementFormat = (typeof STATEMENT_FORMATS)[number]

export const STATEMENT_KINDS = ['monthly', 'custom'] as const
export type StatementKind = (typeof STATEMENT_KINDS)[number]

export const STATEMENT_STATUSES = ['preparing', 'ready', 'failed'] as const
export type StatementStatus = (typeof STATEMENT_STATUSES)[number]

/** The holder of the balance and its account details, as they were when the statement was made. */
export interface StatementHolder {
  readonly operatorName: string
  readonly name: string
  /** Lines as on an envelope; empty when the customer has no address. */
  readonly address: readonly string[]
  readonly balanceId: string
  readonly balanceName: string
  /** Null where the balance has no IBAN of its own. */
  readonly iban: string | null
  readonly bic: string | null
  readonly accountNumber: string | null
  readonly bankName: string | null
}

/**
 * The head of a statement. Amounts are minor units, times epoch milliseconds; days are `YYYY-MM-DD` in UTC, both ends
 * included.
 */
export interface StatementHead {
  readonly id: string
  readonly kind: StatementKind
  /** Counted per balance and kind, from 1; 0 for an export of lines that is no statement. */
  readonly sequenceNumber: number
  readonly from: string
  readonly to: string
  readonly currency: CurrencyCode
  readonly opening: bigint
  readonly closing: bigint
  readonly credits: bigint
  readonly debits: bigint
  readonly creditCount: number
  readonly debitCount: number
  readonly createdAt: number
  readonly holder: StatementHolder
}

/** One line. Amounts are minor units above zero; `direction` says whether it is a debit or a credit. */
export interface StatementLine {
  readonly id: string
  readonly entryId: string
  readonly sequence: number
  readonly direction: JournalSide
  readonly amount: bigint
  /** The book balance after the line. */
  readonly running: bigint
  readonly type: TransactionType
  readonly description: string
  readonly reference: string | null
  readonly counterparty: string | null
  readonly endToEndId: string | null
  /** Epoch milliseconds. */
  readonly bookedAt: number
  readonly valueDate: string
  readonly isReversal: boolean
}

/** The largest period of a statement in days, both ends included. */
export const STATEMENT_DAYS_MAX = 366

/** The hour (UTC) of the first day of a month at which the statements of the month before are made. */
export const MONTHLY_HOUR = 6

/** Returns the amount of a line with its sign: negative for a debit. */
export function signed({ direction, amount }: Pick<StatementLine, 'direction' | 'amount'>): bigint {
  return direction === 'debit' ? -amount : amount
}

/** Returns the first and the last day of a day's month. */
export function monthOf(day: string): { readonly from: string; readonly to: string } {
  const first = Temporal.PlainDate.from(day).with({ day: 1 })
  return { from: first.toString(), to: first.with({ day: first.daysInMonth }).toString() }
}

/** Returns the time when the statements of a month are made, epoch milliseconds. `month` is any day of it. */
export function monthlyDueAt(month: string): number {
  return Temporal.PlainDate.from(month)
    .with({ day: 1 })
    .add({ months: 1 })
    .toZonedDateTime({ timeZone: 'UTC', plainTime: { hour: MONTHLY_HOUR } }).epochMilliseconds
}

/** Returns the first day of the next month. */
export function nextMonth(month: string): string {
  return Temporal.PlainDate.from(month).with({ day: 1 }).add({ months: 1 }).toString()
}

/** Makes the name of a statement's files, without the extension. Plain ASCII. */
export function statementFileName({
  from,
  to,
  currency,
  holder: { balanceId },
}: Pick<StatementHead, 'from' | 'to' | 'currency' | 'holder'>): string {
  return `statement-${currency}-${balanceId.slice(-8)}-${from}-${to}`
}

/** The file extension and the media type of each format. */
export const FORMATS: Readonly<Record<StatementFormat, { readonly ending: string; readonly contentType: string }>> = {
  pdf: { ending: 'pdf', contentType: 'application/pdf' },
  csv: { ending: 'csv', contentType: 'text/csv; charset=utf-8' },
  xlsx: { ending: 'xlsx', contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' },
  camt053: { ending: 'camt053.xml', contentType: 'application/xml' },
  mt940: { ending: 'mt940.sta', contentType: 'text/plain; charset=us-ascii' },
}

/** Statements of balances: what one says, whatever the format it is read in. Pure. */
import type { CurrencyCode } from '../base/currency.ts'
import type { JournalSide } from '../ledger/journal-line.ts'
import type { TransactionType } from '../ledger/postings.ts'

export const STATEMENT_FORMATS = ['pdf', 'csv', 'xlsx', 'camt053', 'mt940'] as const
export type StatementFormat = (typeof STATEMENT_FORMATS)[number]

export const STATEMENT_KINDS = ['monthly', 'custom'] as const
export type StatementKind = (typeof STATEMENT_KINDS)[number]

export const STATEMENT_STATUSES = ['preparing', 'ready', 'failed'] as const
export type StatementStatus = (typeof STATEMENT_STATUSES)[number]

/** Whose balance it is and how it is reached, as it was when the statement was made. */
export interface StatementHolder {
  readonly operatorName: string
  readonly name: string
  /** Lines as on an envelope; none while the customer has no address. */
  readonly address: readonly string[]
  readonly balanceId: string
  readonly balanceName: string
  /** Null where the balance has none of its own. */
  readonly iban: string | null
  readonly bic: string | null
  readonly accountNumber: string | null
  readonly bankName: string | null
}

/** The head of a statement. Amounts are minor units, times epoch milliseconds, days `YYYY-MM-DD` in UTC, both included. */
export interface StatementHead {
  readonly id: string
  readonly kind: StatementKind
  /** Per balance and kind, from 1; 0 for lines that are not a statement of their own. */
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

/** One line. Amounts are minor units, above zero; which way they went is in the direction. */
export interface StatementLine {
  readonly id: string
  readonly entryId: string
  readonly sequence: number
  readonly direction: JournalSide
  readonly amount: bigint
  /** Book balance after the line. */
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

/** A statement covers at most this many days, both ends included. */
export const STATEMENT_DAYS_MAX = 366

/** The hour of the first day of a month, in UTC, at which the statements of the month before are made. */
export const MONTHLY_HOUR = 6

/** The amount of a line as it changes the balance. */
export function signed({ direction, amount }: Pick<StatementLine, 'direction' | 'amount'>): bigint {
  return direction === 'debit' ? -amount : amount
}

/** The first and the last day of the month that a day is in. */
export function monthOf(day: string): { readonly from: string; readonly to: string } {
  const first = Temporal.PlainDate.from(day).with({ day: 1 })
  return { from: first.toString(), to: first.with({ day: first.daysInMonth }).toString() }
}

/** When the statements of a month are made, epoch milliseconds. `month` is any day of it. */
export function monthlyDueAt(month: string): number {
  return Temporal.PlainDate.from(month).with({ day: 1 }).add({ months: 1 }).toZonedDateTime({ timeZone: 'UTC', plainTime: { hour: MONTHLY_HOUR } }).epochMilliseconds
}

/** The first day of the next month. */
export function nextMonth(month: string): string {
  return Temporal.PlainDate.from(month).with({ day: 1 }).add({ months: 1 }).toString()
}

/** What its files are called, without their ending. Plain ASCII. */
export function statementFileName({ from, to, currency, holder: { balanceId } }: Pick<StatementHead, 'from' | 'to' | 'currency' | 'holder'>): string {
  return `statement-${currency}-${balanceId.slice(-8)}-${from}-${to}`
}

/** The ending and the media type of each format. */
export const FORMATS: Readonly<Record<StatementFormat, { readonly ending: string; readonly contentType: string }>> = {
  pdf: { ending: 'pdf', contentType: 'application/pdf' },
  csv: { ending: 'csv', contentType: 'text/csv; charset=utf-8' },
  xlsx: { ending: 'xlsx', contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' },
  camt053: { ending: 'camt053.xml', contentType: 'application/xml' },
  mt940: { ending: 'mt940.sta', contentType: 'text/plain; charset=us-ascii' },
}

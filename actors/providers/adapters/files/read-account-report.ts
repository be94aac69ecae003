/**
 * Reads the findings of a statement (camt.053) or notification (camt.054): orders that were paid or came back, money that came
 * in or was collected, and the bookings of the statement by our references. Pure.
 *
 * An entry of many orders is split into them: by its transactions, or, where the bank names only the block that it
 * booked as one, by the orders of the block. The parts count only when they come to the amount of the entry.
 */
import type { AccountReport, ReportEntry, ReportTransaction } from '../../../../lib/providers/iso20022/reports.ts'
import { uuidOf } from '../../../../lib/providers/iso20022/references.ts'
import type { DayBooking } from '../../../../lib/providers/files/day-statement.ts'
import type { OrderInBook } from '../partner-files.ts'
import { creditOf } from './credits.ts'
import { debitBackOf, debitOf, isReceivedDebit } from './debits.ts'
import type { Findings } from './findings.ts'

/** The return of an order without a reason. */
const NO_REASON = 'NARR'

export interface ReportScope {
  readonly connectionId: string
  /** Returns the currency of a settlement account; null for an account that is not of this connection. */
  readonly isSettlementAccount: (account: AccountReport['account'], currency: string) => boolean
}

/** A part of an entry: one transaction on the account. */
interface Part {
  readonly direction: DayBooking['direction']
  readonly amount: bigint
  readonly order: OrderInBook | null
  readonly transaction: ReportTransaction | null
}

/** Reads one report with its entries. */
export function readAccountReport(
  report: AccountReport,
  entries: readonly ReportEntry[],
  findings: Findings,
  scope: ReportScope,
): void {
  const { message, copy, id } = report
  const currency = report.currency ?? entries[0]?.currency ?? null
  if (copy === 'DUPL') {
    findings.remark(message, `The report ${id} repeats another one, so it does not count.`, false)
    return
  }
  if (currency === null || !scope.isSettlementAccount(report.account, currency)) {
    findings.remark(message, `The report ${id} is of an account that is not one of the connection.`, true)
    return
  }
  const bookings: DayBooking[] = []
  const seen = new Map<string, number>()
  for (const entry of entries) {
    if (entry.status !== 'BOOK') continue
    for (const part of partsOf(entry, message, findings)) {
      const reference = book(part, { entry, report, findings, scope, seen })
      bookings.push(bookingOf(part, entry, reference))
    }
  }
  if (message === 'camt.053') keepStatement(report, currency, bookings, findings)
}

function keepStatement(
  report: AccountReport,
  currency: string,
  bookings: readonly DayBooking[],
  findings: Findings,
): void {
  const { message, id, sequenceNumber, page, openingSigned, closingSigned, balances, to } = report
  const day = balances.find(({ code }) => code === 'CLBD')?.day ?? to?.slice(0, 10) ?? bookings.at(-1)?.bookedOn
  if (day === undefined) {
    findings.remark(message, `The statement ${id} does not tell its day.`, true)
    return
  }
  findings.statement({
    currency,
    day,
    number: sequenceNumber ?? id,
    page: page?.number ?? 1,
    isLast: page?.isLast ?? true,
    opening: openingSigned,
    closing: closingSigned,
    bookings,
  })
}

/** Splits an entry. */
function partsOf(entry: ReportEntry, message: string, findings: Findings): readonly Part[] {
  const { amount, direction, transactions, batch } = entry
  const whole: Part = { direction, amount, order: null, transaction: null }
  if (transactions.length === 0) {
    const named = uuidOf(entry.entryRef ?? '')
    if (named !== null && batch === null)
      return [{ ...whole, order: findings.find({ reference: named, uetr: null, endToEndId: null }) }]
    const orders = batchOf(entry, findings)
    if (orders === null) {
      findings.remark(
        `${message} ${direction}`,
        `An entry of ${amount} (minor units) for the block ${batch?.blockId ?? batch?.messageId} is not the sum of its orders.`,
        true,
      )
      return [whole]
    }
    return orders.length === 0
      ? [whole]
      : orders.map((order) => ({ direction, amount: order.amount, order, transaction: null }))
  }
  const parts = transactions.map((transaction): Part | null => {
    const order = orderOf(transaction, findings)
    const own = transaction.amount ?? (transactions.length === 1 ? amount : (order?.amount ?? null))
    return own === null ? null : { direction: transaction.direction, amount: own, order, transaction }
  })
  const known = parts.filter((part) => part !== null)
  const sum = known.reduce((total, part) => total + (part.direction === direction ? part.amount : -part.amount), 0n)
  if (known.length === transactions.length && sum === amount) return known
  findings.remark(
    `${message} ${direction}`,
    `An entry of ${amount} (minor units) is not the sum of its ${transactions.length} transactions.`,
    true,
  )
  return [whole]
}

/**
 * Finds the orders that were booked as one: those that the bank has not rejected, or else all of them. Empty where the
 * entry names none of ours; null where they do not come to its amount.
 */
function batchOf({ batch, amount, direction }: ReportEntry, { orders }: Findings): readonly OrderInBook[] | null {
  if (batch === null || (batch.blockId === null && batch.messageId === null)) return []
  const named = orders.filter(
    (order) =>
      settles(order, direction) &&
      (batch.blockId === null ? order.messageId === batch.messageId : order.blockId === batch.blockId),
  )
  if (named.length === 0) return []
  const taken = named.filter(({ status }) => status !== 'rejected')
  return [taken, named].find((some) => some.reduce((sum, order) => sum + order.amount, 0n) === amount) ?? null
}

/** Whether a booking of a direction carries an order out; the other one takes it back. */
const settles = ({ isCollection }: Pick<OrderInBook, 'isCollection'>, direction: Part['direction']): boolean =>
  isCollection === (direction === 'CRDT')

function orderOf(
  { reference, references: { uetr, endToEndId }, amount, direction }: ReportTransaction,
  findings: Findings,
): OrderInBook | null {
  // A return may be of less than the order.
  const fits = (order: OrderInBook): boolean => !settles(order, direction) || amount === null || order.amount === amount
  return findings.find({ reference, uetr, endToEndId }, findings.orders, fits)
}

/** Notes what a part comes to. @returns our reference of it; null where it has none */
function book(
  part: Part,
  {
    entry,
    report,
    findings,
    scope,
    seen,
  }: {
    readonly entry: ReportEntry
    readonly report: AccountReport
    readonly findings: Findings
    readonly scope: ReportScope
    readonly seen: Map<string, number>
  },
): string | null {
  const { order, direction, amount, transaction } = part
  const type = `${report.message} ${direction}`
  if (order !== null) {
    const bankRef = transaction?.references.bankRef ?? entry.bankRef
    const isReturn = !settles(order, direction)
    const schemeCode = isReturn ? (transaction?.returned?.reason.code ?? NO_REASON) : null
    findings.told(order, {
      type,
      by: 'booking',
      status: isReturn ? 'returned' : 'settled',
      amount,
      schemeCode,
      bankRef,
      bookedOn: (entry.bookedOn ?? entry.valueDate)?.slice(0, 10) ?? null,
    })
    return order.reference
  }
  const booking = { entry, transaction, amount }
  const within = { ...scope, account: report.account, seen }
  if (isReceivedDebit(booking)) {
    const debit = direction === 'DBIT' ? debitOf(booking, within) : debitBackOf(booking, within)
    if (debit !== null) {
      findings.debited(type, debit)
      return direction === 'DBIT' ? debit.reference : null
    }
  }
  if (direction === 'CRDT' && !entry.isReversal) {
    const credit = creditOf(booking, within)
    findings.credited(type, credit)
    return credit.reference
  }
  const text = entry.text ?? transaction?.text ?? 'no text'
  findings.remark(type, `A booking of ${amount} (minor units) is of no order of ours: ${text}.`, true)
  return null
}

function bookingOf(
  { direction, amount, transaction }: Part,
  { bookedOn, valueDate, bankRef, code, text }: ReportEntry,
  reference: string | null,
): DayBooking {
  const day = bookedOn ?? valueDate ?? ''
  const unstructured = transaction?.remittance.unstructured.join(' ') ?? ''
  return {
    reference,
    direction,
    amount,
    bookedOn: day.slice(0, 10),
    valueDate: (valueDate ?? day).slice(0, 10),
    bankRef: transaction?.references.bankRef ?? bankRef,
    code: code.subFamily ?? code.proprietary,
    text: unstructured === '' ? (transaction?.text ?? text) : unstructured,
  }
}

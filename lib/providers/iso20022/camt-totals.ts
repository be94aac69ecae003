/** The sums of an account report, which its summary and its balances must agree with. */
import type { CurrencyCode } from '../../base/currency.ts'
import { minorUnitsOf } from './amounts.ts'
import { BankFileError, type ElementPlace } from './bank-file-error.ts'
import { withSign } from './camt-values.ts'
import type { MessageElement } from './element.ts'
import type { AccountReport, ReportDirection, ReportEntry } from './reports.ts'

interface Sums {
  count: number
  sum: bigint
}

/** Sums of some entries, by direction. */
class Entries {
  readonly CRDT: Sums = { count: 0, sum: 0n }
  readonly DBIT: Sums = { count: 0, sum: 0n }

  add(direction: ReportDirection, amount: bigint): void {
    this[direction].count += 1
    this[direction].sum += amount
  }

  get all(): Sums {
    return { count: this.CRDT.count + this.DBIT.count, sum: this.CRDT.sum + this.DBIT.sum }
  }

  get net(): bigint {
    return this.CRDT.sum - this.DBIT.sum
  }
}

/** The places of a summary with the sums that they state. */
const STATED: readonly (readonly [path: string, sums: (entries: Entries) => Sums])[] = [
  ['TtlNtries', ({ all }) => all],
  ['TtlCdtNtries', ({ CRDT }) => CRDT],
  ['TtlDbtNtries', ({ DBIT }) => DBIT],
]

export class ReportTotals {
  readonly #booked = new Entries()
  readonly #all = new Entries()
  #currency: CurrencyCode | null = null

  /** Adds an entry, once. */
  add({
    direction,
    amount,
    currency,
    status,
  }: Pick<ReportEntry, 'direction' | 'amount' | 'currency' | 'status'>): void {
    this.#currency ??= currency
    this.#all.add(direction, amount)
    if (status === 'BOOK') this.#booked.add(direction, amount)
  }

  /**
   * Compares the entries with the summary and the balances. Of a report in several pages the summary and the closing
   * balance may be those of all pages, so they are compared for a whole report and between the balances of a page.
   *
   * @throws BankFileError
   */
  check(report: AccountReport, summary: MessageElement | null, place: ElementPlace): void {
    const { page, openingSigned, closingSigned } = report
    const isWhole = page === null || (page.number === 1 && page.isLast)
    if (summary !== null && isWhole) this.#checkSummary(summary, report.currency ?? this.#currency)
    if (openingSigned === null || closingSigned === null) return
    const closing = openingSigned + this.#booked.net
    if (closing !== closingSigned)
      throw new BankFileError(
        'sum_mismatch',
        `The opening balance and the booked entries come to ${closing}, the closing balance is ${closingSigned} (minor units).`,
        place,
      )
  }

  /** A summary may count the booked entries or all of them. */
  #checkSummary(summary: MessageElement, currency: CurrencyCode | null): void {
    for (const [path, sumsOf] of STATED) {
      const part = summary.get(path)
      if (part === null) continue
      const count = part.text('NbOfNtries')
      const sum = part.text('Sum')
      const agrees = [this.#booked, this.#all].some((entries) => {
        const own = sumsOf(entries)
        return (
          (count === null || Number(count) === own.count) &&
          (sum === null || currency === null || minorUnitsOf(sum, currency) === own.sum)
        )
      })
      if (!agrees)
        throw new BankFileError(
          'sum_mismatch',
          `The summary says ${count ?? 'some'} entries of ${sum ?? 'some amount'}, the report has others.`,
          part,
        )
    }
    const net = summary.get('TtlNtries/TtlNetNtry')
    const amount = net?.text('Amt') ?? null
    if (net === null || amount === null || currency === null) return
    const stated = withSign(minorUnitsOf(amount, currency) ?? 0n, net.oneOf('CdtDbtInd', ['CRDT', 'DBIT']))
    if (stated !== this.#booked.net && stated !== this.#all.net)
      throw new BankFileError('sum_mismatch', `The summary's net amount is ${amount}, the report has another.`, net)
  }
}

/** The sum of the transactions of one entry, which must be the entry's own amount where each has an amount. */
export class EntrySum {
  #signed = 0n
  #hasAll = true
  count = 0

  add(transaction: { readonly amount: bigint | null; readonly direction: ReportDirection }): void {
    this.count += 1
    if (transaction.amount === null) this.#hasAll = false
    else this.#signed += withSign(transaction.amount, transaction.direction)
  }

  /**
   * Compares the sum of several transactions with the entry; charges that the entry's amount includes may lie between.
   * One transaction may differ, by charges of banks on the way or an exchange.
   *
   * @throws BankFileError
   */
  check(entry: Pick<ReportEntry, 'amount' | 'direction' | 'charges' | 'currency'>, place: ElementPlace): void {
    if (this.count < 2 || !this.#hasAll) return
    const charges = entry.charges
      .filter(({ isIncluded, currency }) => isIncluded && currency === entry.currency)
      .reduce((sum, { amount, direction }) => sum + withSign(amount, direction), 0n)
    const whole = withSign(entry.amount, entry.direction)
    if (this.#signed === whole || this.#signed + charges === whole) return
    // In the direction of the entry, as the file writes it.
    const sum = withSign(this.#signed, entry.direction)
    throw new BankFileError(
      'sum_mismatch',
      `The transactions of an entry come to ${sum}, the entry says ${entry.amount} (minor units).`,
      place,
    )
  }
}

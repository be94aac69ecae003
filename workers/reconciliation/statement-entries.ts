/**
 * The entries of a partner's statement as reconciliation compares them, from the items of a bank's file.
 *
 * Only booked entries count (`BOOK`). An entry of several transactions is split into them, each with its own reference,
 * if each has its amount; otherwise it counts as one.
 */
import { uuidOf } from '../../lib/providers/iso20022/references.ts'
import type { BankFileItem, ReportEntry, ReportTransaction } from '../../lib/providers/iso20022/reports.ts'
import { StatementError, type PartnerStatementHead, type StatementEntry } from '../../lib/reconciliation/statement.ts'

/** Limit of transactions of one entry. */
const TRANSACTIONS_MAX = 100_000
/** Characters of the text of an entry that are kept. */
const TEXT_MAX = 4_000

export class StatementEntries {
  #head: PartnerStatementHead | null = null
  /** The transactions of the entry that has not ended. */
  #transactions: ReportTransaction[] = []

  /** Takes an item and returns the entries that it completes. @throws StatementError */
  take(item: BankFileItem): StatementEntry[] {
    if (item.kind === 'entry') return this.#entry(item.entry)
    if (item.kind !== 'account_report' || item.report.message !== 'camt.053')
      throw new StatementError('The file is no statement.')
    if (this.#head !== null) throw new StatementError('The file has more than one statement.')
    const { id, account, currency, openingSigned: opening, closingSigned: closing } = item.report
    if (opening === null || closing === null)
      throw new StatementError('The statement has no opening or no closing balance.')
    this.#head = {
      id,
      account: 'iban' in account ? account.iban : account.number,
      currency: currency ?? '',
      opening,
      closing,
    }
    return []
  }

  /** Returns the head of the statement, after its last item. @throws StatementError */
  head(): PartnerStatementHead {
    if (this.#head === null) throw new StatementError('The file has no statement.')
    return this.#head
  }

  #entry(entry: ReportEntry): StatementEntry[] {
    if (entry.status !== 'BOOK') return []
    this.#transactions.push(...entry.transactions)
    if (this.#transactions.length > TRANSACTIONS_MAX)
      throw new StatementError('An entry of the statement has too many transactions.')
    if (!entry.part.isLast) return []
    const transactions = this.#transactions
    this.#transactions = []
    const [only] = transactions
    if (only === undefined) return [entryFrom(entry, null)]
    return transactions.every(({ amount }) => amount !== null)
      ? transactions.map((transaction) => entryFrom(entry, transaction))
      : [entryFrom(entry, null)]
  }
}

/** Makes an entry of one transaction; null for the entry as a whole. */
function entryFrom(entry: ReportEntry, transaction: ReportTransaction | null): StatementEntry {
  const { code, bookedOn } = entry
  if (bookedOn === null) throw new StatementError('An entry says no day.')
  const text = transaction?.remittance.unstructured.join(' ').slice(0, TEXT_MAX) ?? ''
  return {
    reference: transaction?.reference ?? (entry.entryRef === null ? null : uuidOf(entry.entryRef)),
    direction: transaction?.direction ?? entry.direction,
    amount: transaction?.amount ?? entry.amount,
    bookedOn,
    valueDate: entry.valueDate ?? bookedOn,
    bankRef: transaction?.references.bankRef ?? entry.bankRef,
    code: code.proprietary ?? code.subFamily,
    text: text === '' ? entry.text : text,
  }
}

/**
 * Reads account reports: statements (camt.053.001.08) and notifications (camt.054.001.08) of ISO 20022, and their
 * versions 02 and 04. Sums are checked: transactions against their entry, entries against the summary and the balances.
 */
import type { CurrencyCode } from '../../base/currency.ts'
import { BankFileError, type ElementPlace } from './bank-file-error.ts'
import { EntrySum, ReportTotals } from './camt-totals.ts'
import {
  accountIn,
  agentIn,
  chargesIn,
  codeIn,
  currencyOf,
  DIRECTIONS,
  transactionIn,
  withSign,
} from './camt-values.ts'
import { MessageElement, type MessageParts } from './element.ts'
import type {
  AccountReport,
  BankFileItem,
  ReportBalance,
  ReportEntry,
  ReportEntryStatus,
  ReportTransaction,
} from './reports.ts'

/** The elements of each message: the one below the document, the report, and the report's page. */
const NAMES = {
  'camt.053': { root: 'BkToCstmrStmt', report: 'Stmt', page: 'StmtPgntn' },
  'camt.054': { root: 'BkToCstmrDbtCdtNtfctn', report: 'Ntfctn', page: 'NtfctnPgntn' },
} as const
const STATUSES: readonly ReportEntryStatus[] = ['BOOK', 'PDNG', 'INFO', 'FUTR']
/** Transactions of an item. A batch of more comes in parts. */
export const PART_MAX = 500
/** Elements in the head of a report or an entry, beside its entries and transactions. */
const HEAD_MAX = 2_000

interface OpenReport {
  readonly place: ElementPlace
  readonly elements: MessageElement[]
  report: AccountReport | null
  readonly totals: ReportTotals
}

interface OpenEntry {
  readonly place: ElementPlace
  readonly elements: MessageElement[]
  /** Null until its transactions begin, or its end. */
  head: Omit<ReportEntry, 'batch' | 'text' | 'transactions' | 'part'> | null
  batch: ReportEntry['batch']
  transactions: ReportTransaction[]
  readonly sum: EntrySum
  parts: number
}

export class CamtReader implements MessageParts {
  readonly containers: ReadonlySet<string>
  readonly #message: AccountReport['message']
  readonly #version: string
  readonly #emit: (item: BankFileItem) => void
  readonly #areSumsChecked: boolean
  readonly #paths: { readonly root: string; readonly report: string; readonly entry: string; readonly details: string }
  #head: MessageElement | null = null
  #report: OpenReport | null = null
  #reports = 0
  #entry: OpenEntry | null = null
  /** The number of orders that the open details state, and the number before them. */
  #details: { stated: number | null; readonly before: number } = { stated: null, before: 0 }

  constructor(
    message: AccountReport['message'],
    version: string,
    emit: (item: BankFileItem) => void,
    { areSumsChecked }: { readonly areSumsChecked: boolean },
  ) {
    const { root, report } = NAMES[message]
    const entry = `${root}/${report}/Ntry`
    this.#message = message
    this.#version = version
    this.#emit = emit
    this.#areSumsChecked = areSumsChecked
    this.#paths = { root, report: `${root}/${report}`, entry, details: `${entry}/NtryDtls` }
    this.containers = new Set(Object.values(this.#paths))
  }

  opened(path: string, place: ElementPlace): void {
    const { report, entry, details } = this.#paths
    if (path === report) {
      this.#report = { place, elements: [], report: null, totals: new ReportTotals() }
      this.#reports += 1
    } else if (path === entry) {
      this.#begun(this.#report!)
      this.#entry = { place, elements: [], head: null, batch: null, transactions: [], sum: new EntrySum(), parts: 0 }
    } else if (path === details) {
      this.#headOf(this.#entry!)
      this.#details = { stated: null, before: this.#entry!.sum.count }
    }
  }

  child(container: string, element: MessageElement): void {
    const { root, report, entry, details } = this.#paths
    if (container === root && element.name === 'GrpHdr') this.#head = element
    else if (container === report) gather(this.#report!.elements, element)
    else if (container === entry) gather(this.#entry!.elements, element)
    else if (container === details && element.name === 'Btch') this.#batch(this.#entry!, element)
    else if (container === details && element.name === 'TxDtls') this.#transaction(this.#entry!, element)
  }

  closed(path: string, place: ElementPlace): void {
    const { root, report, entry, details } = this.#paths
    if (path === details) this.#endDetails(this.#entry!, place)
    else if (path === entry) this.#endEntry(this.#entry!)
    else if (path === report) {
      const open = this.#report!
      const found = this.#begun(open)
      if (this.#areSumsChecked) open.totals.check(found, named(open.elements, 'TxsSummry')[0] ?? null, open.place)
    } else if (path === root && this.#reports === 0)
      throw new BankFileError('missing_element', `The message has no ${NAMES[this.#message].report}.`, place)
  }

  /** Gives the head of the report out, once, before its first entry or at its end. */
  #begun(open: OpenReport): AccountReport {
    if (open.report === null) {
      if (this.#head === null) throw new BankFileError('missing_element', 'The message has no GrpHdr.', open.place)
      open.report = reportFrom(open.elements, {
        message: this.#message,
        version: this.#version,
        head: this.#head,
        place: open.place,
      })
      this.#emit({ kind: 'account_report', report: open.report })
    }
    return open.report
  }

  #headOf(entry: OpenEntry): NonNullable<OpenEntry['head']> {
    entry.head ??= entryFrom(entry.elements, this.#report!.report!.currency, entry.place)
    return entry.head
  }

  #batch(entry: OpenEntry, element: MessageElement): void {
    const count = element.text('NbOfTxs')
    this.#details.stated = count === null ? null : Number(count)
    entry.batch ??= {
      messageId: element.text('MsgId'),
      blockId: element.text('PmtInfId'),
      count: this.#details.stated,
    }
  }

  #transaction(entry: OpenEntry, element: MessageElement): void {
    const head = this.#headOf(entry)
    const transaction = transactionIn(element, head)
    entry.sum.add(transaction)
    if (entry.transactions.length === PART_MAX) this.#give(entry, head, null, false)
    entry.transactions.push(transaction)
  }

  #endDetails(entry: OpenEntry, place: ElementPlace): void {
    const { stated, before } = this.#details
    const listed = entry.sum.count - before
    if (stated === null || listed === 0 || stated === listed) return
    throw new BankFileError('sum_mismatch', `A batch says ${stated} transactions and lists ${listed}.`, place)
  }

  #endEntry(entry: OpenEntry): void {
    const head = this.#headOf(entry)
    entry.sum.check(head, entry.place)
    const [only] = entry.transactions
    if (only !== undefined && entry.sum.count === 1) entry.transactions = [alone(only, head)]
    this.#give(entry, head, named(entry.elements, 'AddtlNtryInf')[0]?.ownText ?? null, true)
    this.#report!.totals.add(head)
    this.#entry = null
  }

  #give(entry: OpenEntry, head: NonNullable<OpenEntry['head']>, text: string | null, isLast: boolean): void {
    const { batch, transactions, parts } = entry
    this.#emit({ kind: 'entry', entry: { ...head, batch, text, transactions, part: { number: parts, isLast } } })
    entry.parts += 1
    entry.transactions = []
  }
}

/** The only transaction of an entry moved the entry's amount, whatever was ordered. */
function alone(
  only: ReportTransaction,
  { amount, currency }: Pick<ReportEntry, 'amount' | 'currency'>,
): ReportTransaction {
  const ordered = only.amount === null || only.amount === amount ? null : { amount: only.amount, currency }
  return { ...only, amount, instructed: only.instructed ?? ordered }
}

function gather(elements: MessageElement[], element: MessageElement): void {
  elements.push(element)
  if (elements.length > HEAD_MAX)
    throw new BankFileError(
      'too_large',
      `A report or an entry has at most ${HEAD_MAX} elements beside the lists in it.`,
      element,
    )
}

const named = (elements: readonly MessageElement[], name: string): MessageElement[] =>
  elements.filter((element) => element.name === name)

/** Puts elements that were read one by one under one element, to read them as a tree. */
function together(elements: readonly MessageElement[], { path, line }: ElementPlace): MessageElement {
  const whole = new MessageElement(path.slice(path.lastIndexOf('/') + 1), { path, line: line ?? 0 }, null)
  whole.children.push(...elements)
  return whole
}

function reportFrom(
  elements: readonly MessageElement[],
  {
    message,
    version,
    head,
    place,
  }: {
    readonly message: AccountReport['message']
    readonly version: string
    readonly head: MessageElement
    readonly place: ElementPlace
  },
): AccountReport {
  const whole = together(elements, place)
  const page = whole.get(NAMES[message].page) ?? head.get('MsgPgntn')
  const account = accountIn(whole.get('Acct'))
  if (account === null) throw new BankFileError('missing_element', 'The report has no account (Acct/Id).', place)
  const first = whole.amount('Bal/Amt')
  const named = whole.get('Acct/Ccy')
  const currency = named === null ? (first?.currency ?? null) : currencyOf(named)
  const balances = whole.all('Bal').map((element) => balanceFrom(element, currency))
  return {
    message,
    version,
    messageId: head.required('MsgId'),
    id: whole.required('Id'),
    sequenceNumber: whole.text('ElctrncSeqNb', 'LglSeqNb'),
    page: page === null ? null : { number: Number(page.required('PgNb')), isLast: page.isTrue('LastPgInd') },
    copy: whole.text('CpyDplctInd'),
    createdAt: whole.text('CreDtTm') ?? head.text('CreDtTm'),
    from: whole.text('FrToDt/FrDtTm'),
    to: whole.text('FrToDt/ToDtTm'),
    account,
    currency,
    servicer: agentIn(whole.get('Acct/Svcr')),
    balances,
    ...bounds(balances),
  }
}

function balanceFrom(element: MessageElement, currency: CurrencyCode | null): ReportBalance {
  const amount = element.amount('Amt')
  if (amount === null) throw new BankFileError('missing_element', 'A balance has no Amt.', element)
  if (amount.currency !== currency)
    throw new BankFileError('invalid_value', `A balance is in ${amount.currency}, the account in ${currency}.`, element)
  return {
    code: element.text('Tp/CdOrPrtry/Cd', 'Tp/CdOrPrtry/Prtry') ?? '',
    signed: withSign(amount.amount, element.oneOf('CdtDbtInd', DIRECTIONS)),
    day: element.day('Dt'),
  }
}

/**
 * Returns the booked balances before and after the entries. A page begins and ends with interim balances (`ITBD`); a
 * report of several days has those of each day.
 */
function bounds(balances: readonly ReportBalance[]): Pick<AccountReport, 'openingSigned' | 'closingSigned'> {
  const inTime = balances.toSorted((one, other) => (one.day ?? '').localeCompare(other.day ?? ''))
  const first = (code: string): ReportBalance | undefined => inTime.find((balance) => balance.code === code)
  const last = (code: string): ReportBalance | undefined => inTime.findLast((balance) => balance.code === code)
  const opening = first('OPBD') ?? first('PRCD') ?? first('ITBD')
  const closing = last('CLBD') ?? last('ITBD')
  return {
    openingSigned: opening?.signed ?? null,
    closingSigned: closing === undefined || closing === opening ? null : closing.signed,
  }
}

function entryFrom(
  elements: readonly MessageElement[],
  currency: CurrencyCode | null,
  place: ElementPlace,
): NonNullable<OpenEntry['head']> {
  const whole = together(elements, place)
  const amount = whole.amount('Amt')
  if (amount === null) throw new BankFileError('missing_element', 'An entry has no Amt.', place)
  if (currency !== null && amount.currency !== currency)
    throw new BankFileError('invalid_value', `An entry in ${amount.currency} is on an account in ${currency}.`, place)
  const status = whole.oneOf(whole.text('Sts/Cd') === null ? 'Sts' : 'Sts/Cd', STATUSES)
  const bookedOn = whole.day('BookgDt')
  const valueDate = whole.day('ValDt')
  const day = bookedOn ?? valueDate
  if (status === 'BOOK' && day === null)
    throw new BankFileError('missing_element', 'A booked entry has neither BookgDt nor ValDt.', place)
  return {
    entryRef: whole.text('NtryRef'),
    ...amount,
    direction: whole.oneOf('CdtDbtInd', DIRECTIONS),
    status,
    isReversal: whole.isTrue('RvslInd'),
    bookedOn: status === 'BOOK' ? day : bookedOn,
    valueDate,
    bankRef: whole.text('AcctSvcrRef'),
    code: codeIn(whole.get('BkTxCd')),
    charges: chargesIn(whole.all('Chrgs')),
  }
}

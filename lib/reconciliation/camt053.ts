/**
 * Reads camt.053 (any version from 001.02 on) element by element: an XML parser calls `open`, `text` and `close`. Only
 * the entry that is being read is in memory.
 *
 * Only booked entries count (`Sts` BOOK). An entry of several transactions is split into them, each with its own
 * reference, if each has its amount; otherwise it counts as one.
 */
import { isUuid } from '../base/ids.ts'
import { exponentOf, type CurrencyCode } from '../base/currency.ts'
import { StatementError, type Direction, type StatementEntry, type PartnerStatementHead } from './statement.ts'

/** Deeper than any camt.053; a deeper file is no statement. */
const DEPTH_MAX = 64
/** Longer than any field that is stored. */
const TEXT_MAX = 4_000
/** Limit of transactions of one entry. */
const TRANSACTIONS_MAX = 100_000
/** A UUID without hyphens, for fields of at most 35 characters. */
const BARE_UUID = /^[0-9a-f]{32}$/i

interface Part {
  amount: string | null
  currency: string | null
  direction: string | null
  references: string[]
  bankRef: string | null
  text: string | null
}

interface OpenEntry extends Part {
  status: string | null
  bookedOn: string | null
  valueDate: string | null
  code: string | null
  transactions: Part[]
}

const part = (): Part => ({ amount: null, currency: null, direction: null, references: [], bankRef: null, text: null })

export class Camt053Reader {
  readonly #take: (entry: StatementEntry) => void
  readonly #path: string[] = []
  #attributeCurrency: string | null = null
  #text = ''
  #id = ''
  #account = ''
  #currency = ''
  readonly #balances = new Map<string, bigint>()
  #balance: { code: string | null; amount: string | null; direction: string | null } = {
    code: null,
    amount: null,
    direction: null,
  }
  #entry: OpenEntry | null = null
  #transaction: Part | null = null
  #statements = 0

  /** `take` is called with each booked entry, in order. */
  constructor(take: (entry: StatementEntry) => void) {
    this.#take = take
  }

  /** Begins an element; `currency` is its attribute `Ccy`. @throws StatementError */
  open(name: string, currency: string | null): void {
    if (this.#path.length >= DEPTH_MAX) throw new StatementError('The statement is nested too deeply.')
    this.#path.push(localName(name))
    this.#text = ''
    this.#attributeCurrency = currency
    const path = this.#below('Stmt')
    if (path === '') {
      this.#statements += 1
      if (this.#statements > 1) throw new StatementError('The file has more than one statement.')
    } else if (path === 'Bal') this.#balance = { code: null, amount: null, direction: null }
    else if (path === 'Ntry')
      this.#entry = { ...part(), status: null, bookedOn: null, valueDate: null, code: null, transactions: [] }
    else if (path === 'Ntry/NtryDtls/TxDtls') this.#transaction = part()
  }

  /** Adds text to the element that was opened last. @throws StatementError */
  text(text: string): void {
    if (this.#text.length + text.length > TEXT_MAX) {
      if (this.#text.trim() !== '' || text.trim() !== '')
        throw new StatementError('A field of the statement is too long.')
      return
    }
    this.#text += text
  }

  /** Ends the element that was opened last. @throws StatementError */
  close(): void {
    const path = this.#below('Stmt')
    const text = this.#text.trim()
    this.#text = ''
    if (path !== null) this.#field(path, text)
    this.#path.pop()
  }

  /** Returns the head of the statement, after the whole file was read. @throws StatementError */
  head(): PartnerStatementHead {
    if (this.#statements === 0) throw new StatementError('The file has no statement.')
    const opening = this.#balances.get('OPBD') ?? this.#balances.get('PRCD')
    const closing = this.#balances.get('CLBD')
    if (opening === undefined || closing === undefined)
      throw new StatementError('The statement has no opening or no closing balance.')
    return { id: this.#id, account: this.#account, currency: this.#currency, opening, closing }
  }

  /** Returns the path below an element, empty at the element itself; null outside it. */
  #below(name: string): string | null {
    const at = this.#path.indexOf(name)
    return at === -1 ? null : this.#path.slice(at + 1).join('/')
  }

  #field(path: string, text: string): void {
    if (path.startsWith('Ntry')) this.#entryField(path, text)
    else
      switch (path) {
        case 'Id':
          this.#id = text
          break
        case 'Acct/Id/IBAN':
        case 'Acct/Id/Othr/Id':
          this.#account = text
          break
        case 'Acct/Ccy':
          this.#currency = text
          break
        case 'Bal/Tp/CdOrPrtry/Cd':
          this.#balance.code = text
          break
        case 'Bal/Amt':
          this.#balance.amount = text
          this.#currency ||= this.#attributeCurrency ?? ''
          break
        case 'Bal/CdtDbtInd':
          this.#balance.direction = text
          break
        case 'Bal': {
          const { code, amount, direction } = this.#balance
          if (code !== null && amount !== null)
            this.#balances.set(code, minor(amount, this.#currency) * (direction === 'DBIT' ? -1n : 1n))
          break
        }
      }
  }

  #entryField(path: string, text: string): void {
    const entry = this.#entry
    if (entry === null) return
    const of = this.#transaction ?? entry
    switch (path) {
      case 'Ntry/Amt':
        entry.amount = text
        entry.currency = this.#attributeCurrency
        break
      case 'Ntry/CdtDbtInd':
        entry.direction = text
        break
      // The code is an element of its own since version 8; before, it is the text of `Sts`.
      case 'Ntry/Sts/Cd':
      case 'Ntry/Sts':
        if (text !== '') entry.status = text
        break
      case 'Ntry/BookgDt/Dt':
      case 'Ntry/BookgDt/DtTm':
        entry.bookedOn = text.slice(0, 10)
        break
      case 'Ntry/ValDt/Dt':
      case 'Ntry/ValDt/DtTm':
        entry.valueDate = text.slice(0, 10)
        break
      case 'Ntry/AcctSvcrRef':
        entry.bankRef = text
        break
      case 'Ntry/BkTxCd/Prtry/Cd':
        entry.code = text
        break
      case 'Ntry/BkTxCd/Domn/Fmly/SubFmlyCd':
        entry.code ??= text
        break
      case 'Ntry/NtryRef':
        entry.references.push(text)
        break
      case 'Ntry/AddtlNtryInf':
        entry.text ??= text
        break
      case 'Ntry/NtryDtls/TxDtls/Amt':
        of.amount = text
        of.currency = this.#attributeCurrency
        break
      case 'Ntry/NtryDtls/TxDtls/CdtDbtInd':
        of.direction = text
        break
      case 'Ntry/NtryDtls/TxDtls/Refs/AcctSvcrRef':
        of.bankRef = text
        break
      case 'Ntry/NtryDtls/TxDtls/Refs/PmtInfId':
      case 'Ntry/NtryDtls/TxDtls/Refs/InstrId':
      case 'Ntry/NtryDtls/TxDtls/Refs/EndToEndId':
      case 'Ntry/NtryDtls/TxDtls/Refs/Prtry/Ref':
        of.references.push(text)
        break
      case 'Ntry/NtryDtls/TxDtls/RmtInf/Ustrd':
        of.text = of.text === null ? text : `${of.text} ${text}`.slice(0, TEXT_MAX)
        break
      case 'Ntry/NtryDtls/TxDtls':
        if (entry.transactions.length >= TRANSACTIONS_MAX)
          throw new StatementError('An entry of the statement has too many transactions.')
        entry.transactions.push(of)
        this.#transaction = null
        break
      case 'Ntry':
        this.#end(entry)
        this.#entry = null
        break
    }
  }

  #end(entry: OpenEntry): void {
    if (entry.status !== null && entry.status !== 'BOOK') return
    const { transactions } = entry
    const split = transactions.length > 1 && transactions.every(({ amount }) => amount !== null)
    if (split) {
      const whole = this.#made(entry, entry)
      const parts = transactions.map((each) => this.#made(entry, each))
      const sum = parts.reduce(
        (total, { direction, amount }) => total + (direction === whole.direction ? amount : -amount),
        0n,
      )
      if (sum !== whole.amount)
        throw new StatementError(`The transactions of an entry come to ${sum}, the entry says ${whole.amount}.`)
      for (const each of parts) this.#take(each)
      return
    }
    const [only] = transactions
    this.#take(
      this.#made(
        entry,
        only === undefined || transactions.length > 1
          ? entry
          : { ...only, amount: entry.amount, currency: entry.currency, direction: entry.direction },
      ),
    )
  }

  #made(entry: OpenEntry, of: Part): StatementEntry {
    const direction = of.direction ?? entry.direction
    if (direction !== 'CRDT' && direction !== 'DBIT')
      throw new StatementError('An entry says neither that it came in nor that it went out.')
    const { bookedOn } = entry
    if (bookedOn === null || !/^\d{4}-\d{2}-\d{2}$/.test(bookedOn)) throw new StatementError('An entry says no day.')
    const currency = of.currency ?? entry.currency ?? this.#currency
    if (this.#currency !== '' && currency !== this.#currency)
      throw new StatementError(`An entry in ${currency} is on a statement in ${this.#currency}.`)
    const reference = [...of.references, ...entry.references].map(asUuid).find((found) => found !== null) ?? null
    return {
      reference,
      direction: direction satisfies Direction,
      amount: minor(of.amount ?? '', currency),
      bookedOn,
      valueDate: entry.valueDate ?? bookedOn,
      bankRef: of.bankRef ?? entry.bankRef,
      code: entry.code,
      text: of.text ?? entry.text,
    }
  }
}

function localName(name: string): string {
  const at = name.indexOf(':')
  return at === -1 ? name : name.slice(at + 1)
}

function asUuid(text: string): string | null {
  if (isUuid(text)) return text.toLowerCase()
  if (!BARE_UUID.test(text)) return null
  const hex = text.toLowerCase()
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Converts a decimal amount to minor units, exactly. @throws StatementError */
function minor(text: string, currency: string): bigint {
  const [, whole, fraction = ''] = /^(\d{1,18})(?:\.(\d{1,5}))?$/.exec(text) ?? []
  const exponent = exponentOf(currency as CurrencyCode)
  if (whole === undefined || !/^[A-Z]{3}$/.test(currency)) throw new StatementError(`${text} ${currency} is no amount.`)
  if (fraction.length > exponent && /[1-9]/.test(fraction.slice(exponent)))
    throw new StatementError(`${text} ${currency} has more decimals than the currency.`)
  return BigInt(whole + fraction.slice(0, exponent).padEnd(exponent, '0'))
}

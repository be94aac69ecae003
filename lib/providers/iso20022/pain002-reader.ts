/**
 * Reads status reports: pain.002.001.10, the customer payment status report of ISO 20022, and its version 03. The
 * statuses of the file, its blocks and its orders are read as they stand; an order without one has that of its block or
 * of the file.
 */
import { BankFileError, type ElementPlace } from './bank-file-error.ts'
import type { MessageElement, MessageParts } from './element.ts'
import { FILE_ORDERS_MAX } from './order-file.ts'
import { uuidAmong } from './references.ts'
import type { BankFileItem, ReportedReason, StatusReport, StatusReportBlock, StatusReportOrder } from './reports.ts'
import { outcomeOf } from './statuses.ts'

const ROOT = 'CstmrPmtStsRpt'
const BLOCK = `${ROOT}/OrgnlPmtInfAndSts`
const REJECTED = 'RJCT'

/** The part of a report whose orders are counted: the file or a block. */
interface Scope {
  readonly status: string | null
  /** Rejected orders as the report states them; null where it does not. */
  readonly stated: number | null
  orders: number
  rejected: number
  /** A block of it was rejected as a whole, so its orders need not be listed. */
  hasRejectedBlock: boolean
}

/** The block that is being read, until it is complete. */
interface OpenBlock {
  readonly elements: MessageElement[]
  block: StatusReportBlock | null
  scope: Scope | null
}

export class Pain002Reader implements MessageParts {
  readonly containers: ReadonlySet<string> = new Set([ROOT, BLOCK])
  readonly #version: string
  readonly #emit: (item: BankFileItem) => void
  #head: MessageElement | null = null
  #report: StatusReport | null = null
  #file: Scope | null = null
  #block: OpenBlock | null = null
  /** The status of each order so far, by its identity. */
  readonly #statuses = new Map<string, string | null>()

  constructor(version: string, emit: (item: BankFileItem) => void) {
    this.#version = version
    this.#emit = emit
  }

  opened(path: string, place: ElementPlace): void {
    if (path !== BLOCK) return
    if (this.#report === null) throw missing('OrgnlGrpInfAndSts', place)
    this.#block = { elements: [], block: null, scope: null }
  }

  child(container: string, element: MessageElement): void {
    if (container === BLOCK) this.#inBlock(this.#block!, element)
    else if (element.name === 'GrpHdr') this.#head = element
    else if (element.name === 'OrgnlGrpInfAndSts') this.#begin(element)
  }

  closed(path: string, place: ElementPlace): void {
    if (path === BLOCK) {
      const { block, scope } = this.#completed(this.#block!, place)
      this.#count(scope, place)
      if (block.status === REJECTED && scope.orders === 0 && this.#file !== null) this.#file.hasRejectedBlock = true
      this.#block = null
    } else {
      if (this.#report === null || this.#file === null) throw missing('OrgnlGrpInfAndSts', place)
      this.#count(this.#file, place)
    }
  }

  #begin(element: MessageElement): void {
    if (this.#head === null) throw missing('GrpHdr', element)
    if (this.#report !== null) throw new BankFileError('contradiction', 'The report is about two files.', element)
    const count = element.text('OrgnlNbOfTxs')
    this.#report = {
      version: this.#version,
      messageId: this.#head.required('MsgId'),
      createdAt: this.#head.required('CreDtTm'),
      originalMessageId: element.required('OrgnlMsgId'),
      originalMessageName: element.required('OrgnlMsgNmId'),
      originalCount: count === null ? null : Number(count),
      originalSum: element.text('OrgnlCtrlSum'),
      status: element.text('GrpSts'),
      reasons: reasonsOf(element),
    }
    this.#file = scopeOf(this.#report.status, element.all('NbOfTxsPerSts'))
    this.#emit({ kind: 'status_report', report: this.#report })
  }

  #inBlock(open: OpenBlock, element: MessageElement): void {
    if (element.name !== 'TxInfAndSts') {
      open.elements.push(element)
      if (open.elements.length > FILE_ORDERS_MAX)
        throw new BankFileError('too_large', 'The block is too long.', element)
      return
    }
    const { block, scope } = this.#completed(open, element)
    this.#order(element, block, scope)
  }

  /** Gives the block out, once, before its first order or at its end. */
  #completed(open: OpenBlock, place: ElementPlace): { readonly block: StatusReportBlock; readonly scope: Scope } {
    if (open.block === null || open.scope === null) {
      const named = (name: string): MessageElement[] => open.elements.filter((element) => element.name === name)
      const blockId = named('OrgnlPmtInfId')[0]?.ownText ?? null
      if (blockId === null) throw missing('OrgnlPmtInfId', place)
      const status = named('PmtInfSts')[0]?.ownText ?? null
      const own = { status, reasons: named('StsRsnInf').map(reasonOf) }
      // A block without a status of its own is left without one: that of the file is in the report.
      open.block = { blockId, ...own, ...(status === null ? {} : inherited(own, [this.#report!])) }
      open.scope = scopeOf(status, named('NbOfTxsPerSts'))
      this.#emit({ kind: 'status_block', block: open.block })
    }
    return { block: open.block, scope: open.scope }
  }

  #order(element: MessageElement, block: StatusReportBlock, scope: Scope): void {
    const instructionId = element.text('OrgnlInstrId')
    const endToEndId = element.text('OrgnlEndToEndId')
    const uetr = element.text('OrgnlUETR')
    if (instructionId === null && endToEndId === null && uetr === null) throw missing('OrgnlInstrId', element)
    const { status, reasons } = inherited({ status: element.text('TxSts'), reasons: reasonsOf(element) }, [
      block,
      this.#report!,
    ])
    if (this.#isRepeated(JSON.stringify([block.blockId, instructionId, uetr]), status, element)) return
    for (const each of [this.#file!, scope]) {
      each.orders += 1
      if (status === REJECTED) each.rejected += 1
    }
    const order: StatusReportOrder = {
      blockId: block.blockId,
      instructionId,
      endToEndId,
      uetr,
      reference: uuidAmong([instructionId, endToEndId]),
      status,
      reasons,
      bankRef: element.text('AcctSvcrRef'),
      clearingRef: element.text('ClrSysRef'),
    }
    this.#emit({ kind: 'status_order', order })
  }

  /**
   * Tells whether the report has named the order before. End-to-end ids are the payers' own and need not be unique, so
   * they identify no order.
   */
  #isRepeated(identity: string, status: string | null, element: MessageElement): boolean {
    if (element.text('OrgnlInstrId', 'OrgnlUETR') === null) return false
    const before = this.#statuses.get(identity)
    if (before === status) return true
    if (before !== undefined)
      throw new BankFileError('contradiction', `An order is ${before} and ${status} in one report.`, element)
    this.#statuses.set(identity, status)
    if (this.#statuses.size > FILE_ORDERS_MAX)
      throw new BankFileError('too_large', `A report is about at most ${FILE_ORDERS_MAX} orders.`, element)
    return false
  }

  /** Compares the stated number of rejected orders with the orders that are listed. */
  #count({ status, stated, orders, rejected, hasRejectedBlock }: Scope, place: ElementPlace): void {
    if (stated === null || orders === 0 || status === REJECTED || hasRejectedBlock || stated === rejected) return
    throw new BankFileError('sum_mismatch', `The report says ${stated} rejected orders and lists ${rejected}.`, place)
  }
}

function missing(name: string, place: ElementPlace): BankFileError {
  return new BankFileError('missing_element', `There is no ${name} before this place.`, place)
}

const reasonsOf = (element: MessageElement): ReportedReason[] => element.all('StsRsnInf').map(reasonOf)

function reasonOf(element: MessageElement): ReportedReason {
  const code = element.text('Rsn/Cd')
  return {
    code: code ?? element.text('Rsn/Prtry'),
    isProprietary: code === null && element.text('Rsn/Prtry') !== null,
    texts: element.all('AddtlInf').flatMap(({ ownText }) => ownText ?? []),
  }
}

function scopeOf(status: string | null, perStatus: readonly MessageElement[]): Scope {
  const rejected = perStatus.find((element) => element.text('DtldSts') === REJECTED)
  const stated = rejected?.text('DtldNbOfTxs') ?? null
  return {
    status,
    stated: stated === null ? null : Number(stated),
    orders: 0,
    rejected: 0,
    hasRejectedBlock: false,
  }
}

interface Status {
  readonly status: string | null
  readonly reasons: readonly ReportedReason[]
}

/**
 * Returns the status of an order or block: its own, or the nearest one around it that is that of every order in it. Its
 * reasons are its own, or those of the same status around it: a bank may reject a file as a duplicate, and its orders
 * one by one without saying why again.
 */
function inherited(own: Status, around: readonly Status[]): Status {
  const whole = around.find(({ status }) => status !== null && outcomeOf(status, []) !== 'partial')
  const status = own.status ?? whole?.status ?? null
  const explained = [own, ...around.filter((each) => each.status === status)]
  return { status, reasons: explained.find(({ reasons }) => reasons.length > 0)?.reasons ?? [] }
}

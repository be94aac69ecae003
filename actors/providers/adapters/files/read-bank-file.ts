/** Reads the findings of a bank's file, and the names by which it means orders. Pure. */
import type { BankFileItem } from '../../../../lib/providers/iso20022/reports.ts'
import type { FileContents, OrderInBook, OrderNames } from '../partner-files.ts'
import { uuidOf } from '../../../../lib/providers/iso20022/references.ts'
import { Findings, type SourceFile } from './findings.ts'
import { readAccountReport, type ReportScope } from './read-account-report.ts'
import { readStatusReport } from './read-status-report.ts'

type Entry = Extract<BankFileItem, { kind: 'entry' }>['entry']

/** Collects the names. */
export function namesIn(items: readonly BankFileItem[]): OrderNames {
  const references = new Set<string>()
  const endToEndIds = new Set<string>()
  const uetrs = new Set<string>()
  const messageIds = new Set<string>()
  const blockIds = new Set<string>()
  const add = (to: Set<string>, name: string | null | undefined) => {
    if (name != null && name !== '') to.add(name)
  }
  const ofEntry = ({ entryRef, batch, transactions }: Entry) => {
    add(references, entryRef === null ? null : uuidOf(entryRef))
    // A block is part of one file alone, so the file is named only where no block is.
    if (batch !== null) batch.blockId === null ? add(messageIds, batch.messageId) : add(blockIds, batch.blockId)
    for (const transaction of transactions) {
      add(references, transaction.reference)
      add(endToEndIds, transaction.references.endToEndId)
      add(uetrs, transaction.references.uetr)
    }
  }
  for (const item of items)
    if (item.kind === 'status_report') add(messageIds, item.report.originalMessageId)
    else if (item.kind === 'entry') ofEntry(item.entry)
  return {
    references: [...references],
    endToEndIds: [...endToEndIds],
    uetrs: [...uetrs],
    messageIds: [...messageIds],
    blockIds: [...blockIds],
  }
}

/** Reads the items of a file, with the orders that they may mean. */
export function contentsOf(
  file: SourceFile,
  { format, items }: { readonly format: string; readonly items: readonly BankFileItem[] },
  orders: readonly OrderInBook[],
  scope: ReportScope,
): FileContents {
  const findings = new Findings(file, format === 'camt.053' ? 'statement' : 'file', orders)
  let messageId: string | null = null
  for (const [head, parts] of reportsOf(items)) {
    if (head.kind === 'status_report') {
      messageId ??= head.report.messageId
      readStatusReport(head.report, parts, findings)
    } else {
      messageId ??= head.report.messageId
      readAccountReport(head.report, wholeEntries(parts), findings, scope)
    }
  }
  return findings.contents(format, messageId)
}

/** Puts the entries together that came in parts. */
function wholeEntries(items: readonly BankFileItem[]): readonly Entry[] {
  const whole: Entry[] = []
  let transactions: Entry['transactions'][number][] = []
  for (const item of items) {
    if (item.kind !== 'entry') continue
    transactions.push(...item.entry.transactions)
    if (!item.entry.part.isLast) continue
    whole.push({ ...item.entry, transactions })
    transactions = []
  }
  return whole
}

type Head = Extract<BankFileItem, { kind: 'status_report' | 'account_report' }>

/** Groups the items of a file by the report that they follow. */
function reportsOf(items: readonly BankFileItem[]): readonly (readonly [Head, readonly BankFileItem[]])[] {
  const reports: [Head, BankFileItem[]][] = []
  for (const item of items)
    if (item.kind === 'status_report' || item.kind === 'account_report') reports.push([item, []])
    else reports.at(-1)?.[1].push(item)
  return reports
}

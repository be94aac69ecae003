/**
 * Reads the findings of a status report (pain.002): the outcomes of the orders that it lists, or means as a block or a file.
 * Pure.
 */
import type { BankFileItem, ReportedReason, StatusReport } from '../../../../lib/providers/iso20022/reports.ts'
import { outcomeOf, reasonCodeOf } from '../../../../lib/providers/iso20022/statuses.ts'
import type { OrderInBook } from '../partner-files.ts'
import type { Findings } from './findings.ts'

interface Verdict {
  readonly status: string
  readonly reasons: readonly ReportedReason[]
  readonly bankRef: string | null
}

type Verdicts = Map<string, Verdict>

/** Reads one report with the blocks and orders that follow it in its file. */
export function readStatusReport(report: StatusReport, parts: readonly BankFileItem[], findings: Findings): void {
  const type = `pain.002 ${report.status ?? 'PART'}`
  const ours = findings.orders.filter(({ messageId }) => messageId === report.originalMessageId)
  if (ours.length === 0) {
    findings.remark(type, `The bank reports on the file ${report.originalMessageId}, which is none of ours.`, true)
    return
  }
  const verdicts: Verdicts = new Map()
  for (const item of parts) if (item.kind === 'status_order') ofOrder(item.order, { type, ours, findings, verdicts })
  for (const item of parts)
    if (item.kind === 'status_block' && item.block.status !== null) {
      const { blockId, status, reasons } = item.block
      const orders = ours.filter((order) => order.blockId === blockId)
      spread(orders, { status, reasons, bankRef: null }, verdicts)
    }
  const { status, reasons } = report
  if (status !== null) spread(ours, { status, reasons, bankRef: null }, verdicts)
  const concluded = ours.filter((order) => {
    const verdict = verdicts.get(order.reference)
    return verdict !== undefined && conclude(order, verdict, findings)
  }).length
  findings.remark(type, `The report concludes ${concluded} of the ${ours.length} orders of the file.`, false)
}

function ofOrder(
  { reference, uetr, endToEndId, status, reasons, bankRef }: Extract<BankFileItem, { kind: 'status_order' }>['order'],
  {
    type,
    ours,
    findings,
    verdicts,
  }: {
    readonly type: string
    readonly ours: readonly OrderInBook[]
    readonly findings: Findings
    readonly verdicts: Verdicts
  },
): void {
  const order = findings.find({ reference, uetr, endToEndId }, ours)
  if (order === null || !ours.includes(order))
    findings.remark(type, `The report lists an order (${endToEndId ?? 'no id'}) that is not in the file.`, true)
  else if (status !== null) verdicts.set(order.reference, { status, reasons, bankRef })
}

/** Gives a verdict about a whole to the orders that have none of their own. A partial one says nothing of any. */
function spread(orders: readonly OrderInBook[], verdict: Verdict, verdicts: Verdicts): void {
  if (outcomeOf(verdict.status, verdict.reasons) === 'partial') return
  for (const { reference } of orders) if (!verdicts.has(reference)) verdicts.set(reference, verdict)
}

/** @returns whether the verdict is an outcome */
function conclude(order: OrderInBook, { status, reasons, bankRef }: Verdict, findings: Findings): boolean {
  const outcome = outcomeOf(status, reasons)
  const type = `pain.002 ${status}`
  switch (outcome) {
    case 'settled':
    case 'rejected': {
      const schemeCode = outcome === 'rejected' ? (reasonCodeOf(reasons) ?? 'NARR') : null
      findings.told(order, { type, by: 'status', status: outcome, amount: null, schemeCode, bankRef })
      return true
    }
    case 'unclear':
      findings.unclear(order, type, reasonCodeOf(reasons))
      return true
    case 'pending':
    case 'partial':
      findings.accepted(order, type, bankRef)
      return false
    default:
      return outcome satisfies never
  }
}

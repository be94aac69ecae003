/** The meaning of the statuses of a bank's report for a payment. */
import type { ReportedReason } from './reports.ts'

/**
 * `pending`: the bank has the order. `settled`: the money has left. `rejected`: it never will. `partial`: the orders
 * have different outcomes, which the report lists. `unclear`: refused as a duplicate, so an order with the same
 * reference came before; whether that one was paid, only the bank or the account can tell.
 */
export type ReportedOutcome = 'pending' | 'settled' | 'rejected' | 'partial' | 'unclear'

/** ISO 20022's statuses of orders, blocks and files. */
const OUTCOMES: Readonly<Record<string, ReportedOutcome>> = {
  RCVD: 'pending',
  ACTC: 'pending',
  ACCP: 'pending',
  ACSP: 'pending',
  ACWC: 'pending',
  ACWP: 'pending',
  ACFC: 'pending',
  ACSC: 'settled',
  ACCC: 'settled',
  PDNG: 'pending',
  BLCK: 'pending',
  PART: 'partial',
  PATC: 'partial',
  CANC: 'rejected',
  RJCT: 'rejected',
}

/** Reasons that mean the bank has had the same file, block, order or reference before. */
const DUPLICATES: ReadonlySet<string> = new Set(['AM05', 'DUPL', 'DU01', 'DU02', 'DU03', 'DU04', 'DU05'])

/**
 * Returns what a status with its reasons means for the orders that it is about. Nothing is concluded from a status that
 * is not in ISO 20022's list: the bank has the order.
 */
export function outcomeOf(status: string, reasons: readonly ReportedReason[]): ReportedOutcome {
  const outcome = OUTCOMES[status] ?? 'pending'
  const isDuplicate = reasons.some(({ code }) => code !== null && DUPLICATES.has(code))
  return outcome === 'rejected' && isDuplicate ? 'unclear' : outcome
}

/** Returns the first code of the reasons, ISO 20022's before the bank's own; null where they have none. */
export function reasonCodeOf(reasons: readonly ReportedReason[]): string | null {
  const coded = reasons.filter(({ code }) => code !== null)
  return (coded.find(({ isProprietary }) => !isProprietary) ?? coded[0])?.code ?? null
}

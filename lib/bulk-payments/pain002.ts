/**
 * Reports on bulk files as pain.002.001.03, ISO 20022's customer payment status report, in pieces: head, rows, end. The order of the
 * elements is the schema's. A file that is no message has one block, under its own number.
 */
import { timestamp } from '../base/clock.ts'
import { formatMajor } from '../base/money.ts'
import { xmlElement, xmlReference, xmlText } from '../base/xml.ts'
import type { FileError } from './file-error.ts'
import { reasonOf, type ReportRow } from './report.ts'

const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:pain.002.001.03'
/** Of a code that has no place in the lists of ISO 20022, and of a sentence beside it. */
const PROPRIETARY_MAX = 35
const SENTENCE_MAX = 105
/** Sentences beside one reason. */
const SENTENCES_MAX = 4

export type TransactionStatus = 'ACTC' | 'PDNG' | 'ACSP' | 'ACSC' | 'RJCT' | 'CANC'

/** What became of a row: its payment's status where it has one. */
export function transactionStatus({ status, failureCode, payment }: { readonly status: ReportRow['status']; readonly failureCode: ReportRow['failureCode']; readonly payment: Pick<NonNullable<ReportRow['payment']>, 'status'> | null }): TransactionStatus {
  if (payment === null) {
    switch (status) {
      case 'pending':
      case 'valid': return 'ACTC'
      case 'submitting':
      case 'submitted': return 'PDNG'
      case 'invalid': return 'RJCT'
      case 'failed': return failureCode === 'cancelled' ? 'CANC' : 'RJCT'
      default: return status satisfies never
    }
  }
  switch (payment.status) {
    case 'draft':
    case 'pending_approval':
    case 'scheduled':
    case 'on_hold': return 'PDNG'
    case 'processing':
    case 'exception': return 'ACSP'
    case 'completed': return 'ACSC'
    // It was settled and came back, so the recipient does not have it.
    case 'returned':
    case 'failed':
    case 'rejected': return 'RJCT'
    case 'cancelled': return 'CANC'
    default: return payment.status satisfies never
  }
}

export type StatusCounts = Readonly<Partial<Record<TransactionStatus, number>>>

/** Of the file as a whole: rejected, in part, taken as a file, or taken as payments. A file without rows could not be used. */
export function groupStatus(counts: StatusCounts): 'ACTC' | 'ACCP' | 'PART' | 'RJCT' {
  const refused = (counts.RJCT ?? 0) + (counts.CANC ?? 0)
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  if (refused === total) return 'RJCT'
  if (refused > 0) return 'PART'
  return (counts.ACTC ?? 0) === total ? 'ACTC' : 'ACCP'
}

export interface StatusReportHead {
  /** Of this report. */
  readonly id: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** The sender's name of the message, or the file's number; and what kind of file it is. */
  readonly original: { readonly id: string; readonly name: string }
  readonly counts: StatusCounts
  readonly fileErrors: readonly FileError[]
}

/** Everything up to the first block. */
export function pain002Head({ id, createdAt, original, counts, fileErrors }: StatusReportHead): string {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const perStatus = Object.entries(counts).filter(([, count]) => count > 0)
    .map(([status, count]) => `<NbOfTxsPerSts><DtldNbOfTxs>${count}</DtldNbOfTxs><DtldSts>${status}</DtldSts></NbOfTxsPerSts>`).join('')
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="${NAMESPACE}"><CstmrPmtStsRpt>
<GrpHdr><MsgId>${xmlReference(id)}</MsgId><CreDtTm>${timestamp(createdAt)}</CreDtTm></GrpHdr>
<OrgnlGrpInfAndSts><OrgnlMsgId>${xmlText(original.id, 35)}</OrgnlMsgId><OrgnlMsgNmId>${xmlText(original.name, 35)}</OrgnlMsgNmId><OrgnlNbOfTxs>${total}</OrgnlNbOfTxs>`
    + `<GrpSts>${groupStatus(counts)}</GrpSts>${fileErrors.map(fileReason).join('')}${perStatus}</OrgnlGrpInfAndSts>\n`
}

/** FF01 is a file that is not as its format wants it, AM10 a control sum that is wrong. */
const fileReason = ({ code, message }: FileError): string =>
  `<StsRsnInf><Rsn><Cd>${code === 'control_sum_mismatch' ? 'AM10' : 'FF01'}</Cd></Rsn>${xmlElement('AddtlInf', `${code}: ${message}`, SENTENCE_MAX)}</StsRsnInf>`

/** Rows, in their order. `block` is the one that is open before them, null before the first; `last` is open after them. */
export function pain002Rows({ original }: Pick<StatusReportHead, 'original'>, rows: readonly ReportRow[], block: string | null): { readonly text: string; readonly last: string | null } {
  let text = ''
  let open = block
  for (const row of rows) {
    const id = row.paymentInformationId ?? original.id
    if (id !== open) {
      text += `${blockEnd(open)}<OrgnlPmtInfAndSts><OrgnlPmtInfId>${xmlText(id, 35)}</OrgnlPmtInfId>\n`
      open = id
    }
    text += transaction(row)
  }
  return { text, last: open }
}

const blockEnd = (open: string | null): string => (open === null ? '' : '</OrgnlPmtInfAndSts>\n')

function transaction(row: ReportRow): string {
  const { currency, amount, payment } = row
  const status = transactionStatus(row)
  const money = currency === null || amount === null ? '' : `<Amt><InstdAmt Ccy="${currency}">${formatMajor(amount, currency)}</InstdAmt></Amt>`
  const date = row.executionDate === null ? '' : `<ReqdExctnDt>${row.executionDate}</ReqdExctnDt>`
  return `<TxInfAndSts><StsId>${row.rowNumber}</StsId>${xmlElement('OrgnlInstrId', row.externalId, 35)}<OrgnlEndToEndId>${xmlText(row.endToEndId ?? '', 35) || 'NOTPROVIDED'}</OrgnlEndToEndId>`
    + `<TxSts>${status}</TxSts>${status === 'RJCT' || status === 'CANC' ? reason(row) : ''}${xmlElement('AcctSvcrRef', payment?.number ?? null, 35)}`
    + (money === '' && date === '' ? '' : `<OrgnlTxRef>${money}${date}</OrgnlTxRef>`)
    + '</TxInfAndSts>\n'
}

function reason(row: ReportRow): string {
  const why = reasonOf(row)
  if (why === null) return ''
  const code = why.iso === null ? xmlElement('Prtry', why.word, PROPRIETARY_MAX) : `<Cd>${why.iso}</Cd>`
  const sentences = why.iso === null ? why.details : [why.word, ...why.details]
  return `<StsRsnInf><Rsn>${code}</Rsn>${sentences.slice(0, SENTENCES_MAX).map((each) => xmlElement('AddtlInf', each, SENTENCE_MAX)).join('')}</StsRsnInf>`
}

/** What comes after the last row. */
export const pain002End = (block: string | null): string => `${blockEnd(block)}</CstmrPmtStsRpt></Document>\n`

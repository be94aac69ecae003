/**
 * Writes reports on bulk files as pain.002.001.03, the customer payment status report of ISO 20022, in pieces: head,
 * rows, end. The elements are in the order of the schema. A file that was no pain.001 message has one block, under the
 * file's own number.
 */
import { timestamp } from '../base/clock.ts'
import { formatMajor } from '../base/money.ts'
import { xmlElement, xmlReference, xmlText } from '../base/xml.ts'
import type { FileError } from './file-error.ts'
import { reasonOf, type ReportRow } from './report.ts'

const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:pain.002.001.03'
/** Most characters of a code outside the lists of ISO 20022, and of a sentence beside it. */
const PROPRIETARY_MAX = 35
const SENTENCE_MAX = 105
/** Most sentences beside one reason. */
const SENTENCES_MAX = 4

export type Pain002Status = 'ACTC' | 'PDNG' | 'ACSP' | 'ACSC' | 'RJCT' | 'CANC'

/** Returns the ISO 20022 status of a row: that of its payment where there is one, otherwise that of the row. */
export function transactionStatus({
  status,
  failureCode,
  payment,
}: {
  readonly status: ReportRow['status']
  readonly failureCode: ReportRow['failureCode']
  readonly payment: Pick<NonNullable<ReportRow['payment']>, 'status'> | null
}): Pain002Status {
  if (payment === null) {
    switch (status) {
      case 'pending':
      case 'valid':
        return 'ACTC'
      case 'submitting':
      case 'submitted':
        return 'PDNG'
      case 'invalid':
        return 'RJCT'
      case 'failed':
        return failureCode === 'cancelled' ? 'CANC' : 'RJCT'
      default:
        return status satisfies never
    }
  }
  switch (payment.status) {
    case 'draft':
    case 'pending_approval':
    case 'scheduled':
    case 'on_hold':
      return 'PDNG'
    case 'processing':
    case 'exception':
      return 'ACSP'
    case 'completed':
      return 'ACSC'
    // A returned payment was settled and came back, so the recipient does not have the money.
    case 'returned':
    case 'failed':
    case 'rejected':
      return 'RJCT'
    case 'cancelled':
      return 'CANC'
    default:
      return payment.status satisfies never
  }
}

export type StatusCounts = Readonly<Partial<Record<Pain002Status, number>>>

/**
 * Returns the status of the whole file: rejected (RJCT), partly rejected (PART), accepted as a file (ACTC) or accepted
 * as payments (ACCP). A file without rows was unusable and is RJCT.
 */
export function groupStatus(counts: StatusCounts): 'ACTC' | 'ACCP' | 'PART' | 'RJCT' {
  const refused = (counts.RJCT ?? 0) + (counts.CANC ?? 0)
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  if (refused === total) return 'RJCT'
  if (refused > 0) return 'PART'
  return (counts.ACTC ?? 0) === total ? 'ACTC' : 'ACCP'
}

export interface StatusReportHead {
  /** The id of this report. */
  readonly id: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** The message id that the sender gave, or the file's number; and the kind of file. */
  readonly original: { readonly id: string; readonly name: string }
  readonly counts: StatusCounts
  readonly fileErrors: readonly FileError[]
}

/** Writes the document up to the first block. */
export function pain002Head({ id, createdAt, original, counts, fileErrors }: StatusReportHead): string {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const perStatus = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(
      ([status, count]) =>
        `<NbOfTxsPerSts><DtldNbOfTxs>${count}</DtldNbOfTxs><DtldSts>${status}</DtldSts></NbOfTxsPerSts>`,
    )
    .join('')
  return (
    `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="${NAMESPACE}"><CstmrPmtStsRpt>
<GrpHdr><MsgId>${xmlReference(id)}</MsgId><CreDtTm>${timestamp(createdAt)}</CreDtTm></GrpHdr>
<OrgnlGrpInfAndSts><OrgnlMsgId>${xmlText(original.id, 35)}</OrgnlMsgId><OrgnlMsgNmId>${xmlText(original.name, 35)}</OrgnlMsgNmId><OrgnlNbOfTxs>${total}</OrgnlNbOfTxs>` +
    `<GrpSts>${groupStatus(counts)}</GrpSts>${fileErrors.map(fileReason).join('')}${perStatus}</OrgnlGrpInfAndSts>\n`
  )
}

/** FF01 stands for a file with an invalid format, AM10 for a wrong control sum. */
const fileReason = ({ code, message }: FileError): string =>
  `<StsRsnInf><Rsn><Cd>${code === 'control_sum_mismatch' ? 'AM10' : 'FF01'}</Cd></Rsn>${xmlElement('AddtlInf', `${code}: ${message}`, SENTENCE_MAX)}</StsRsnInf>`

/**
 * Writes rows, in their order. `block` is the block that is open before them, null before the first; `last` is the
 * block that is open after them.
 */
export function pain002Rows(
  { original }: Pick<StatusReportHead, 'original'>,
  rows: readonly ReportRow[],
  block: string | null,
): { readonly text: string; readonly last: string | null } {
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
  const money =
    currency === null || amount === null
      ? ''
      : `<Amt><InstdAmt Ccy="${currency}">${formatMajor(amount, currency)}</InstdAmt></Amt>`
  const date = row.executionDate === null ? '' : `<ReqdExctnDt>${row.executionDate}</ReqdExctnDt>`
  return (
    `<TxInfAndSts><StsId>${row.rowNumber}</StsId>${xmlElement('OrgnlInstrId', row.externalId, 35)}<OrgnlEndToEndId>${xmlText(row.endToEndId ?? '', 35) || 'NOTPROVIDED'}</OrgnlEndToEndId>` +
    `<TxSts>${status}</TxSts>${status === 'RJCT' || status === 'CANC' ? reason(row) : ''}${xmlElement('AcctSvcrRef', payment?.number ?? null, 35)}` +
    (money === '' && date === '' ? '' : `<OrgnlTxRef>${money}${date}</OrgnlTxRef>`) +
    '</TxInfAndSts>\n'
  )
}

function reason(row: ReportRow): string {
  const why = reasonOf(row)
  if (why === null) return ''
  const code = why.iso === null ? xmlElement('Prtry', why.word, PROPRIETARY_MAX) : `<Cd>${why.iso}</Cd>`
  const sentences = why.iso === null ? why.details : [why.word, ...why.details]
  return `<StsRsnInf><Rsn>${code}</Rsn>${sentences
    .slice(0, SENTENCES_MAX)
    .map((each) => xmlElement('AddtlInf', each, SENTENCE_MAX))
    .join('')}</StsRsnInf>`
}

/** Writes the end of the document, after the last row. */
export const pain002End = (block: string | null): string => `${blockEnd(block)}</CstmrPmtStsRpt></Document>\n`

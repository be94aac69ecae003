/**
 * Writes the statement of a day as camt.053.001.08 from the bookings of a bank's files: one entry for each order, by our
 * reference, also where the bank has booked many as one. It is what reconciliation reads; the bank's own files are kept
 * beside it.
 */
import { DAY_MS, timestamp } from '../../base/clock.ts'
import type { CurrencyCode } from '../../base/currency.ts'
import { formatMajor } from '../../base/money.ts'
import { xmlElement } from '../../base/xml.ts'

const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08'

/** The head of a day: its balances in minor units, signed from the side of the account. */
export interface DayStatement {
  readonly connectionId: string
  readonly currency: CurrencyCode
  readonly day: string
  /** The bank's number of the statement; null where the bank booked nothing and sent none. */
  readonly number: string | null
  readonly opening: bigint
  readonly closing: bigint
}

/** Writes what stands before the first booking. */
export function dayStatementHead({ connectionId, currency, day, number, opening, closing }: DayStatement): string {
  const next = timestamp(Date.parse(`${day}T00:00:00Z`) + DAY_MS)
  const id = number ?? `${currency}-${day}-none`
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="${NAMESPACE}"><BkToCstmrStmt>` +
    `<GrpHdr>${xmlElement('MsgId', id, 35)}<CreDtTm>${next}</CreDtTm></GrpHdr><Stmt>${xmlElement('Id', id, 35)}<CreDtTm>${next}</CreDtTm>` +
    `<FrToDt><FrDtTm>${day}T00:00:00.000Z</FrDtTm><ToDtTm>${next}</ToDtTm></FrToDt>` +
    `<Acct><Id><Othr><Id>${bare(connectionId)}</Id></Othr></Id><Ccy>${currency}</Ccy></Acct>` +
    balance('OPBD', opening, currency, day) +
    balance('CLBD', closing, currency, day)
  )
}

/** A booking of the account. Days are `YYYY-MM-DD`. */
export interface DayBooking {
  /** Our reference, where the booking has one: the id of the payment or the credit. */
  readonly reference: string | null
  readonly direction: 'CRDT' | 'DBIT'
  /** Minor units. */
  readonly amount: bigint
  readonly bookedOn: string
  readonly valueDate: string
  /** The bank's own reference. */
  readonly bankRef: string | null
  readonly code: string | null
  readonly text: string | null
}

/** Writes bookings. */
export function dayStatementEntries(bookings: readonly DayBooking[], currency: CurrencyCode): string {
  return bookings
    .map(
      ({ reference, direction, amount, bookedOn, valueDate, bankRef, code, text }) =>
        `<Ntry><Amt Ccy="${currency}">${formatMajor(amount, currency)}</Amt><CdtDbtInd>${direction}</CdtDbtInd>` +
        `<Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>${bookedOn}</Dt></BookgDt><ValDt><Dt>${valueDate}</Dt></ValDt>` +
        `${xmlElement('AcctSvcrRef', bankRef, 35)}<BkTxCd><Prtry>${xmlElement('Cd', code ?? 'NONE', 35)}</Prtry></BkTxCd>` +
        `<NtryDtls><TxDtls>${reference === null ? '' : `<Refs><EndToEndId>${bare(reference)}</EndToEndId></Refs>`}` +
        `${text === null ? '' : `<RmtInf>${xmlElement('Ustrd', text, 140)}</RmtInf>`}</TxDtls></NtryDtls></Ntry>`,
    )
    .join('')
}

/** Writes what stands after the last booking. */
export const DAY_STATEMENT_END = '</Stmt></BkToCstmrStmt></Document>\n'

function balance(code: string, amount: bigint, currency: CurrencyCode, day: string): string {
  return (
    `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="${currency}">${formatMajor(amount < 0n ? -amount : amount, currency)}</Amt>` +
    `<CdtDbtInd>${amount < 0n ? 'DBIT' : 'CRDT'}</CdtDbtInd><Dt><Dt>${day}</Dt></Dt></Bal>`
  )
}

/** Removes the hyphens of a UUID: fields of references hold 35 characters. */
const bare = (uuid: string): string => uuid.replaceAll('-', '')

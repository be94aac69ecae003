/**
 * Writes statements as camt.053.001.08, ISO 20022's bank-to-customer statement, in pieces: head, lines, end. The order
 * of the elements is that of the schema; longer texts are cut, and characters that XML does not allow are dropped.
 */
import { timestamp } from '../base/clock.ts'
import { formatMajor } from '../base/money.ts'
import { xmlElement, xmlReference, xmlText } from '../base/xml.ts'
import type { TransactionType } from '../ledger/postings.ts'
import { signed, type StatementHead, type StatementLine } from './statement.ts'

const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08'

/** The ISO 20022 transaction code of each type: domain, family, sub-family. */
const CODES: Readonly<Record<TransactionType, readonly [string, string, string]>> = {
  incoming_payment: ['PMNT', 'RCDT', 'OTHR'],
  outgoing_payment: ['PMNT', 'ICDT', 'OTHR'],
  payment_return: ['PMNT', 'ICDT', 'RRTN'],
  incoming_payment_return: ['PMNT', 'RCDT', 'RRTN'],
  transfer_in: ['PMNT', 'RCDT', 'BOOK'],
  transfer_out: ['PMNT', 'ICDT', 'BOOK'],
  exchange_out: ['FORX', 'SPOT', 'OTHR'],
  exchange_in: ['FORX', 'SPOT', 'OTHR'],
  collection: ['PMNT', 'IDDT', 'OTHR'],
  collection_return: ['PMNT', 'IDDT', 'UPDD'],
  direct_debit: ['PMNT', 'RDDT', 'OTHR'],
  direct_debit_refund: ['PMNT', 'RDDT', 'UPDD'],
  card_payment: ['PMNT', 'CCRD', 'POSD'],
  card_refund: ['PMNT', 'CCRD', 'OTHR'],
  card_withdrawal: ['PMNT', 'CCRD', 'CWDL'],
  forward_deposit: ['FORX', 'FWRD', 'OTHR'],
  forward_deposit_release: ['FORX', 'FWRD', 'OTHR'],
  fee: ['ACMT', 'MDOP', 'FEES'],
  fee_refund: ['ACMT', 'MCOP', 'FEES'],
  interest: ['ACMT', 'MCOP', 'INTR'],
  adjustment: ['ACMT', 'MCOP', 'ADJT'],
}

const indicator = (amount: bigint): string => (amount < 0n ? 'DBIT' : 'CRDT')
const absolute = (amount: bigint): bigint => (amount < 0n ? -amount : amount)

/** Writes the part before the first line. */
export function camt053Head(head: StatementHead): string {
  const { currency, holder, opening, closing, credits, debits, creditCount, debitCount } = head
  const at = timestamp(head.createdAt)
  const money = (amount: bigint): string => formatMajor(absolute(amount), currency)
  const balance = (code: string, amount: bigint, day: string): string =>
    `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="${currency}">${money(amount)}</Amt><CdtDbtInd>${indicator(amount)}</CdtDbtInd><Dt><Dt>${day}</Dt></Dt></Bal>\n`
  const address =
    holder.address.length === 0
      ? ''
      : `<PstlAdr>${holder.address
          .slice(0, 7)
          .map((line) => xmlElement('AdrLine', line, 70))
          .join('')}</PstlAdr>`
  return (
    `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="${NAMESPACE}"><BkToCstmrStmt>
<GrpHdr><MsgId>${xmlReference(head.id)}</MsgId><CreDtTm>${at}</CreDtTm><MsgPgntn><PgNb>1</PgNb><LastPgInd>true</LastPgInd></MsgPgntn></GrpHdr>
<Stmt><Id>${xmlReference(head.id)}</Id>${head.sequenceNumber === 0 ? '' : `<ElctrncSeqNb>${head.sequenceNumber}</ElctrncSeqNb><LglSeqNb>${head.sequenceNumber}</LglSeqNb>`}<CreDtTm>${at}</CreDtTm>
<FrToDt><FrDtTm>${head.from}T00:00:00.000Z</FrDtTm><ToDtTm>${head.to}T23:59:59.999Z</ToDtTm></FrToDt>
<Acct><Id>${holder.iban === null ? `<Othr><Id>${xmlText(holder.accountNumber ?? xmlReference(holder.balanceId), 34)}</Id></Othr>` : `<IBAN>${xmlText(holder.iban, 34)}</IBAN>`}</Id>` +
    `<Ccy>${currency}</Ccy>${xmlElement('Nm', holder.balanceName, 70)}<Ownr>${xmlElement('Nm', holder.name, 140)}${address}</Ownr>` +
    `<Svcr><FinInstnId>${xmlElement('BICFI', holder.bic, 11)}${xmlElement('Nm', holder.bankName ?? holder.operatorName, 140)}</FinInstnId></Svcr></Acct>\n` +
    balance('OPBD', opening, head.from) +
    balance('CLBD', closing, head.to) +
    `<TxsSummry><TtlNtries><NbOfNtries>${creditCount + debitCount}</NbOfNtries><Sum>${money(credits + debits)}</Sum>` +
    `<TtlNetNtry><Amt>${money(credits - debits)}</Amt><CdtDbtInd>${indicator(credits - debits)}</CdtDbtInd></TtlNetNtry></TtlNtries>` +
    `<TtlCdtNtries><NbOfNtries>${creditCount}</NbOfNtries><Sum>${money(credits)}</Sum></TtlCdtNtries>` +
    `<TtlDbtNtries><NbOfNtries>${debitCount}</NbOfNtries><Sum>${money(debits)}</Sum></TtlDbtNtries></TxsSummry>\n`
  )
}

/** Writes lines, in the order in which they were booked. */
export function camt053Lines({ currency }: Pick<StatementHead, 'currency'>, lines: readonly StatementLine[]): string {
  let text = ''
  for (const line of lines) {
    const [domain, family, subFamily] = CODES[line.type]
    const way = indicator(signed(line))
    const money = formatMajor(line.amount, currency)
    const party = xmlElement('Nm', line.counterparty, 140)
    const remittance = xmlElement('Ustrd', line.reference, 140)
    const role = line.direction === 'debit' ? 'Cdtr' : 'Dbtr'
    text +=
      `<Ntry><NtryRef>${line.sequence}</NtryRef><Amt Ccy="${currency}">${money}</Amt><CdtDbtInd>${way}</CdtDbtInd>${line.isReversal ? '<RvslInd>true</RvslInd>' : ''}` +
      `<Sts><Cd>BOOK</Cd></Sts><BookgDt><DtTm>${timestamp(line.bookedAt)}</DtTm></BookgDt><ValDt><Dt>${line.valueDate}</Dt></ValDt>` +
      `<AcctSvcrRef>${xmlReference(line.id)}</AcctSvcrRef>` +
      `<BkTxCd><Domn><Cd>${domain}</Cd><Fmly><Cd>${family}</Cd><SubFmlyCd>${subFamily}</SubFmlyCd></Fmly></Domn><Prtry><Cd>${line.type}</Cd></Prtry></BkTxCd>` +
      `<NtryDtls><TxDtls><Refs><AcctSvcrRef>${xmlReference(line.entryId)}</AcctSvcrRef><EndToEndId>${xmlText(line.endToEndId ?? '', 35) || 'NOTPROVIDED'}</EndToEndId></Refs>` +
      `<Amt Ccy="${currency}">${money}</Amt><CdtDbtInd>${way}</CdtDbtInd>` +
      (party === '' ? '' : `<RltdPties><${role}><Pty>${party}</Pty></${role}></RltdPties>`) +
      (remittance === '' ? '' : `<RmtInf>${remittance}</RmtInf>`) +
      `</TxDtls></NtryDtls>${xmlElement('AddtlNtryInf', line.description, 500)}</Ntry>\n`
  }
  return text
}

/** The part after the last line. */
export const CAMT053_END = '</Stmt></BkToCstmrStmt></Document>\n'

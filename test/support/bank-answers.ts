/**
 * The bank's side of an exchange of files: reads the orders of pain.001 files, and writes the status reports,
 * notifications and statements with which a bank answers. Amounts are decimals, as in the files.
 */

/** An order as the bank reads it. */
export interface ReceivedOrder {
  readonly messageId: string
  readonly blockId: string
  readonly instructionId: string
  readonly endToEndId: string
  readonly amount: string
  readonly currency: string
}

/** Reads the orders of a pain.001. */
export function ordersOf(xml: string): readonly ReceivedOrder[] {
  const messageId = one(xml, 'MsgId')
  return blocks(xml, 'PmtInf').flatMap((block) =>
    blocks(block, 'CdtTrfTxInf').map((order) => {
      const [, currency = '', amount = ''] = /<InstdAmt Ccy="([A-Z]{3})">([0-9.]+)</.exec(order) ?? []
      return {
        messageId,
        blockId: one(block, 'PmtInfId'),
        instructionId: one(order, 'InstrId'),
        endToEndId: one(order, 'EndToEndId'),
        amount,
        currency,
      }
    }),
  )
}

const one = (xml: string, name: string): string => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? ''
const blocks = (xml: string, name: string): readonly string[] =>
  Array.from(xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs')), ([, inside = '']) => inside)

/** The status of an order in a report. */
export interface OrderReport {
  readonly order: ReceivedOrder
  readonly status: string
  readonly reason?: string
}

/** Writes a pain.002.001.10. `group`: the status of the whole file. */
export function statusReport(
  id: string,
  {
    messageId,
    group = null,
    orders = [],
  }: { readonly messageId: string; readonly group?: string | null; readonly orders?: readonly OrderReport[] },
): string {
  const byBlock = Map.groupBy(orders, ({ order }) => order.blockId)
  return (
    `<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt>` +
    `<GrpHdr><MsgId>${id}</MsgId><CreDtTm>2026-11-23T12:00:00Z</CreDtTm></GrpHdr>` +
    `<OrgnlGrpInfAndSts><OrgnlMsgId>${messageId}</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId>${group === null ? '' : `<GrpSts>${group}</GrpSts>`}</OrgnlGrpInfAndSts>` +
    Array.from(
      byBlock,
      ([blockId, reports]) =>
        `<OrgnlPmtInfAndSts><OrgnlPmtInfId>${blockId}</OrgnlPmtInfId>` +
        reports
          .map(
            ({ order, status, reason }) =>
              `<TxInfAndSts><OrgnlInstrId>${order.instructionId}</OrgnlInstrId><OrgnlEndToEndId>${order.endToEndId}</OrgnlEndToEndId><TxSts>${status}</TxSts>` +
              `${reason === undefined ? '' : `<StsRsnInf><Rsn><Cd>${reason}</Cd></Rsn></StsRsnInf>`}</TxInfAndSts>`,
          )
          .join('') +
        `</OrgnlPmtInfAndSts>`,
    ).join('') +
    `</CstmrPmtStsRpt></Document>`
  )
}

/** A transaction of an entry. */
export interface Transaction {
  readonly amount?: string
  readonly instructionId?: string
  readonly endToEndId?: string
  readonly bankRef?: string
  readonly debtorName?: string
  readonly debtorIban?: string
  readonly creditorIban?: string
  readonly remittance?: string
  readonly returnReason?: string
}

/** An entry of an account. */
export interface Entry {
  readonly amount: string
  readonly direction: 'CRDT' | 'DBIT'
  readonly bankRef: string
  readonly day: string
  readonly status?: 'BOOK' | 'PDNG'
  /** A block that was booked as one. */
  readonly batch?: { readonly blockId: string; readonly count: number }
  readonly transactions?: readonly Transaction[]
}

export interface Account {
  readonly iban: string
  readonly currency: string
}

/** Writes a camt.054.001.08. */
export function notification(id: string, account: Account, entries: readonly Entry[]): string {
  return (
    `<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.054.001.08"><BkToCstmrDbtCdtNtfctn>` +
    `<GrpHdr><MsgId>${id}</MsgId><CreDtTm>2026-11-23T12:00:00Z</CreDtTm></GrpHdr>` +
    `<Ntfctn><Id>${id}</Id>${accountXml(account)}${entries.map((entry) => entryXml(entry, account)).join('')}</Ntfctn></BkToCstmrDbtCdtNtfctn></Document>`
  )
}

/** Writes a camt.053.001.08; the balances are decimals with a sign. */
export function statement(
  id: string,
  account: Account,
  {
    day,
    opening,
    closing,
    entries,
  }: {
    readonly day: string
    readonly opening: string
    readonly closing: string
    readonly entries: readonly Entry[]
  },
): string {
  return (
    `<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>` +
    `<GrpHdr><MsgId>${id}</MsgId><CreDtTm>${day}T23:00:00Z</CreDtTm></GrpHdr>` +
    `<Stmt><Id>${id}</Id>${accountXml(account)}${balanceXml('OPBD', opening, account, day)}${balanceXml('CLBD', closing, account, day)}` +
    `${entries.map((entry) => entryXml(entry, account)).join('')}</Stmt></BkToCstmrStmt></Document>`
  )
}

const accountXml = ({ iban, currency }: Account): string =>
  `<Acct><Id><IBAN>${iban}</IBAN></Id><Ccy>${currency}</Ccy></Acct>`

function balanceXml(code: string, amount: string, { currency }: Account, day: string): string {
  const isNegative = amount.startsWith('-')
  return (
    `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="${currency}">${amount.replace('-', '')}</Amt>` +
    `<CdtDbtInd>${isNegative ? 'DBIT' : 'CRDT'}</CdtDbtInd><Dt><Dt>${day}</Dt></Dt></Bal>`
  )
}

function entryXml(
  { amount, direction, bankRef, day, status = 'BOOK', batch, transactions = [] }: Entry,
  { currency }: Account,
): string {
  const details =
    (batch === undefined ? '' : `<Btch><PmtInfId>${batch.blockId}</PmtInfId><NbOfTxs>${batch.count}</NbOfTxs></Btch>`) +
    transactions.map((transaction) => transactionXml(transaction, { currency, direction })).join('')
  return (
    `<Ntry><Amt Ccy="${currency}">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd><Sts><Cd>${status}</Cd></Sts>` +
    `<BookgDt><Dt>${day}</Dt></BookgDt><ValDt><Dt>${day}</Dt></ValDt><AcctSvcrRef>${bankRef}</AcctSvcrRef>` +
    `<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>${direction === 'DBIT' ? 'ICDT' : 'RCDT'}</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd>` +
    `${details === '' ? '' : `<NtryDtls>${details}</NtryDtls>`}</Ntry>`
  )
}

function transactionXml(
  of: Transaction,
  { currency, direction }: { readonly currency: string; readonly direction: Entry['direction'] },
): string {
  const element = (name: string, text: string | undefined) => (text === undefined ? '' : `<${name}>${text}</${name}>`)
  const account = (name: string, iban: string | undefined) =>
    iban === undefined ? '' : `<${name}><Id><IBAN>${iban}</IBAN></Id></${name}>`
  const references =
    element('AcctSvcrRef', of.bankRef) + element('InstrId', of.instructionId) + element('EndToEndId', of.endToEndId)
  const parties =
    (of.debtorName === undefined ? '' : `<Dbtr><Pty><Nm>${of.debtorName}</Nm></Pty></Dbtr>`) +
    account('DbtrAcct', of.debtorIban) +
    account('CdtrAcct', of.creditorIban)
  return (
    `<TxDtls>${references === '' ? '' : `<Refs>${references}</Refs>`}` +
    `${of.amount === undefined ? '' : `<Amt Ccy="${currency}">${of.amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd>`}` +
    `${parties === '' ? '' : `<RltdPties>${parties}</RltdPties>`}` +
    `${of.remittance === undefined ? '' : `<RmtInf><Ustrd>${of.remittance}</Ustrd></RmtInf>`}` +
    `${of.returnReason === undefined ? '' : `<RtrInf><Rsn><Cd>${of.returnReason}</Cd></Rsn></RtrInf>`}</TxDtls>`
  )
}

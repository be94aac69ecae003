/** Files as banks write them: reports on orders, statements and notifications, around what a test is about. */

const document = (message: string, inner: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:${message}">${inner}</Document>`

export interface StatusFile {
  readonly version?: string
  readonly group?: string
  readonly blocks?: readonly string[]
}

/** A pain.002 about the file `FILE-1`; `group` stands behind the ids of that file. */
export const statusFile = ({ version = '10', group = '', blocks = [] }: StatusFile = {}): string =>
  document(
    `pain.002.001.${version}`,
    `<CstmrPmtStsRpt><GrpHdr><MsgId>REPORT-1</MsgId><CreDtTm>2026-11-24T08:00:00Z</CreDtTm></GrpHdr>
<OrgnlGrpInfAndSts><OrgnlMsgId>FILE-1</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId>${group}</OrgnlGrpInfAndSts>
${blocks.map((block, at) => `<OrgnlPmtInfAndSts><OrgnlPmtInfId>FILE-1-${at + 1}</OrgnlPmtInfId>${block}</OrgnlPmtInfAndSts>`).join('\n')}</CstmrPmtStsRpt>`,
  )

/** A reason of a status. */
export const reason = (code: string, text = ''): string =>
  `<StsRsnInf><Rsn>${code}</Rsn>${text === '' ? '' : `<AddtlInf>${text}</AddtlInf>`}</StsRsnInf>`

/** An order in a status report. */
export const statusOrder = (instructionId: string, inner: string): string =>
  `<TxInfAndSts><OrgnlInstrId>${instructionId}</OrgnlInstrId><OrgnlEndToEndId>E2E</OrgnlEndToEndId>${inner}</TxInfAndSts>`

export const balance = (code: string, amount: string, side = 'CRDT', currency = 'EUR', day = '2026-11-24'): string =>
  `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="${currency}">${amount}</Amt><CdtDbtInd>${side}</CdtDbtInd><Dt><Dt>${day}</Dt></Dt></Bal>`

export interface AccountFile {
  readonly version?: string
  readonly currency?: string | null
  /** What stands before the account: pages, copies. */
  readonly before?: string
  readonly balances?: string
  readonly summary?: string
  readonly entries?: readonly string[]
}

const report = (
  { currency = 'EUR', before = '', balances = '', summary = '', entries = [] }: AccountFile,
  id: string,
) =>
  `<Id>${id}</Id>${before}<CreDtTm>2026-11-25T00:10:00Z</CreDtTm>
<Acct><Id><IBAN>NL77SBOX0100000001</IBAN></Id>${currency === null ? '' : `<Ccy>${currency}</Ccy>`}<Svcr><FinInstnId><BICFI>SBOXNL2A</BICFI></FinInstnId></Svcr></Acct>
${balances}${summary}${entries.join('\n')}`

const HEADER = '<GrpHdr><MsgId>MESSAGE-1</MsgId><CreDtTm>2026-11-25T00:10:00Z</CreDtTm></GrpHdr>'

/** A camt.053 with a statement for each of the arguments. */
export const statementFile = (...statements: readonly AccountFile[]): string =>
  document(
    `camt.053.001.${statements[0]?.version ?? '08'}`,
    `<BkToCstmrStmt>${HEADER}${statements.map((each, at) => `<Stmt>${report(each, `STMT-${at + 1}`)}</Stmt>`).join('')}</BkToCstmrStmt>`,
  )

/** A camt.054 with one notification. */
export const notificationFile = (notification: AccountFile): string =>
  document(
    `camt.054.001.${notification.version ?? '08'}`,
    `<BkToCstmrDbtCdtNtfctn>${HEADER}<Ntfctn>${report(notification, 'NTF-1')}</Ntfctn></BkToCstmrDbtCdtNtfctn>`,
  )

export interface EntryFile {
  readonly amount?: string
  readonly currency?: string
  readonly side?: string
  readonly status?: string
  readonly reversal?: boolean
  readonly charges?: string
  readonly details?: string
  readonly booked?: string
}

/** An entry; `details` is the inside of its `NtryDtls`. */
export const entry = ({
  amount = '10.00',
  currency = 'EUR',
  side = 'CRDT',
  status = 'BOOK',
  reversal = false,
  charges = '',
  details = '',
  booked = '<BookgDt><Dt>2026-11-24</Dt></BookgDt><ValDt><Dt>2026-11-25</Dt></ValDt>',
}: EntryFile = {}): string =>
  `<Ntry><NtryRef>N1</NtryRef><Amt Ccy="${currency}">${amount}</Amt><CdtDbtInd>${side}</CdtDbtInd>${reversal ? '<RvslInd>true</RvslInd>' : ''}<Sts><Cd>${status}</Cd></Sts>${booked}` +
  `<AcctSvcrRef>BANK-1</AcctSvcrRef><BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn><Prtry><Cd>NTRF</Cd></Prtry></BkTxCd>` +
  `${charges}${details === '' ? '' : `<NtryDtls>${details}</NtryDtls>`}<AddtlNtryInf>For people</AddtlNtryInf></Ntry>`

/** A transaction of an entry, with an amount of its own where one is given. */
export const transaction = (references: string, amount: string | null = null, rest = '', currency = 'EUR'): string =>
  `<TxDtls><Refs>${references}</Refs>${amount === null ? '' : `<Amt Ccy="${currency}">${amount}</Amt>`}${rest}</TxDtls>`

import fc from 'fast-check'
import t from 'tap'

import { BankFileError } from '../../../lib/providers/iso20022/bank-file-error.ts'
import { BankFileReading } from '../../../lib/providers/iso20022/bank-file.ts'
import { PART_MAX } from '../../../lib/providers/iso20022/camt-reader.ts'
import type {
  AccountReport,
  BankFileFault,
  BankFileItem,
  ReportEntry,
  StatusReport,
  StatusReportBlock,
  StatusReportOrder,
} from '../../../lib/providers/iso20022/reports.ts'
import { outcomeOf, reasonCodeOf } from '../../../lib/providers/iso20022/statuses.ts'
import {
  balance,
  entry,
  notificationFile,
  reason,
  statementFile,
  statusFile,
  statusOrder,
  transaction,
} from '../../support/bank-files.ts'

const ID = '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'
const HEX = ID.replaceAll('-', '')
const OTHER = 'ffffffffffff4fff8fffffffffffffff'

interface Read {
  readonly reading: BankFileReading
  readonly reports: StatusReport[]
  readonly blocks: StatusReportBlock[]
  readonly orders: StatusReportOrder[]
  readonly accounts: AccountReport[]
  readonly entries: ReportEntry[]
}

/** Reads a file in pieces of a few bytes. */
function read(text: string, size = 11): Read {
  const reading = new BankFileReading()
  const bytes = Buffer.from(text)
  const items: BankFileItem[] = []
  for (let at = 0; at < bytes.length; at += size) items.push(...reading.write(bytes.subarray(at, at + size)))
  items.push(...reading.end())
  return {
    reading,
    reports: items.flatMap((item) => (item.kind === 'status_report' ? [item.report] : [])),
    blocks: items.flatMap((item) => (item.kind === 'status_block' ? [item.block] : [])),
    orders: items.flatMap((item) => (item.kind === 'status_order' ? [item.order] : [])),
    accounts: items.flatMap((item) => (item.kind === 'account_report' ? [item.report] : [])),
    entries: items.flatMap((item) => (item.kind === 'entry' ? [item.entry] : [])),
  }
}

/** Returns the fault of a file and its place; null where it has none. */
function faultOf(
  text: string,
): { readonly fault: BankFileFault; readonly path: string; readonly message: string } | null {
  try {
    read(text)
    return null
  } catch (error) {
    if (!(error instanceof BankFileError)) throw error
    return { fault: error.fault, path: error.path, message: error.message }
  }
}

// ── Status reports
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

t.test('a report tells the status of the file, its blocks and its orders', (t) => {
  const found = read(
    statusFile({
      group: '<OrgnlNbOfTxs>4</OrgnlNbOfTxs><OrgnlCtrlSum>12.34</OrgnlCtrlSum><GrpSts>PART</GrpSts>',
      blocks: [
        `<PmtInfSts>PART</PmtInfSts>${statusOrder(HEX, `<TxSts>RJCT</TxSts>${reason('<Cd>AC04</Cd>', 'Account &amp; closed')}<AcctSvcrRef>B-9</AcctSvcrRef><ClrSysRef>C-9</ClrSysRef>`)}${statusOrder(OTHER, '<TxSts>ACSP</TxSts>')}`,
        `<PmtInfSts>RJCT</PmtInfSts>${reason('<Prtry>X1</Prtry>')}${statusOrder('not-ours', '')}`,
        `<PmtInfSts>PART</PmtInfSts>${statusOrder('silent', '')}`,
        '<PmtInfSts>ACCP</PmtInfSts>',
      ],
    }),
  )
  t.equal(found.reading.message, 'pain.002')
  t.strictSame(found.reports, [
    {
      version: '10',
      messageId: 'REPORT-1',
      createdAt: '2026-11-24T08:00:00Z',
      originalMessageId: 'FILE-1',
      originalMessageName: 'pain.001.001.09',
      originalCount: 4,
      originalSum: '12.34',
      status: 'PART',
      reasons: [],
    },
  ])
  t.strictSame(
    found.blocks.map(({ blockId, status, reasons }) => [blockId, status, reasonCodeOf(reasons)]),
    [
      ['FILE-1-1', 'PART', null],
      ['FILE-1-2', 'RJCT', 'X1'],
      ['FILE-1-3', 'PART', null],
      ['FILE-1-4', 'ACCP', null],
    ],
  )
  const [rejected, pending, wholeBlock, silent] = found.orders
  t.strictSame(rejected, {
    blockId: 'FILE-1-1',
    instructionId: HEX,
    endToEndId: 'E2E',
    uetr: null,
    reference: ID,
    status: 'RJCT',
    reasons: [{ code: 'AC04', isProprietary: false, texts: ['Account & closed'] }],
    bankRef: 'B-9',
    clearingRef: 'C-9',
  })
  t.equal(pending?.status, 'ACSP')
  t.equal(wholeBlock?.status, 'RJCT', 'an order without a status has that of its block')
  t.equal(wholeBlock?.reference, null)
  t.strictSame(wholeBlock?.reasons, [{ code: 'X1', isProprietary: true, texts: [] }])
  t.equal(silent?.status, null, 'partly rejected is no status of an order')
  t.end()
})

t.test('a whole file is rejected without naming its orders', (t) => {
  const found = read(statusFile({ group: `<GrpSts>RJCT</GrpSts>${reason('<Cd>FF01</Cd>')}` }))
  t.equal(found.reports[0]?.status, 'RJCT')
  t.equal(outcomeOf('RJCT', found.reports[0]!.reasons), 'rejected')
  t.strictSame([...found.blocks, ...found.orders], [])
  t.equal(read(statusFile({ version: '03', group: '<GrpSts>ACCP</GrpSts>' })).reports[0]?.version, '03')
  t.end()
})

t.test('an order or block that is rejected with its file has the reason of the file', (t) => {
  const duplicate = `<GrpSts>RJCT</GrpSts>${reason('<Cd>DU01</Cd>')}`
  const found = read(
    statusFile({
      group: duplicate,
      blocks: [
        `<PmtInfSts>RJCT</PmtInfSts>${statusOrder(HEX, '<TxSts>RJCT</TxSts>')}${statusOrder(OTHER, `<TxSts>RJCT</TxSts>${reason('<Cd>AC04</Cd>')}`)}`,
        statusOrder('third', '<TxSts>ACSP</TxSts>'),
        statusOrder('fourth', ''),
      ],
    }),
  )
  t.strictSame(
    found.blocks.map(({ status, reasons }) => [status, reasonCodeOf(reasons)]),
    [
      ['RJCT', 'DU01'],
      [null, null],
      [null, null],
    ],
  )
  t.strictSame(
    found.orders.map(({ status, reasons }) => [status, reasonCodeOf(reasons), outcomeOf(status!, reasons)]),
    [
      ['RJCT', 'DU01', 'unclear'],
      ['RJCT', 'AC04', 'rejected'],
      ['ACSP', null, 'pending'],
      ['RJCT', 'DU01', 'unclear'],
    ],
  )
  t.end()
})

t.test('what each status means', (t) => {
  const codes = (outcome: string) =>
    'RCVD ACTC ACCP ACSP ACWC ACSC ACCC PDNG BLCK PART CANC RJCT ZZZZ'
      .split(' ')
      .filter((code) => outcomeOf(code, []) === outcome)
  t.strictSame(codes('pending'), ['RCVD', 'ACTC', 'ACCP', 'ACSP', 'ACWC', 'PDNG', 'BLCK', 'ZZZZ'])
  t.strictSame(codes('settled'), ['ACSC', 'ACCC'])
  t.strictSame(codes('rejected'), ['CANC', 'RJCT'])
  t.strictSame(codes('partial'), ['PART'])
  const because = (code: string) => [{ code, isProprietary: false, texts: [] }]
  for (const code of ['AM05', 'DUPL', 'DU01', 'DU02', 'DU03', 'DU04'])
    t.equal(outcomeOf('RJCT', because(code)), 'unclear', 'the first sending may have been paid')
  t.equal(outcomeOf('RJCT', because('AC04')), 'rejected')
  t.equal(outcomeOf('ACSC', because('DU03')), 'settled')
  t.equal(reasonCodeOf([{ code: 'OWN', isProprietary: true, texts: [] }, ...because('AC04')]), 'AC04')
  t.equal(reasonCodeOf([]), null)
  t.end()
})

t.test('an order that is named twice counts once, and may not have two statuses', (t) => {
  const twice = (first: string, second: string) =>
    statusFile({ blocks: [statusOrder(HEX, `<TxSts>${first}</TxSts>`) + statusOrder(HEX, `<TxSts>${second}</TxSts>`)] })
  t.equal(read(twice('ACSP', 'ACSP')).orders.length, 1)
  t.match(faultOf(twice('ACSC', 'RJCT')), {
    fault: 'contradiction',
    path: 'CstmrPmtStsRpt/OrgnlPmtInfAndSts/TxInfAndSts',
    message: 'An order is ACSC and RJCT in one report.',
  })
  const endToEnd = '<TxInfAndSts><OrgnlEndToEndId>SAME</OrgnlEndToEndId><TxSts>ACSP</TxSts></TxInfAndSts>'
  t.equal(read(statusFile({ blocks: [endToEnd + endToEnd] })).orders.length, 2, 'payers repeat end-to-end ids')
  t.end()
})

t.test('the stated number of rejected orders is the number that is listed', (t) => {
  const per = (count: number) =>
    `<NbOfTxsPerSts><DtldNbOfTxs>${count}</DtldNbOfTxs><DtldSts>RJCT</DtldSts></NbOfTxsPerSts>`
  const rejected = statusOrder(HEX, '<TxSts>RJCT</TxSts>')
  t.equal(faultOf(statusFile({ group: per(1), blocks: [per(1) + rejected] })), null)
  t.equal(faultOf(statusFile({ group: per(7) })), null, 'a report need not list orders')
  t.equal(
    faultOf(statusFile({ group: per(7), blocks: ['<PmtInfSts>RJCT</PmtInfSts>', rejected] })),
    null,
    'nor those of a block',
  )
  t.match(faultOf(statusFile({ group: per(2), blocks: [rejected] })), { fault: 'sum_mismatch', path: 'CstmrPmtStsRpt' })
  t.match(faultOf(statusFile({ blocks: [per(2) + rejected] })), {
    fault: 'sum_mismatch',
    path: 'CstmrPmtStsRpt/OrgnlPmtInfAndSts',
    message: 'The report says 2 rejected orders and lists 1.',
  })
  t.end()
})

// ── Account reports
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

t.test('a statement has its account, its balances and its entries', (t) => {
  const found = read(
    statementFile({
      before: '<StmtPgntn><PgNb>1</PgNb><LastPgInd>true</LastPgInd></StmtPgntn><ElctrncSeqNb>328</ElctrncSeqNb>',
      balances: balance('OPBD', '5.00', 'DBIT') + balance('CLBD', '5.00') + balance('CLAV', '7.00'),
      entries: [
        entry(),
        entry({ amount: '99.00', status: 'PDNG', side: 'DBIT' }),
        entry({ amount: '1', status: 'INFO', booked: '' }),
      ],
    }),
  )
  t.equal(found.reading.message, 'camt.053')
  t.strictSame(found.accounts, [
    {
      message: 'camt.053',
      version: '08',
      messageId: 'MESSAGE-1',
      id: 'STMT-1',
      sequenceNumber: '328',
      page: { number: 1, isLast: true },
      copy: null,
      createdAt: '2026-11-25T00:10:00Z',
      from: null,
      to: null,
      account: { iban: 'NL77SBOX0100000001' },
      currency: 'EUR',
      servicer: { bic: 'SBOXNL2A', clearing: null, name: null, country: null },
      balances: [
        { code: 'OPBD', signed: -500n, day: '2026-11-24' },
        { code: 'CLBD', signed: 500n, day: '2026-11-24' },
        { code: 'CLAV', signed: 700n, day: '2026-11-24' },
      ],
      openingSigned: -500n,
      closingSigned: 500n,
    },
  ])
  const [first, second, third] = found.entries
  t.strictSame(first, {
    entryRef: 'N1',
    amount: 1_000n,
    currency: 'EUR',
    direction: 'CRDT',
    status: 'BOOK',
    isReversal: false,
    bookedOn: '2026-11-24',
    valueDate: '2026-11-25',
    bankRef: 'BANK-1',
    code: { domain: 'PMNT', family: 'RCDT', subFamily: 'ESCT', proprietary: 'NTRF' },
    charges: [],
    batch: null,
    text: 'For people',
    transactions: [],
    part: { number: 0, isLast: true },
  })
  t.equal(second?.status, 'PDNG', 'an expected entry is no part of the balances')
  t.match(third, { status: 'INFO', amount: 100n, bookedOn: null })
  t.end()
})

t.test('an entry of a payee on a virtual account has the parties and what was sent with the money', (t) => {
  const parties =
    '<RltdPties><Dbtr><Pty><Nm>Jane Doe</Nm><PstlAdr><Ctry>DE</Ctry><AdrLine>Weg 1</AdrLine><AdrLine>Köln</AdrLine></PstlAdr><Id><PrvtId><Othr><Id>77</Id><SchmeNm><Cd>CUST</Cd></SchmeNm></Othr></PrvtId></Id></Pty></Dbtr>' +
    '<DbtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></DbtrAcct><UltmtDbtr><Pty><Nm>Payer</Nm></Pty></UltmtDbtr><Cdtr><Agt><FinInstnId><Nm>A bank</Nm></FinInstnId></Agt></Cdtr>' +
    '<CdtrAcct><Id><Othr><Id>VA-0042</Id><SchmeNm><Prtry>VIRTUAL</Prtry></SchmeNm></Othr></Id></CdtrAcct><UltmtCdtr><Pty><Nm>Payee</Nm></Pty></UltmtCdtr></RltdPties>' +
    '<RltdAgts><DbtrAgt><FinInstnId><BICFI>COBADEFF</BICFI><ClrSysMmbId><ClrSysId><Cd>DEBLZ</Cd></ClrSysId><MmbId>37040044</MmbId></ClrSysMmbId></FinInstnId></DbtrAgt></RltdAgts>' +
    '<Purp><Cd>SALA</Cd></Purp><RmtInf><Ustrd>Invoice</Ustrd><Ustrd>4711</Ustrd><Strd><CdtrRefInf><Ref>RF18539007547034</Ref></CdtrRefInf></Strd></RmtInf><AddtlTxInf>More</AddtlTxInf>'
  const references =
    '<MsgId>M</MsgId><AcctSvcrRef>A</AcctSvcrRef><PmtInfId>P</PmtInfId><InstrId>I</InstrId><EndToEndId>E</EndToEndId><UETR>eb6305c9-1f7f-49de-aed0-16487c27b42d</UETR><TxId>T</TxId><MndtId>D</MndtId><ClrSysRef>C</ClrSysRef><AcctOwnrTxId>O</AcctOwnrTxId><Prtry><Tp>X</Tp><Ref>R</Ref></Prtry>'
  const found = read(
    notificationFile({ currency: null, entries: [entry({ details: transaction(references, '10.00', parties) })] }),
  )
  t.equal(found.accounts[0]?.message, 'camt.054')
  t.equal(found.accounts[0]?.currency, null)
  t.equal(found.accounts[0]?.openingSigned, null)
  t.strictSame(found.entries[0]?.transactions, [
    {
      references: {
        messageId: 'M',
        blockId: 'P',
        instructionId: 'I',
        endToEndId: 'E',
        uetr: 'eb6305c9-1f7f-49de-aed0-16487c27b42d',
        transactionId: 'T',
        mandateId: 'D',
        clearingRef: 'C',
        bankRef: 'A',
        others: ['O', 'R'],
      },
      reference: null,
      amount: 1_000n,
      currency: 'EUR',
      direction: 'CRDT',
      instructed: null,
      code: null,
      charges: [],
      debtor: {
        name: 'Jane Doe',
        address: {
          line1: 'Weg 1',
          line2: 'Köln',
          buildingNumber: null,
          city: null,
          postalCode: null,
          state: null,
          country: 'DE',
        },
        id: { value: '77', scheme: 'CUST', isPrivate: true },
      },
      debtorAccount: { iban: 'DE89370400440532013000' },
      debtorAgent: { bic: 'COBADEFF', clearing: { system: 'DEBLZ', member: '37040044' }, name: null, country: null },
      ultimateDebtor: { name: 'Payer', address: null, id: null },
      creditor: { name: 'A bank', address: null, id: null },
      creditorAccount: { number: 'VA-0042', scheme: 'VIRTUAL' },
      creditorAgent: null,
      ultimateCreditor: { name: 'Payee', address: null, id: null },
      purpose: 'SALA',
      remittance: { unstructured: ['Invoice', '4711'], creditorReference: 'RF18539007547034' },
      returned: null,
      text: 'More',
    },
  ])
  t.end()
})

t.test('a batch has its transactions, whose amounts are those of the entry', (t) => {
  const batch = (stated: number, ...amounts: readonly (string | null)[]) =>
    `<Btch><MsgId>FILE-1</MsgId><PmtInfId>FILE-1-1</PmtInfId><NbOfTxs>${stated}</NbOfTxs></Btch>${amounts.map((amount, at) => transaction(`<InstrId>${at === 0 ? HEX : at}</InstrId>`, amount)).join('')}`
  const debit = (details: string, charges = '') =>
    notificationFile({ entries: [entry({ side: 'DBIT', details, charges })] })
  const [whole] = read(debit(batch(3, '4.00', '5.99', '0.01'))).entries
  t.strictSame(whole?.batch, { messageId: 'FILE-1', blockId: 'FILE-1-1', count: 3 })
  t.strictSame(
    whole?.transactions.map(({ reference, amount, direction }) => [reference, amount, direction]),
    [
      [ID, 400n, 'DBIT'],
      [null, 599n, 'DBIT'],
      [null, 1n, 'DBIT'],
    ],
  )
  t.strictSame(
    read(debit(batch(2, null, null))).entries[0]?.transactions.map(({ amount }) => amount),
    [null, null],
  )
  t.equal(read(debit(batch(1, null))).entries[0]?.transactions[0]?.amount, 1_000n, 'the only one moved the whole')
  t.match(faultOf(debit(batch(3, '4.00', '6.00'))), {
    fault: 'sum_mismatch',
    path: 'BkToCstmrDbtCdtNtfctn/Ntfctn/Ntry/NtryDtls',
  })
  t.match(faultOf(debit(batch(2, '4.00', '6.01'))), {
    fault: 'sum_mismatch',
    path: 'BkToCstmrDbtCdtNtfctn/Ntfctn/Ntry',
    message: 'The transactions of an entry come to 1001, the entry says 1000 (minor units).',
  })
  const charged =
    '<Chrgs><Rcrd><Amt Ccy="EUR">0.50</Amt><ChrgInclInd>true</ChrgInclInd><Tp><Cd>COMM</Cd></Tp></Rcrd></Chrgs>'
  const [withCharges] = read(debit(batch(2, '4.00', '5.50'), charged)).entries
  t.strictSame(withCharges?.charges, [
    { amount: 50n, currency: 'EUR', direction: 'DBIT', isIncluded: true, code: 'COMM' },
  ])
  t.equal(faultOf(debit(batch(2, '4.00', '5.50'), charged.replace('true', 'false')))?.fault, 'sum_mismatch')
  t.end()
})

t.test('a long batch comes in parts that can each be handled alone', (t) => {
  const count = 2 * PART_MAX + 1
  const details = Array.from({ length: count }, (_, at) => transaction(`<EndToEndId>${at}</EndToEndId>`, '0.01')).join(
    '',
  )
  const { entries } = read(
    statementFile({
      balances: balance('OPBD', '0.00') + balance('CLBD', '10.01'),
      summary: '<TxsSummry><TtlNtries><NbOfNtries>1</NbOfNtries><Sum>10.01</Sum></TtlNtries></TxsSummry>',
      entries: [entry({ amount: '10.01', details: `<Btch><NbOfTxs>${count}</NbOfTxs></Btch>${details}` })],
    }),
    4_096,
  )
  t.strictSame(
    entries.map(({ part, transactions, amount, batch, text }) => [
      part.number,
      part.isLast,
      transactions.length,
      amount,
      batch?.count,
      text,
    ]),
    [
      [0, false, PART_MAX, 1_001n, count, null],
      [1, false, PART_MAX, 1_001n, count, null],
      [2, true, 1, 1_001n, count, 'For people'],
    ],
  )
  t.equal(entries[2]?.transactions[0]?.references.endToEndId, String(count - 1))
  t.end()
})

t.test('returns, reversals and exchanges say what they were', (t) => {
  const returned =
    '<RtrInf><OrgnlBkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></OrgnlBkTxCd><Rsn><Cd>AC04</Cd></Rsn><AddtlInf>Closed</AddtlInf></RtrInf>'
  const exchanged = '<AmtDtls><InstdAmt><Amt Ccy="USD">12.00</Amt></InstdAmt></AmtDtls>'
  const { entries } = read(
    statementFile({
      balances: balance('PRCD', '0.00') + balance('CLBD', '15.00'),
      entries: [
        entry({ details: transaction(`<InstrId>${HEX}</InstrId>`, '10.00', returned) }),
        entry({ amount: '5.00', side: 'DBIT', reversal: true }),
        entry({ details: transaction('<EndToEndId>NOTPROVIDED</EndToEndId>', '12.00', '', 'USD') }),
        entry({ side: 'DBIT', details: transaction('<EndToEndId>1</EndToEndId>', '10.00', exchanged) }),
        entry({ details: transaction('<EndToEndId>2</EndToEndId>', '11.00') }),
      ],
    }),
  )
  const [back, reversal, credit, debit, less] = entries
  t.strictSame(back?.transactions[0]?.returned, {
    reason: { code: 'AC04', isProprietary: false, texts: ['Closed'] },
    originalCode: { domain: 'PMNT', family: 'ICDT', subFamily: 'ESCT', proprietary: null },
  })
  t.equal(back?.transactions[0]?.reference, ID, 'the reference of the order that came back')
  t.match(reversal, { isReversal: true, direction: 'DBIT', amount: 500n })
  t.match(credit?.transactions[0], { amount: 1_000n, currency: 'EUR', instructed: { amount: 1_200n, currency: 'USD' } })
  t.match(debit?.transactions[0], { amount: 1_000n, instructed: { amount: 1_200n, currency: 'USD' } })
  t.match(
    less?.transactions[0],
    { amount: 1_000n, instructed: { amount: 1_100n, currency: 'EUR' } },
    'charges on the way',
  )
  t.end()
})

t.test('currencies have the decimals that they have', (t) => {
  const statement = (currency: string, opening: string, amount: string, closing: string) =>
    statementFile({
      currency,
      balances: balance('OPBD', opening, 'CRDT', currency) + balance('CLBD', closing, 'CRDT', currency),
      entries: [entry({ amount, currency })],
    })
  const amounts = (text: string) => [read(text).accounts[0]?.openingSigned, read(text).entries[0]?.amount]
  t.strictSame(amounts(statement('JPY', '100', '5', '105')), [100n, 5n])
  t.strictSame(amounts(statement('JPY', '100.00', '5.0', '105.00')), [100n, 5n], 'zeros behind the point')
  t.strictSame(amounts(statement('KWD', '0.001', '9.9', '9.901')), [1n, 9_900n])
  t.strictSame(amounts(statement('EUR', '9007199254740993.01', '0.01', '9007199254740993.02')), [
    900719925474099301n,
    1n,
  ])
  const place = 'BkToCstmrStmt/Stmt/Ntry/Amt'
  t.match(faultOf(statement('JPY', '1', '0.5', '1')), { fault: 'invalid_value', path: place })
  t.match(faultOf(statement('EUR', '1', '0.001', '1')), { fault: 'invalid_value', path: place })
  t.match(faultOf(statement('EUR', '1', '-1', '1')), { fault: 'invalid_value', path: place })
  t.match(faultOf(statement('EUR', '1', '1e2', '1')), { fault: 'invalid_value', path: place })
  t.match(faultOf(statementFile({ entries: [entry({ currency: 'XXX' })] })), { fault: 'invalid_value', path: place })
  t.match(faultOf(statementFile({ entries: [entry({ currency: 'USD' })] })), {
    fault: 'invalid_value',
    path: 'BkToCstmrStmt/Stmt/Ntry',
  })
  t.match(faultOf(statementFile({ balances: balance('OPBD', '1', 'CRDT', 'USD') })), { path: 'BkToCstmrStmt/Stmt/Bal' })
  t.end()
})

t.test('entries, summaries and balances agree', (t) => {
  const entries = [entry(), entry({ side: 'DBIT', amount: '4.00' }), entry({ status: 'PDNG', amount: '3.00' })]
  const balances = balance('OPBD', '0.00') + balance('CLBD', '6.00')
  const summed = (summary: string) => statementFile({ balances, entries, summary: `<TxsSummry>${summary}</TxsSummry>` })
  const booked =
    '<TtlNtries><NbOfNtries>2</NbOfNtries><Sum>14.00</Sum><TtlNetNtry><Amt>6.00</Amt><CdtDbtInd>CRDT</CdtDbtInd></TtlNetNtry></TtlNtries><TtlCdtNtries><NbOfNtries>1</NbOfNtries><Sum>10</Sum></TtlCdtNtries><TtlDbtNtries><NbOfNtries>1</NbOfNtries><Sum>4</Sum></TtlDbtNtries>'
  t.equal(faultOf(summed(booked)), null)
  t.equal(faultOf(summed('<TtlNtries><NbOfNtries>3</NbOfNtries><Sum>17.00</Sum></TtlNtries>')), null, 'of all entries')
  t.match(faultOf(summed(booked.replace('14.00', '14.01'))), {
    fault: 'sum_mismatch',
    path: 'BkToCstmrStmt/Stmt/TxsSummry/TtlNtries',
  })
  t.match(faultOf(summed(booked.replace('<NbOfNtries>2<', '<NbOfNtries>4<'))), { fault: 'sum_mismatch' })
  t.match(faultOf(summed(booked.replace('6.00', '5.00'))), {
    fault: 'sum_mismatch',
    path: 'BkToCstmrStmt/Stmt/TxsSummry/TtlNtries/TtlNetNtry',
  })
  t.match(faultOf(summed(booked.replace('<Sum>4<', '<Sum>5<'))), { path: 'BkToCstmrStmt/Stmt/TxsSummry/TtlDbtNtries' })
  t.match(faultOf(statementFile({ balances: balance('OPBD', '0.00') + balance('CLBD', '6.01'), entries })), {
    fault: 'sum_mismatch',
    path: 'BkToCstmrStmt/Stmt',
    message: 'The opening balance and the booked entries come to 600, the closing balance is 601 (minor units).',
  })
  t.end()
})

t.test('a statement may have several accounts, days or pages', (t) => {
  const two = read(statementFile({ entries: [entry()] }, { entries: [entry({ currency: 'USD' })], currency: 'USD' }))
  t.strictSame(
    two.accounts.map(({ id, currency }) => [id, currency]),
    [
      ['STMT-1', 'EUR'],
      ['STMT-2', 'USD'],
    ],
  )
  t.strictSame(
    two.entries.map(({ currency }) => currency),
    ['EUR', 'USD'],
  )

  const days =
    balance('CLBD', '11.00', 'CRDT', 'EUR', '2026-11-25') +
    balance('OPBD', '1.00', 'CRDT', 'EUR', '2026-11-24') +
    balance('OPBD', '5.00', 'CRDT', 'EUR', '2026-11-25') +
    balance('CLBD', '5.00', 'CRDT', 'EUR', '2026-11-24')
  t.match(read(statementFile({ balances: days, entries: [entry()] })).accounts[0], {
    openingSigned: 100n,
    closingSigned: 1_100n,
  })

  const page = (number: number, isLast: boolean) =>
    `<StmtPgntn><PgNb>${number}</PgNb><LastPgInd>${isLast}</LastPgInd></StmtPgntn>`
  const summary = '<TxsSummry><TtlNtries><NbOfNtries>3</NbOfNtries></TtlNtries></TxsSummry>'
  const pages = [
    {
      before: page(1, false),
      balances: balance('OPBD', '1.00') + balance('ITBD', '11.00'),
      summary,
      entries: [entry()],
    },
    { before: page(2, false), balances: balance('ITBD', '11.00') + balance('ITBD', '21.00'), entries: [entry()] },
    {
      before: page(3, true),
      balances: balance('ITBD', '21.00') + balance('CLBD', '31.00'),
      summary,
      entries: [entry()],
    },
  ]
  t.strictSame(
    pages.map((each) =>
      read(statementFile(each)).accounts.map((account) => [account.openingSigned, account.closingSigned]),
    ),
    [[[100n, 1_100n]], [[1_100n, 2_100n]], [[2_100n, 3_100n]]],
  )
  t.equal(
    faultOf(statementFile({ ...pages[1]!, balances: balance('ITBD', '11.00') + balance('ITBD', '22.00') }))?.fault,
    'sum_mismatch',
  )
  t.equal(read(statementFile({ before: '<CpyDplctInd>DUPL</CpyDplctInd>' })).accounts[0]?.copy, 'DUPL')
  t.end()
})

t.test('versions before 8 write statuses, charges and parties in another form', (t) => {
  const old = statementFile({
    version: '02',
    entries: [
      entry({
        charges: '<Chrgs><Amt Ccy="EUR">0.30</Amt><CdtDbtInd>DBIT</CdtDbtInd></Chrgs>',
        details: transaction(
          '<EndToEndId>E</EndToEndId>',
          null,
          '<AmtDtls><TxAmt><Amt Ccy="EUR">10.00</Amt></TxAmt></AmtDtls><RltdPties><Dbtr><Nm>Jane</Nm></Dbtr></RltdPties><RltdAgts><DbtrAgt><FinInstnId><BIC>COBADEFF</BIC></FinInstnId></DbtrAgt></RltdAgts>',
        ),
      }).replace('<Sts><Cd>BOOK</Cd></Sts>', '<Sts>BOOK</Sts>'),
    ],
  })
  t.match(read(old).entries[0], {
    status: 'BOOK',
    charges: [{ amount: 30n, isIncluded: false }],
    transactions: [{ amount: 1_000n, debtor: { name: 'Jane' }, debtorAgent: { bic: 'COBADEFF' } }],
  })
  t.end()
})

// ── Any file
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

t.test('a file that cannot be used is refused with its fault and the place', (t) => {
  const statement = statementFile({ entries: [entry()] })
  const changed = (from: string | RegExp, to: string) => statement.replace(from, to)
  const status = statusFile({ blocks: [statusOrder(HEX, '')] })
  const refused: readonly (readonly [
    what: string,
    file: string,
    fault: BankFileFault,
    message: RegExp,
    path?: string,
  ])[] = [
    ['nothing', '', 'empty_file', /nothing in the file/],
    ['no XML', 'hello', 'not_well_formed', /no well-formed XML/],
    ['half a file', statement.slice(0, -40), 'not_well_formed', /no well-formed XML/],
    ['text between elements', changed('<Ntry>', 'x<Ntry>'), 'not_well_formed', /has text/, 'BkToCstmrStmt/Stmt'],
    ['a document type', changed('<Document', '<!DOCTYPE Document><Document'), 'not_well_formed', /document type/],
    [
      'an entity',
      changed('<Document', '<!DOCTYPE Document [<!ENTITY a SYSTEM "file:///etc/passwd">]><Document'),
      'not_well_formed',
      /document type/,
    ],
    ['an unknown entity', changed('For people', '&a;'), 'not_well_formed', /no well-formed XML/],
    [
      'another namespace',
      changed('urn:iso:std:iso:20022:tech:xsd:camt.053.001.08', 'urn:other'),
      'unsupported_message',
      /no message of ISO 20022/,
    ],
    ['no namespace', changed(/ xmlns="[^"]*"/, ''), 'unsupported_message', /no message of ISO 20022/],
    [
      'another message',
      changed('camt.053.001.08', 'camt.052.001.08'),
      'unsupported_message',
      /camt\.052\.001\.08 is not read/,
    ],
    [
      'another version',
      changed('camt.053.001.08', 'camt.053.001.99'),
      'unsupported_message',
      /camt\.053\.001\.02\/04\/08/,
    ],
    [
      'another element',
      changed(/BkToCstmrStmt>/g, 'BkToCstmrAcctRpt>'),
      'unsupported_message',
      /is not the element of camt\.053/,
      'BkToCstmrAcctRpt',
    ],
    [
      'two messages',
      changed('</Document>', '<BkToCstmrStmt/></Document>'),
      'contradiction',
      /two messages/,
      'BkToCstmrStmt',
    ],
    ['no message', changed(/<BkToCstmrStmt>[^]*<\/BkToCstmrStmt>/, ''), 'missing_element', /no message in it/],
    ['no statement', changed(/<Stmt>[^]*<\/Stmt>/, ''), 'missing_element', /no Stmt/, 'BkToCstmrStmt'],
    ['no header', changed(/<GrpHdr>[^]*<\/GrpHdr>/, ''), 'missing_element', /no GrpHdr/],
    ['no id', changed('<Id>STMT-1</Id>', ''), 'missing_element', /has no Id/, 'BkToCstmrStmt/Stmt'],
    ['no account', changed(/<Acct>[^]*<\/Acct>/, ''), 'missing_element', /no account/],
    ['no amount', changed(/<Amt [^]*?<\/Amt>/, ''), 'missing_element', /no Amt/, 'BkToCstmrStmt/Stmt/Ntry'],
    ['no direction', changed(/<CdtDbtInd>CRDT<\/CdtDbtInd>/, ''), 'missing_element', /no CdtDbtInd/],
    [
      'another direction',
      changed('<CdtDbtInd>CRDT<', '<CdtDbtInd>BOTH<'),
      'invalid_value',
      /none of CRDT, DBIT/,
      'BkToCstmrStmt/Stmt/Ntry/CdtDbtInd',
    ],
    [
      'another status',
      changed('<Cd>BOOK<', '<Cd>DONE<'),
      'invalid_value',
      /none of BOOK/,
      'BkToCstmrStmt/Stmt/Ntry/Sts/Cd',
    ],
    ['no day', changed(/<BookgDt>.*<\/ValDt>/, ''), 'missing_element', /neither BookgDt nor ValDt/],
    [
      'another day',
      changed('<Dt>2026-11-24</Dt>', '<Dt>24.11.26</Dt>'),
      'invalid_value',
      /no date/,
      'BkToCstmrStmt/Stmt/Ntry/BookgDt',
    ],
    [
      'another currency',
      changed('<Ccy>EUR<', '<Ccy>eur<'),
      'invalid_value',
      /no currency/,
      'BkToCstmrStmt/Stmt/Acct/Ccy',
    ],
    [
      'a long text',
      changed('For people', 'x'.repeat(5_000)),
      'too_large',
      /at most 4096/,
      'BkToCstmrStmt/Stmt/Ntry/AddtlNtryInf',
    ],
    [
      'a deep file',
      changed('For people', `${'<a>'.repeat(70)}${'</a>'.repeat(70)}`),
      'not_well_formed',
      /at most 64 deep/,
    ],
    ['a wide element', changed('For people', '<a/>'.repeat(6_000)), 'too_large', /at most 5000/],
    [
      'a report without a file',
      status.replace(/<OrgnlGrpInfAndSts>[^]*<\/OrgnlGrpInfAndSts>/, ''),
      'missing_element',
      /no OrgnlGrpInfAndSts/,
    ],
    [
      'a report about two files',
      status.replace(/<OrgnlGrpInfAndSts>[^]*<\/OrgnlGrpInfAndSts>/, '$&$&'),
      'contradiction',
      /two files/,
    ],
    [
      'a block without an id',
      status.replace(/<OrgnlPmtInfId>.*?<\/OrgnlPmtInfId>/, ''),
      'missing_element',
      /no OrgnlPmtInfId/,
    ],
    [
      'an order without an id',
      status.replace(/<OrgnlInstrId>.*<\/OrgnlEndToEndId>/, ''),
      'missing_element',
      /no OrgnlInstrId/,
    ],
  ]
  for (const [what, file, fault, message, path] of refused) {
    const found = faultOf(file)
    t.equal(found?.fault, fault, what)
    t.match(found?.message, message, what)
    if (path !== undefined) t.equal(found?.path, path, what)
  }
  t.equal(faultOf(statement), null)
  t.equal(faultOf(status), null)
  t.end()
})

t.test('a fault says the line', (t) => {
  const text = statementFile({ entries: [entry(), entry({ amount: 'x' })] })
  const line = text.slice(0, text.indexOf('>x<')).split('\n').length
  try {
    read(text)
    t.fail('the file was read')
  } catch (error) {
    t.equal((error as BankFileError).line, line)
  }
  const bytes = Buffer.from(text.replace('For people', 'Köln'), 'latin1')
  t.throws(() => new BankFileReading().write(bytes), { fault: 'bad_encoding', message: 'The file is not UTF-8.' })
  t.end()
})

t.test('a damaged file is read or refused, and nothing else', (t) => {
  const files = [
    statementFile({
      balances: balance('OPBD', '0.00') + balance('CLBD', '10.00'),
      summary:
        '<TxsSummry><TtlNtries><NbOfNtries>1</NbOfNtries><TtlNetNtry><Amt>10</Amt><CdtDbtInd>CRDT</CdtDbtInd></TtlNetNtry></TtlNtries></TxsSummry>',
      entries: [
        entry({ details: `<Btch><NbOfTxs>1</NbOfTxs></Btch>${transaction(`<InstrId>${HEX}</InstrId>`, '10.00')}` }),
      ],
    }),
    statusFile({
      group: '<GrpSts>PART</GrpSts>',
      blocks: [statusOrder(HEX, `<TxSts>RJCT</TxSts>${reason('<Cd>AC04</Cd>')}`)],
    }),
  ]
  const outcomes = new Set<string>()
  // Each element with what is in it, wherever it begins.
  const elements = /(?=(<(\w+)[^>]*>[^]*?<\/\2>))/g
  fc.assert(
    fc.property(
      fc.constantFrom(...files),
      fc.nat(),
      fc.nat(),
      fc.constantFrom('drop', 'empty', 'move', 'repeat'),
      (file, at, to, change) => {
        const found = [...file.matchAll(elements)]
        const [, text, name] = found[at % found.length] as unknown as [string, string, string]
        const target = found[to % found.length]![1]!
        const without = file.replace(text, () => '')
        const damaged = {
          drop: without,
          empty: file.replace(text, () => `<${name}/>`),
          move: without.replace(target, () => target + text),
          repeat: file.replace(text, () => text + text),
        }[change]
        outcomes.add(faultOf(damaged)?.fault ?? 'read')
      },
    ),
    { numRuns: 400, seed: 22 },
  )
  for (const outcome of [
    'contradiction',
    'invalid_value',
    'missing_element',
    'read',
    'sum_mismatch',
    'unsupported_message',
  ])
    t.ok(outcomes.has(outcome), outcome)
  t.end()
})

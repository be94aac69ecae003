import t from 'tap'
import {
  groupStatus,
  pain002End,
  pain002Head,
  pain002Rows,
  transactionStatus,
  type StatusReportHead,
} from '../../../lib/bulk-payments/pain002.ts'
import { reasonOf, REPORT_COLUMNS, reportCells, type ReportRow } from '../../../lib/bulk-payments/report.ts'
import type { PaymentStatus } from '../../../lib/payments/payment.ts'
import { csvWriter } from '../../../lib/statements/table.ts'
import { pain002Errors } from '../../support/pain002-rules.ts'

const row = (change: Partial<ReportRow> = {}): ReportRow => ({
  rowNumber: 1,
  line: 2,
  status: 'valid',
  failureCode: null,
  payment: null,
  mandateId: null,
  collectionId: null,
  recipientName: 'Lumen GmbH',
  maskedIdentifier: 'NL77****0001',
  currency: 'EUR',
  amount: 12_345n,
  fee: 0n,
  feeTax: null,
  feeCurrency: 'EUR',
  rail: 'sepa',
  reference: 'Invoice 42',
  executionDate: '2026-12-01',
  externalId: 'INV-42',
  endToEndId: null,
  paymentInformationId: null,
  errors: [],
  warnings: [],
  ...change,
})
const payment = (status: PaymentStatus, change: Partial<NonNullable<ReportRow['payment']>> = {}) =>
  row({
    status: 'submitted',
    payment: {
      id: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
      number: 'PAY0000000001',
      status,
      failureCode: null,
      returnReason: null,
      ...change,
    },
  })
const HEAD: StatusReportHead = {
  id: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
  createdAt: Date.UTC(2026, 10, 22),
  original: { id: 'MSG-1', name: 'pain.001.001.09' },
  counts: { ACSC: 1 },
  fileErrors: [],
}

function report(rows: readonly ReportRow[], head: Partial<StatusReportHead> = {}, cut = rows.length): string {
  const whole = { ...HEAD, ...head }
  const first = pain002Rows(whole, rows.slice(0, cut), null)
  const second = pain002Rows(whole, rows.slice(cut), first.last)
  return pain002Head(whole) + first.text + second.text + pain002End(second.last)
}

t.test('each row has the status of its payment, or of itself while it has none', async (t) => {
  t.strictSame(
    (
      [
        'pending_approval',
        'scheduled',
        'on_hold',
        'processing',
        'exception',
        'completed',
        'failed',
        'returned',
        'rejected',
        'cancelled',
      ] as const
    ).map((status) => transactionStatus(payment(status))),
    ['PDNG', 'PDNG', 'PDNG', 'ACSP', 'ACSP', 'ACSC', 'RJCT', 'RJCT', 'RJCT', 'CANC'],
  )
  t.strictSame(
    (['pending', 'valid', 'submitting', 'invalid'] as const).map((status) => transactionStatus(row({ status }))),
    ['ACTC', 'ACTC', 'PDNG', 'RJCT'],
  )
  t.strictSame(
    [
      transactionStatus(row({ status: 'failed', failureCode: 'cancelled' })),
      transactionStatus(row({ status: 'failed', failureCode: 'insufficient_funds' })),
    ],
    ['CANC', 'RJCT'],
  )
})

t.test('the whole is rejected, partly taken, taken as a file or taken as payments', async (t) => {
  t.equal(groupStatus({}), 'RJCT', 'nothing could be read')
  t.equal(groupStatus({ RJCT: 2, CANC: 1 }), 'RJCT')
  t.equal(groupStatus({ RJCT: 1, ACSC: 5 }), 'PART')
  t.equal(groupStatus({ ACTC: 4 }), 'ACTC')
  t.equal(groupStatus({ ACTC: 4, ACSP: 1 }), 'ACCP')
  t.equal(groupStatus({ ACSC: 1, PDNG: 1 }), 'ACCP')
})

t.test('a reason is ISO 20022’s where it has one, and ours where it has none', async (t) => {
  const said = (each: ReportRow) => {
    const why = reasonOf(each)
    return why === null ? null : [why.iso, why.word]
  }
  t.equal(said(payment('completed')), null)
  t.strictSame(said(payment('failed', { failureCode: 'account_closed' })), ['AC04', 'account_closed'])
  t.strictSame(
    said(payment('returned', { returnReason: 'AC06' })),
    ['AC06', 'account_blocked'],
    'a return says the scheme’s own reason',
  )
  t.strictSame(said(payment('rejected')), [null, 'rejected'])
  t.strictSame(said(row({ status: 'failed', failureCode: 'insufficient_funds' })), ['AM04', 'insufficient_funds'])
  t.strictSame(said(row({ status: 'failed', failureCode: 'submission_stalled' })), [null, 'submission_stalled'])
  t.strictSame(
    said(row({ status: 'invalid', errors: [{ column: 'iban', code: 'invalid_checksum' as never, message: 'x' }] })),
    ['AC01', 'invalid_checksum'],
  )
  t.strictSame(
    said(row({ status: 'invalid', errors: [{ column: 'recipient_id', code: 'recipient_not_found', message: 'x' }] })),
    ['AC03', 'recipient_not_found'],
  )
})

t.test('pain.002 is as its schema wants it, whatever the rows say', async (t) => {
  const rows = [
    payment('completed'),
    payment('failed', { failureCode: 'account_closed' }),
    payment('cancelled'),
    row({ status: 'failed', failureCode: 'approval_expired', paymentInformationId: 'P-1', endToEndId: 'E-1' }),
    row({
      status: 'invalid',
      paymentInformationId: 'P-2',
      externalId: 'x'.repeat(64),
      currency: null,
      amount: null,
      executionDate: null,
      errors: Array.from({ length: 9 }, () => ({
        column: 'amount',
        code: 'required' as const,
        message: 'Say & <say>'.repeat(40),
      })),
    }),
    row({
      status: 'invalid',
      paymentInformationId: 'P-2',
      externalId: null,
      reference: '\ud800',
      currency: 'JPY',
      amount: 5n,
    }),
  ]
  for (let cut = 0; cut <= rows.length; cut++)
    t.strictSame(
      pain002Errors(report(rows, { counts: { ACSC: 1, RJCT: 4, CANC: 1 } }, cut)),
      [],
      `in two pieces, cut at ${cut}`,
    )
  const xml = report(rows)
  t.strictSame(
    [...xml.matchAll(/<OrgnlPmtInfId>([^<]*)/g)].map(([, id]) => id),
    ['MSG-1', 'P-1', 'P-2'],
    'a row without a block stands under the file',
  )
  t.match(
    xml,
    '<TxSts>RJCT</TxSts><StsRsnInf><Rsn><Cd>AC04</Cd></Rsn><AddtlInf>account_closed</AddtlInf></StsRsnInf><AcctSvcrRef>PAY0000000001</AcctSvcrRef><OrgnlTxRef><Amt><InstdAmt Ccy="EUR">123.45</InstdAmt></Amt>',
  )
  t.match(xml, '<Prtry>approval_expired</Prtry>')
  t.match(xml, '<InstdAmt Ccy="JPY">5</InstdAmt>')
  const broken = report([], {
    counts: {},
    fileErrors: [
      { line: 3, code: 'control_sum_mismatch', message: 'x'.repeat(300) },
      { line: null, code: 'not_well_formed', message: '<&>' },
    ],
  })
  t.strictSame(pain002Errors(broken), [])
  t.match(broken, /<GrpSts>RJCT<\/GrpSts><StsRsnInf><Rsn><Cd>AM10<\/Cd>.*<Cd>FF01<\/Cd>/)
  t.match(
    pain002Errors(xml.replace('<TxSts>ACSC', '<TxSts>DONE')),
    [/TxSts says DONE/],
    'and the rules do find what is wrong',
  )
})

t.test('no cell of the table begins a formula', async (t) => {
  const write = csvWriter({ timezone: 'UTC', decimalSeparator: '.' })
  const text = write(
    reportCells(
      row({
        recipientName: '=HYPERLINK("http://x")',
        reference: '+49 30',
        externalId: '-5',
        endToEndId: '@SUM(A1)',
        status: 'invalid',
        errors: [{ column: 'amount', code: 'required', message: 'a; b, "c"' }],
      }),
    ),
  )
  t.match(text, `"'=HYPERLINK(""http://x"")"`)
  for (const cell of [`'+49 30`, `'-5`, `'@SUM(A1)`]) t.match(text, `,${cell},`)
  t.match(text, '"required (amount: a; b, ""c"")"')
  t.equal(reportCells(row()).length, REPORT_COLUMNS.length)
  t.notMatch(text.replaceAll(/"(?:[^"]|"")*"/g, ''), /,[=+@\t-]/)
})

/** Templates of bulk files, and reports on what became of them. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { BulkPayment } from '../../../lib/bulk-payments/bulk-payment-schema.ts'
import type { DownloadLink } from '../../../lib/contract/download-link.ts'
import { REPORT_COLUMNS } from '../../../lib/bulk-payments/report.ts'
import { bulkReader, pain001 } from '../../support/bulk-file.ts'
import type { Client } from '../../support/client.ts'
import { pain002Errors } from '../../support/pain002-rules.ts'
import { createWorld } from '../../support/world.ts'
import { faults, rowsOf, sendFile, table, uploaded } from './support.ts'
import { checked, row, submitted } from './submitting.ts'

const world = await createWorld()
t.teardown(() => world[Symbol.asyncDispose]())
const { client, recipients, balances } = world.seeded

async function report(
  of: Client,
  { id }: Pick<BulkPayment, 'id'>,
  format = 'csv',
): Promise<{ readonly link: DownloadLink; readonly text: string }> {
  const reply = await of.get<DownloadLink>(`/bulk-payments/${id}/report?format=${format}`)
  if (reply.status !== 200) throw new Error(reply.text)
  const file = await fetch(reply.body.url)
  if (file.status !== 200) throw new Error(await file.text())
  return { link: reply.body, text: await file.text() }
}

/**
 * Lines of a table as objects by its first line; no cell of these tests has a comma of its own outside the last two.
 */
function lines(text: string): Record<string, string>[] {
  const [head, ...rest] = text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','))
  return rest.map((cells) => Object.fromEntries(head!.map((name, nth) => [name, cells[nth] ?? ''])))
}
const filesOf = (id: string) =>
  world.query<{ format: string; file_id: string }>(
    'select format, file_id from bulk_payment_report where bulk_payment_id = $1 order by format',
    [id],
  )

t.test('a template is read without a fault as it is, and paid when it is filled in', async (t) => {
  await using reader = bulkReader()
  for (const format of ['csv', 'xlsx']) {
    const reply = await client.download(`/bulk-payments/templates/${format}`)
    t.match(reply.headers.get('content-disposition'), `filename="bulk-payments.${format}"`)
    const { rows, errors } = await reader.read(reply.bytes)
    t.strictSame([errors, rows.length, rows.flatMap((each) => each.faults)], [[], 4, []])
    const filled =
      format === 'csv'
        ? reply.bytes.toString().replace('01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f', recipients.EUR)
        : reply.bytes
    const bulk = await uploaded(client, filled, {
      fileName: `payments.${format}`,
      fields: { createMissingRecipients: 'true' },
    })
    // Two of the accounts are recipients already; the one that a key makes waits for its approval, and that is all
    // there is against it.
    t.strictSame(faults(await rowsOf(client, bulk)), [
      format === 'csv' ? [] : ['recipient_id recipient_not_found'],
      [],
      ['recipient_id recipient_not_approved'],
      [],
    ])
  }
  t.match((await client.get('/bulk-payments/templates/pdf')).problem, {
    status: 400,
    errors: [{ field: 'path.format' }],
  })
})

t.test('the table tells of every row, and is the same file until something changes', async (t) => {
  const customer = await world.customer({ balances: [{ currency: 'EUR', amount: 100_000n }] })
  const sbx = customer.recipients.EUR
  const file = table(
    ['recipient_id', 'currency', 'amount', 'reference', 'external_id', 'recipient_name'],
    [sbx, 'EUR', '10.00', 'Invoice 1', 'A-1', ''],
    [sbx, 'EUR', '5000.00', 'Invoice 2', '', ''],
    ['', 'EUR', '-1', '+49', '@A-3', '=cmd'],
  )
  const bulk = await uploaded(customer.client, file)
  t.equal(bulk.status, 'ready')
  const before = await report(customer.client, bulk)
  t.match(before.link, { contentType: 'text/csv; charset=utf-8', fileName: `bulk-payment-${bulk.number}.csv` })
  t.strictSame(
    lines(before.text).map(({ row_number, line, status }) => [row_number, line, status]),
    [
      ['1', '2', 'valid'],
      ['2', '3', 'valid'],
      ['3', '4', 'invalid'],
    ],
  )
  t.match(before.text, `,'=cmd,`)
  t.match(before.text, `,'+49,`)
  t.match(before.text, `,'@A-3,`)
  t.match(before.text, 'amount invalid_format'.replace('amount ', ''))
  await report(customer.client, bulk)
  const [kept] = await filesOf(bulk.id)
  t.strictSame(await filesOf(bulk.id), [kept])

  const ended = await submitted(customer.client, bulk.id)
  t.equal(ended.status, 'partially_submitted')
  const {
    data: [payment],
  } = (
    await customer.client.list<{ readonly id: string; readonly number: string }>('/payments', {
      'filter[bulkPaymentId]': bulk.id,
    })
  ).body
  const after = lines((await report(customer.client, bulk)).text)
  t.match(after, [
    {
      status: 'submitted',
      payment_id: payment!.id,
      payment_number: payment!.number,
      failure_code: '',
      external_id: 'A-1',
      amount: '10.00',
    },
    { status: 'failed', payment_id: '', payment_number: '', failure_code: 'insufficient_funds', amount: '5000.00' },
    { status: 'invalid' },
  ])
  t.not((await filesOf(bulk.id))[0]!.file_id, kept!.file_id)
  world.advance(3_000)
  await customer.client.paymentReaching(payment!.id, 'completed')
  t.match(
    lines((await report(customer.client, bulk)).text),
    [{ payment_status: 'completed' }],
    'a payment that goes on is a change',
  )
  world.advance(61 * 60_000)
  t.equal(lines((await report(customer.client, bulk)).text).length, 3, 'a file that is gone is written anew')
})

t.test('pain.002 answers the message by the names that its sender gave', async (t) => {
  const customer = await world.customer({ balances: [{ currency: 'EUR', amount: 100_000n }] })
  const transfer = (
    end: string,
    amount: string,
    iban = 'NL77SBOX0100000001',
  ) => `<CdtTrfTxInf><PmtId><InstrId>I-${end}</InstrId><EndToEndId>${end}</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">${amount}</InstdAmt></Amt>
    <Cdtr><Nm>Amsterdam Trading BV</Nm></Cdtr><CdtrAcct><Id><IBAN>${iban}</IBAN></Id></CdtrAcct><RmtInf><Ustrd>Bill</Ustrd></RmtInf></CdtTrfTxInf>`
  const block = (id: string, transfers: string) =>
    `<PmtInf><PmtInfId>${id}</PmtInfId><PmtMtd>TRF</PmtMtd><ReqdExctnDt><Dt>${new Date(world.now() + 2 * 86_400_000).toISOString().slice(0, 10)}</Dt></ReqdExctnDt>${transfers}</PmtInf>`
  const message = pain001(
    block('P-1', transfer('E-1', '10.00') + transfer('E-2', '20.00')) +
      block('P-2', transfer('NOTPROVIDED', '30.00', 'NL77SBOX0100000002')),
    { version: '09', count: '3', id: 'MSG-REPORT' },
  )
  const bulk = await uploaded(customer.client, message, { fileName: 'payments.xml' })
  const { text, link } = await report(customer.client, bulk, 'pain002')
  t.strictSame(pain002Errors(text), [])
  t.match(link, { contentType: 'application/xml', fileName: `bulk-payment-${bulk.number}.pain002.xml` })
  t.match(
    text,
    '<OrgnlMsgId>MSG-REPORT</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId><OrgnlNbOfTxs>3</OrgnlNbOfTxs><GrpSts>PART</GrpSts>',
  )
  t.strictSame(
    [...text.matchAll(/<OrgnlPmtInfId>([^<]*)/g)].map(([, id]) => id),
    ['P-1', 'P-2'],
  )
  t.match(text, /<OrgnlInstrId>I-E-1<\/OrgnlInstrId><OrgnlEndToEndId>E-1<\/OrgnlEndToEndId><TxSts>ACTC<\/TxSts>/)
  t.match(
    text,
    /<OrgnlEndToEndId>NOTPROVIDED<\/OrgnlEndToEndId><TxSts>RJCT<\/TxSts><StsRsnInf><Rsn><Cd>A[A-Z0-9]{3}<\/Cd>/,
  )
  await submitted(customer.client, bulk.id)
  const sent = (await report(customer.client, bulk, 'pain002')).text
  t.strictSame(pain002Errors(sent), [])
  t.match(sent, /<TxSts>PDNG<\/TxSts><AcctSvcrRef>PAY[0-9A-Z]{10}<\/AcctSvcrRef>/, 'they wait for their day')
})

t.test('pain.002 of other files stands under their number, and says why a file could not be used', async (t) => {
  const bulk = await checked(client, {
    rows: [row(recipients.EUR, 1, { sourceBalanceId: balances.EUR, endToEndId: 'E-9' })],
  })
  const { text } = await report(client, bulk, 'pain002')
  t.strictSame(pain002Errors(text), [])
  t.match(
    text,
    `<OrgnlMsgId>${bulk.number}</OrgnlMsgId><OrgnlMsgNmId>JSON</OrgnlMsgNmId><OrgnlNbOfTxs>1</OrgnlNbOfTxs><GrpSts>ACTC</GrpSts>`,
  )
  t.match(text, `<OrgnlPmtInfId>${bulk.number}</OrgnlPmtInfId>`)
  const broken = await uploaded(client, 'recipient_id,currency,amount,colour\n', { fields: { allowDuplicate: 'true' } })
  const refused = (await report(client, broken, 'pain002')).text
  t.strictSame(pain002Errors(refused), [])
  t.match(refused, /<GrpSts>RJCT<\/GrpSts><StsRsnInf><Rsn><Cd>FF01<\/Cd><\/Rsn><AddtlInf>unknown_column: /)
  t.equal(lines((await report(client, broken)).text).length, 0)
  t.equal((await report(client, broken)).text.trimEnd(), REPORT_COLUMNS.join(','))
})

t.test('what is asked wrongly, or of somebody else’s file, is refused', async (t) => {
  const bulk = await checked(client, { rows: [row(recipients.EUR, 1)] })
  t.match((await client.get(`/bulk-payments/${bulk.id}/report?format=pdf`)).problem, {
    status: 400,
    errors: [{ field: 'query.format' }],
  })
  t.equal((await client.get(`/bulk-payments/${randomUUID()}/report`)).status, 404)
  const other = await world.customer({ balances: [{ currency: 'EUR', amount: 1n }] })
  t.equal((await other.client.get(`/bulk-payments/${bulk.id}/report`)).status, 404)
  const { body } = await sendFile(
    client,
    table(
      ['recipient_id', 'currency', 'amount', 'reference'],
      ...Array.from({ length: 500 }, () => [recipients.EUR, 'EUR', '1', 'x']),
    ),
  )
  const early = await client.get<DownloadLink>(`/bulk-payments/${body.id}/report`)
  t.ok(early.status === 200 || early.problem.code === 'document-not-ready', early.text)
})

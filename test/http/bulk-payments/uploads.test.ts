/** Bulk payments sent in: every format, keys, duplicates, and what is refused before a job looks at a row. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import writeXlsxFile from 'write-excel-file/node'
import type { BulkPayment } from '../../../lib/bulk-payments/bulk-payment-schema.ts'
import { BULK_FILE_BYTES_MAX } from '../../../lib/bulk-payments/limits.ts'
import { pain001 } from '../../support/bulk-file.ts'
import { createWorld } from '../../support/world.ts'
import { formOf, rowsOf, sendFile, sendRows, table, uploaded, validated } from './support.ts'

const FIELDS = [
  'approvalId',
  'closedAt',
  'counts',
  'createdAt',
  'createdBy',
  'customerId',
  'duplicateOf',
  'executionDate',
  'fileErrors',
  'fileHash',
  'fileName',
  'format',
  'id',
  'jobId',
  'lastProgressAt',
  'name',
  'number',
  'requireAllValid',
  'sourceBalanceId',
  'status',
  'submittedAt',
  'submittedBy',
  'totals',
  'updatedAt',
  'warnings',
]

const world = await createWorld()
t.teardown(() => world[Symbol.asyncDispose]())
const { client, balances, recipients } = world.seeded
const DAY_MS = 86_400_000
const day = (days: number): string => new Date(world.now() + days * DAY_MS).toISOString().slice(0, 10)
let made = 0
/** A file that nobody has sent yet. */
const someFile = (): string =>
  table(['recipient_id', 'currency', 'amount', 'reference'], [recipients.EUR, 'EUR', '1.00', `Bill ${++made}`])

t.test('a file as European spreadsheets save it is taken, read and shown', async (t) => {
  const csv = `\ufeffrecipient_id;currency;amount;reference\r\n${recipients.EUR};EUR;1234,50;Rechnung 1\r\n${recipients.EUR};EUR;0,50;Rechnung 2\r\n`
  const key = randomUUID()
  const options = {
    key,
    fileName: 'Löhne.csv',
    fields: { decimalSeparator: ',', requireAllValid: 'true', sourceBalanceId: balances.EUR.toUpperCase() },
  }
  const reply = await sendFile(client, csv, options)
  t.equal(reply.status, 202, reply.text)
  const { body } = reply
  t.strictSame(Object.keys(body).sort(), FIELDS)
  t.match(body, {
    status: 'validating',
    format: 'csv',
    name: 'Löhne.csv',
    fileName: 'Löhne.csv',
    fileHash: /^[0-9a-f]{64}$/,
    number: /^BLK[0-9A-Z]{10}$/,
    requireAllValid: true,
    duplicateOf: null,
    warnings: [],
    sourceBalanceId: balances.EUR,
    executionDate: null,
    approvalId: null,
    counts: { total: 0, pending: 0, valid: 0 },
  })
  t.equal(reply.headers.get('location'), `/v1/bulk-payments/${body.id}`)
  t.match((await client.get(`/jobs/${body.jobId!}`)).body, {
    kind: 'bulk_payment_validate',
    subject: { object: 'bulk_payment', id: body.id },
  })
  const ready = await validated(client, body)
  t.match(ready, {
    status: 'ready',
    counts: { total: 2, pending: 0, valid: 2, invalid: 0 },
    totals: [{ currency: 'EUR', amountMinor: '123500', rows: 2 }],
    fileErrors: [],
    lastProgressAt: String,
  })
  t.match(await rowsOf(client, body), [
    {
      rowNumber: 1,
      status: 'valid',
      recipientId: recipients.EUR,
      recipientName: 'Amsterdam Trading BV',
      maskedIdentifier: 'NL77****0001',
      amount: { amountMinor: '123450', currency: 'EUR' },
      reference: 'Rechnung 1',
      sourceBalanceId: balances.EUR,
      errors: [],
      paymentId: null,
      failureCode: null,
    },
    { rowNumber: 2, amount: { amountMinor: '50' } },
  ])
  t.strictSame(
    await world.query<{ status: string }>(
      `select previous_status, status from outbox where object_id = $1 and type = 'bulk_payment.status_changed' order by created_at, id`,
      [body.id],
    ),
    [
      { previous_status: null, status: 'validating' },
      { previous_status: 'validating', status: 'ready' },
    ],
  )

  const again = await sendFile(client, csv, options)
  t.strictSame(
    [
      again.status,
      again.text,
      again.headers.get('idempotency-replayed'),
      again.headers.get('location'),
      again.headers.get('etag'),
    ],
    [202, reply.text, 'true', reply.headers.get('location'), reply.headers.get('etag')],
  )
  t.match(
    (await sendFile(client, `${csv}\n`, options)).problem,
    { status: 422, code: 'idempotency-key-reused' },
    'other content',
  )
  t.match(
    (await sendFile(client, csv, { ...options, fields: {} })).problem,
    { status: 422, code: 'idempotency-key-reused' },
    'other fields',
  )
})

t.test('the same content within a day is a mistake unless the client says otherwise', async (t) => {
  const csv = someFile()
  const first = await uploaded(client, csv)
  const key = randomUUID()
  for (let attempt = 0; attempt < 2; attempt++)
    t.match((await sendFile(client, csv, { key })).problem, {
      status: 409,
      code: 'duplicate-file',
      existingId: first.id,
    })
  const allowed = await uploaded(client, csv, { fields: { allowDuplicate: 'true' } })
  t.match(allowed, { status: 'ready', duplicateOf: first.id, warnings: [{ code: 'duplicate_file' }] })
  t.match((await rowsOf(client, allowed))[0], { status: 'valid' })
  const stranger = await world.customer({ balances: [] })
  t.equal((await sendFile(stranger.client, csv)).status, 202, 'of another customer it is another file')
  t.equal((await stranger.client.get(`/bulk-payments/${first.id}`)).status, 404)
  t.equal((await stranger.client.get(`/bulk-payments/${first.id}/rows`)).status, 404)
  for (const move of ['cancel', 'revalidate'])
    t.equal((await stranger.client.post(`/bulk-payments/${first.id}/${move}`, undefined)).status, 404)
  const both = someFile()
  t.strictSame(
    (await Promise.all([sendFile(client, both), sendFile(client, both)])).map(({ status }) => status).sort(),
    [202, 409],
    'of two at once one is the second',
  )
})

t.test('a message counts by the name that its sender gave it, for ninety days', async (t) => {
  const transfer = (
    version: string,
    amount: string,
  ): string => `<PmtInf><PmtInfId>P</PmtInfId><PmtMtd>TRF</PmtMtd><ReqdExctnDt>${version === '09' ? `<Dt>${day(7)}</Dt>` : day(7)}</ReqdExctnDt><Dbtr><Nm>We</Nm></Dbtr>
    <DbtrAcct><Id><IBAN>${iban}</IBAN></Id></DbtrAcct><DbtrAgt><FinInstnId/></DbtrAgt><CdtTrfTxInf><PmtId><InstrId>I-${version}</InstrId><EndToEndId>E-${version}</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">${amount}</InstdAmt></Amt>
    <CdtrAgt><FinInstnId><${version === '09' ? 'BICFI' : 'BIC'}>SBOXNL2A</${version === '09' ? 'BICFI' : 'BIC'}></FinInstnId></CdtrAgt><Cdtr><Nm>Amsterdam Trading BV</Nm></Cdtr><CdtrAcct><Id><IBAN>NL77SBOX0100000001</IBAN></Id></CdtrAcct>
    <RmtInf><Ustrd>Invoice ${version}</Ustrd></RmtInf></CdtTrfTxInf></PmtInf>`
  const [{ iban }] = (await world.query<{ iban: string }>(
    `select identifiers->>'iban' as iban from account_details where balance_id = $1 and identifiers->>'iban' is not null limit 1`,
    [balances.EUR],
  )) as [{ iban: string }]
  for (const version of ['03', '09']) {
    const bulk = await uploaded(
      client,
      pain001(transfer(version, '10.50'), { version, sum: '10.5', id: `M-${version}` }),
      { fileName: 'pain.xml' },
    )
    t.match(
      bulk,
      { status: 'ready', format: 'pain001', counts: { valid: 1 }, totals: [{ amountMinor: '1050' }] },
      JSON.stringify(bulk),
    )
    const [row] = await rowsOf(client, bulk)
    t.match(
      row,
      {
        recipientId: recipients.EUR,
        sourceBalanceId: balances.EUR,
        reference: `Invoice ${version}`,
        externalId: `I-${version}`,
      },
      JSON.stringify(row),
    )
    const other = pain001(transfer(version, '11.50'), { version, id: `M-${version}` })
    await world.query(`update bulk_payment set created_at = now() - interval '89 days' where id = $1`, [bulk.id])
    t.match((await sendFile(client, other)).problem, { status: 409, code: 'duplicate-file', existingId: bulk.id })
    t.match(await uploaded(client, other, { fields: { allowDuplicate: 'true' } }), {
      duplicateOf: bulk.id,
      warnings: [{ code: 'duplicate_message' }],
    })
    await world.query(`update bulk_payment set created_at = now() - interval '91 days' where message_id = $1`, [
      `M-${version}`,
    ])
    t.equal((await sendFile(client, other)).status, 202)
  }
  const hidden = pain001(transfer('03', '1'), { id: 'M-late' }).replace(
    '<GrpHdr>',
    `<GrpHdr><!--${' '.repeat(70_000)}-->`,
  )
  t.match(
    await uploaded(client, hidden),
    { status: 'invalid', fileErrors: [{ code: 'not_well_formed' }] },
    'a name that does not stand at the beginning',
  )
})

t.test('spreadsheets and rows in a request', async (t) => {
  const book = await (
    writeXlsxFile([
      ['recipient_id', 'currency', 'amount', 'reference'],
      [recipients.EUR, 'EUR', 12.34, 'Sheet 1'],
    ]) as unknown as { toBuffer(): Promise<Buffer> }
  ).toBuffer()
  t.match(await uploaded(client, book, { fileName: 'wages.xlsx', fields: { name: 'Wages' } }), {
    status: 'ready',
    format: 'xlsx',
    name: 'Wages',
    totals: [{ currency: 'EUR', amountMinor: '1234' }],
  })
  const rows = [
    {
      recipientId: recipients.EUR,
      currency: 'EUR',
      amount: '5.00',
      reference: 'Row 1',
      metadata: { costCentre: '7' },
      notifyRecipient: true,
    },
    { recipientId: recipients.GBP, currency: 'gbp', amount: '6', reference: 'Row 2', sourceBalanceId: balances.GBP },
  ]
  const key = randomUUID()
  const reply = await sendRows(client, { name: 'By hand', executionDate: day(3), rows }, key)
  const bulk = await validated(client, reply.body)
  t.match(
    bulk,
    {
      status: 'ready',
      format: 'json',
      fileName: null,
      name: 'By hand',
      executionDate: day(3),
      totals: [
        { currency: 'EUR', amountMinor: '500', rows: 1 },
        { currency: 'GBP', amountMinor: '600', rows: 1 },
      ],
    },
    JSON.stringify(bulk),
  )
  const replay = await sendRows(client, { name: 'By hand', executionDate: day(3), rows }, key)
  t.strictSame([replay.text, replay.headers.get('idempotency-replayed')], [reply.text, 'true'])
  t.match((await sendRows(client, { rows })).problem, { code: 'duplicate-file', existingId: bulk.id })
  t.match((await sendRows(client, { rows: [{ ...rows[0], colour: 'red' }] })).problem, {
    status: 422,
    errors: [{ field: '/rows/0/colour', code: 'unknown_field' }],
  })
  t.equal((await sendRows(client, { rows: [] })).status, 422)
  t.equal((await sendRows(client, { rows: Array.from({ length: 1_001 }, () => rows[0]) })).status, 422)
  const large = await sendRows(client, {
    rows: Array.from({ length: 1_000 }, (_, nth) => ({
      ...rows[0],
      reference: `Row ${nth}`,
      internalNote: 'x'.repeat(480),
    })),
  })
  t.equal(large.status, 202, 'above the size of other bodies')
  t.match(
    (
      await sendRows(client, {
        rows: Array.from({ length: 1_000 }, () => ({ ...rows[0], internalNote: 'x'.repeat(2_100) })),
      })
    ).problem,
    { status: 413, code: 'payload-too-large', maxBytes: 2 * 1024 * 1024 },
  )
  t.match(await validated(client, large.body), { counts: { valid: 1_000 } })
})

t.test('what is no form of ours is refused and leaves nothing', async (t) => {
  const count = async () => (await world.query<{ count: string }>('select count(*) from bulk_payment'))[0]!.count
  const before = await count()
  const refused = async (fields: Record<string, string>, want: object) =>
    t.match((await sendFile(client, someFile(), { fields })).problem, want, JSON.stringify(fields))
  const field = (name: string, code: string) => ({
    status: 422,
    code: 'validation-error',
    errors: [{ field: `/${name}`, code }],
  })
  await refused({ colour: 'red' }, field('colour', 'unknown_field'))
  await refused({ format: 'json' }, field('format', 'invalid_value'))
  await refused({ requireAllValid: 'perhaps' }, field('requireAllValid', 'invalid_type'))
  await refused({ delimiter: '|' }, field('delimiter', 'invalid_value'))
  await refused({ executionDate: 'tomorrow' }, field('executionDate', 'invalid_format'))
  await refused({ executionDate: day(-2) }, field('executionDate', 'in_past'))
  await refused({ executionDate: day(368) }, field('executionDate', 'too_far_ahead'))
  await refused({ name: 'x'.repeat(101) }, field('name', 'too_long'))
  await refused({ sourceBalanceId: 'mine' }, field('sourceBalanceId', 'invalid_format'))
  await refused({ sourceBalanceId: randomUUID() }, field('sourceBalanceId', 'not_found'))
  const stranger = await world.customer({ balances: [{ currency: 'EUR', amount: 1n }] })
  await refused({ sourceBalanceId: stranger.balanceIds[0]! }, field('sourceBalanceId', 'not_found'))
  await world.query(`update customer set customer_type = 'individual' where id = $1`, [stranger.id])
  t.match(
    (await sendFile(stranger.client, someFile(), { fields: { skipPayeeVerification: 'true' } })).problem,
    field('skipPayeeVerification', 'not_applicable'),
  )
  t.match((await sendFile(client, someFile(), { key: null })).problem, {
    status: 400,
    errors: [{ field: 'header.Idempotency-Key', code: 'required' }],
  })
  t.match(
    (
      await client.send('/v1/bulk-payments', {
        method: 'POST',
        headers: { 'content-type': 'text/csv', 'idempotency-key': randomUUID() },
        body: someFile(),
      })
    ).problem,
    { status: 415, supported: ['application/json', 'multipart/form-data'] },
  )
  const { type, body } = await formOf(someFile())
  t.match(
    (
      await client.send('/v1/bulk-payments', {
        method: 'POST',
        headers: { 'content-type': type, 'idempotency-key': randomUUID() },
        body: body.subarray(0, body.length - 30),
      })
    ).problem,
    { status: 400 },
  )
  t.equal(await count(), before)
})

t.test('a file that is too large is refused before it is there', async (t) => {
  const { type, body } = await formOf(Buffer.alloc(BULK_FILE_BYTES_MAX + 100_000, 'a'))
  const reply = await client.send<BulkPayment>('/v1/bulk-payments', {
    method: 'POST',
    headers: { 'content-type': type, 'idempotency-key': randomUUID() },
    body,
  })
  t.match(reply.problem, { status: 413, code: 'payload-too-large', maxBytes: BULK_FILE_BYTES_MAX })
  t.strictSame(await world.query(`select id from stored_file where size_bytes > $1`, [BULK_FILE_BYTES_MAX / 2]), [])
})

t.test('an empty file is a file without rows', async (t) => {
  t.match(await uploaded(client, ''), { status: 'invalid', fileErrors: [{ code: 'empty_file' }], counts: { total: 0 } })
})

/**
 * Documents, attachments and annotations: what may come in, what becomes of it, who sees it, and that hostile files do
 * not.
 */
import { createHash, randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import type { Annotation } from '../../../lib/transactions/annotation-schema.ts'
import type { Attachment, Document } from '../../../lib/documents/document-schema.ts'
import type { DownloadLink } from '../../../lib/contract/download-link.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { Transaction, TransactionDetail } from '../../../lib/transactions/transaction-schema.ts'
import { checkOneKey } from '../../support/one-key.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { CSV, PDF, PNG, upload, type Form } from './upload.ts'

const MISSING_ID = '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'
const MEBIBYTE = 1024 * 1024

t.test('documents and attachments', async (t) => {
  await using world = await createWorld({ stillClock: true })
  const { client, balances, recipients } = world.seeded
  const [owner, preparer] = [world.person('owner'), world.person('preparer')]
  await owner.signIn()
  await preparer.signIn()
  const key = { token: world.service.sandbox!.customer.apiKey, tenantId: client.tenantId }
  const as = (person: typeof owner) => ({ token: person.token, tenantId: person.tenantId })
  const stranger = await world.customer({ balances: [] })

  const document = (form: Form, caller = key) =>
    upload<Document>(world, caller, '/documents', { fields: { purpose: 'payment_support' }, ...form })
  const scanned = async (path: string, status = 'clean') =>
    await until(`${path} is ${status}`, async () => {
      world.advance(1_000)
      return (await client.get<{ status: string }>(path)).body.status === status ? true : null
    })
  const invalid = (field: string, code: string) => ({
    status: 422,
    code: 'validation-error',
    errors: [{ field, code }],
  })

  await t.test('a document is what its bytes say, waits for its check, and is downloaded by a link', async (t) => {
    const whole = Buffer.concat([PDF, randomBytes(600_000)])
    const reply = await document({ bytes: whole, fileName: 'Rechnung Łódź "7".pdf', type: 'text/html' })
    t.equal(reply.status, 201)
    const { id, ...made } = reply.body
    t.match(made, {
      purpose: 'payment_support',
      fileName: 'Rechnung Łódź "7".pdf',
      contentType: 'application/pdf',
      sizeBytes: whole.length,
      sha256: createHash('sha256').update(whole).digest('hex'),
      status: 'pending_scan',
    })
    t.equal(reply.headers.get('location'), `/v1/documents/${id}`)
    t.equal((await client.get(`/documents/${id}`)).headers.get('etag'), reply.headers.get('etag'))
    t.match((await client.get(`/documents/${id}/download`)).problem, {
      status: 409,
      code: 'document-not-ready',
      retryable: true,
    })
    await scanned(`/documents/${id}`)
    const link = (await client.get<DownloadLink>(`/documents/${id}/download`)).body
    t.match(link, { contentType: 'application/pdf', fileName: 'Rechnung Łódź "7".pdf' })
    t.ok(Date.parse(link.expiresAt) > world.now() && Date.parse(link.expiresAt) <= world.now() + 5 * 60_000)

    const file = await fetch(link.url, { headers: { accept: 'application/pdf' } })
    t.equal(file.status, 200)
    t.ok(Buffer.from(await file.arrayBuffer()).equals(whole))
    const header = (name: string) => file.headers.get(name)
    t.equal(header('content-type'), 'application/pdf')
    t.equal(header('content-length'), String(whole.length))
    t.equal(header('x-content-type-options'), 'nosniff')
    t.match(header('content-security-policy'), /sandbox/)
    t.equal(header('cache-control'), 'private, no-cache')
    t.equal(
      header('content-disposition'),
      `attachment; filename="Rechnung ___dz _7_.pdf"; filename*=UTF-8''Rechnung%20%C5%81%C3%B3d%C5%BA%20%227%22.pdf`.replace(
        '___dz',
        '_odz',
      ),
    )
    t.equal((await fetch(link.url, { headers: { 'if-none-match': header('etag')! } })).status, 304)
    const head = await fetch(link.url, { method: 'HEAD' })
    t.equal(head.headers.get('content-length'), String(whole.length))

    const token = link.url.slice(link.url.lastIndexOf('/') + 1)
    const forged = [
      token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A'),
      token.slice(0, 40),
      Buffer.from(token, 'base64url').fill(0xff, 16, 22).toString('base64url'),
    ]
    for (const bad of forged) t.equal((await fetch(link.url.replace(token, bad))).status, 404, 'a forged link is none')
    world.advance(5 * 60_000)
    const late = await fetch(link.url)
    t.match([late.status, await late.json()], [410, { code: 'link-expired', retryable: false }])
  })

  await t.test('what may not come in is refused, and leaves nothing', async (t) => {
    const count = async () => (await world.query<{ count: string }>('select count(*) from document'))[0]!.count
    const before = await count()
    t.match(
      (await document({ bytes: Buffer.from('<html><script>alert(1)</script></html>'), fileName: 'invoice.pdf' }))
        .problem,
      invalid('/file', 'invalid_type'),
    )
    t.match(
      (await document({ bytes: Buffer.from([0x4d, 0x5a, 0x90, 0, 3]), fileName: 'invoice.pdf' })).problem,
      invalid('/file', 'invalid_type'),
    )
    t.match(
      (await document({ bytes: PNG, fileName: 'invoice.pdf' })).problem,
      invalid('/file', 'invalid_value'),
      'a picture that calls itself a document',
    )
    t.match(
      (await document({ bytes: PDF, fileName: 'invoice.pdf.exe' })).problem,
      invalid('/file', 'invalid_value'),
      'two endings',
    )
    t.match((await document({ bytes: Buffer.alloc(0) })).problem, invalid('/file', 'too_short'))
    t.match(
      (await document({ bytes: CSV, fileName: 'lines.csv' })).problem,
      invalid('/file', 'invalid_type'),
      'tables are for attachments',
    )
    t.match((await document({})).problem, invalid('/file', 'required'))
    t.match((await document({ bytes: PDF, fields: {} })).problem, invalid('/purpose', 'required'))
    t.match((await document({ bytes: PDF, fields: { purpose: 'fun' } })).problem, invalid('/purpose', 'invalid_value'))
    t.match(
      (await document({ bytes: PDF, fields: { purpose: 'mandate', colour: 'red' } })).problem,
      invalid('/colour', 'unknown_field'),
    )
    t.match(
      (await document({ bytes: PDF, fields: { purpose: 'kyb' } })).problem,
      { status: 403, code: 'insufficient-scope' },
      'keys know no people',
    )
    t.match((await document({ bytes: Buffer.concat([PDF, Buffer.alloc(10 * MEBIBYTE)]) })).problem, {
      status: 413,
      code: 'payload-too-large',
      maxBytes: 10 * MEBIBYTE,
    })
    t.match((await document({ bytes: Buffer.concat([PDF, Buffer.alloc(20 * MEBIBYTE)]) }, as(owner))).problem, {
      status: 413,
      code: 'payload-too-large',
      maxBytes: 20 * MEBIBYTE,
    })
    t.match((await client.post('/documents', { purpose: 'mandate' })).problem, {
      status: 415,
      code: 'unsupported-media-type',
      supported: ['multipart/form-data'],
    })
    const broken = await client.send('/v1/documents', {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body: '--x\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\nContent-Type: application/pdf\r\n\r\n%PDF-1.4',
    })
    t.match(broken.problem, { status: 400, code: 'malformed-request' })
    t.match(
      (
        await client.send('/v1/documents', {
          method: 'POST',
          headers: { 'content-type': 'multipart/form-data' },
          body: 'nothing',
        })
      ).problem,
      { status: 400, code: 'malformed-request' },
    )
    t.equal(await count(), before)
    t.strictSame(
      await world.query(
        `select f.id from stored_file f where f.expires_at is null and not exists (select from document d where d.file_id = f.id)`,
      ),
      [],
      'no file is kept without a document',
    )
  })

  await t.test('a repeat with the same key uploads once', async (t) => {
    const path = '/documents'
    const form = { bytes: PDF, fileName: 'once.pdf', fields: { purpose: 'payment_support' } }
    const made = await checkOneKey<Document>(
      t,
      (headers) => upload<Document>(world, key, path, form, headers),
      (headers) => upload(world, key, path, { ...form, bytes: Buffer.concat([PDF, PNG]) }, headers),
    )
    t.equal(made.status, 201, made.text)
    t.equal(made.headers.get('location'), `/v1/documents/${made.body.id}`)
    const named = await world.query(`select id from document where file_name = 'once.pdf'`)
    t.strictSame(named, [{ id: made.body.id }])

    const headers = { 'idempotency-key': 'upload-2' }
    const first = await upload<Document>(world, key, path, form, headers)
    const again = await upload<Document>(world, key, path, { ...form, fileName: 'renamed.pdf' }, headers)
    t.strictSame([again.status, again.text], [201, first.text], 'fields and bytes are what is compared')
    for (const name of ['location', 'etag']) t.equal(again.headers.get(name), first.headers.get(name), name)
    for (const fields of [{ purpose: 'mandate' }, {}, { purpose: 'nonsense' }])
      t.match(
        (await upload(world, key, path, { ...form, fields }, headers)).problem,
        { status: 422, code: 'idempotency-key-reused' },
        JSON.stringify(fields),
      )
    const corrected = { 'idempotency-key': 'upload-3' }
    t.match(
      (await upload(world, key, path, { ...form, fields: {} }, corrected)).problem,
      invalid('/purpose', 'required'),
    )
    t.equal((await upload(world, key, path, form, corrected)).status, 201, 'a form that is not valid takes no key')
    t.equal((await owner.send('DELETE', `/documents/${first.body.id}`)).status, 204)
    t.equal((await upload(world, key, path, form, headers)).text, first.text, 'also when it has been deleted since')
  })

  await t.test('a client that hangs up in the middle leaves nothing but what goes by itself', async (t) => {
    const { hostname, port } = new URL(world.url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.write(
      `POST /v1/documents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key.token}\r\nX-Tenant-Id: ${key.tenantId}\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000000\r\n\r\n--x\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\nContent-Type: application/pdf\r\n\r\n%PDF-1.4`,
    )
    socket.write(Buffer.alloc(300_000))
    await until('something of it was written', async () =>
      (await world.query('select from stored_file where size_bytes is null')).length > 0 ? true : null,
    )
    socket.destroy()
    t.equal((await document({ bytes: PDF })).status, 201, 'and the service goes on')
  })

  await t.test('names are names, not paths', async (t) => {
    const named = async (fileName: string) => (await document({ bytes: PDF, fileName })).body.fileName
    t.equal(await named('../../etc/passwd.pdf'), 'passwd.pdf')
    t.equal(await named('C:\\Users\\me\\invoice.pdf'), 'invoice.pdf')
    t.equal(await named('fdp\u202e.pdf'), 'fdp.pdf', 'nothing turns its direction')
    t.equal(await named(`${'x'.repeat(300)}.pdf`), `${'x'.repeat(116)}.pdf`)
  })

  await t.test('an infected file is never handed out', async (t) => {
    const { id } = (await document({ bytes: PDF, fileName: 'SBX:INFECTED.pdf' })).body
    await scanned(`/documents/${id}`, 'infected')
    t.match((await client.get(`/documents/${id}/download`)).problem, {
      status: 422,
      code: 'document-not-clean',
      documentIds: [id],
    })
  })

  await t.test("documents are their customer's own; people list and delete them", async (t) => {
    const { id } = (await document({ bytes: PDF })).body
    for (const path of [`/documents/${id}`, `/documents/${id}/download`])
      t.match((await stranger.client.get(path)).problem, { status: 404, code: 'not-found' })
    t.match(
      (await client.get('/documents')).problem,
      { status: 403, code: 'insufficient-scope' },
      'lists are for people',
    )
    const listed = await owner.send<{ data: Document[] }>(
      'GET',
      '/documents?filter[purpose]=payment_support&filter[status]=infected',
    )
    t.equal(listed.body.data.length, 1)
    const newest = (await owner.send<{ data: Document[] }>('GET', '/documents?limit=1')).body.data[0]!
    t.equal(newest.id, id)
    t.match((await owner.send('DELETE', `/documents/${id}`, undefined, { 'if-match': 'W/"9-000000000000"' })).problem, {
      status: 412,
    })
    t.equal((await owner.send('DELETE', `/documents/${id}`)).status, 204)
    t.equal((await client.get(`/documents/${id}`)).status, 404)
    t.equal((await owner.send('DELETE', `/documents/${id}`)).status, 404)
    t.match(await world.query(`select action from audit_event where object_id = $1 order by id`, [id]), [
      { action: 'document.uploaded' },
      { action: 'document.deleted' },
    ])
  })

  const [opening] = (
    await client.list<Transaction>('/transactions', { 'filter[currency]': 'EUR', 'filter[type]': 'incoming_payment' })
  ).body.data
  const attach = (form: Form, person = owner, id = opening!.id) =>
    upload<Attachment>(world, as(person), `/transactions/${id}/attachments`, form)

  await t.test('the sandbox has a clean attachment and an annotation beside its credit in euro', async (t) => {
    const detail = (await client.get<TransactionDetail>(`/transactions/${opening!.id}`)).body
    t.match(detail, {
      attachmentCount: 1,
      annotationCount: 1,
      hasAttachments: true,
      attachments: [{ status: 'clean', contentType: 'application/pdf' }],
      annotations: [{ transactionId: opening!.id }],
    })
    const link = (await client.get<DownloadLink>(`/attachments/${detail.attachments[0]!.id}/download`)).body
    t.match(await (await fetch(link.url)).text(), /^%PDF-1\.4[\s\S]+%%EOF\s*$/)
  })

  await t.test('people attach files to transactions, ten at most', async (t) => {
    const csv = (await attach({ bytes: CSV, fileName: 'lines.csv', type: 'text/csv' }, preparer)).body
    t.match(csv, {
      transactionId: opening!.id,
      contentType: 'text/csv',
      status: 'pending_scan',
      uploadedBy: { name: String },
    })
    await scanned(`/attachments/${csv.id}`)
    t.strictSame(
      (
        await client.list<Attachment>(`/transactions/${opening!.id}/attachments`, { sort: '-createdAt', limit: 1 })
      ).body.data.map(({ id }) => id),
      [csv.id],
    )
    t.strictSame(
      (
        await client.list<Attachment>('/attachments', {
          'filter[contentType]': 'text/csv',
          'filter[balanceId]': balances.EUR,
          'filter[status]': 'clean',
        })
      ).body.data.map(({ id }) => id),
      [csv.id],
    )
    t.strictSame((await client.list<Attachment>('/attachments', { 'filter[balanceId]': balances.GBP })).body.data, [])
    t.match(
      (await upload(world, key, `/transactions/${opening!.id}/attachments`, { bytes: PDF })).problem,
      { status: 403 },
      'keys do not',
    )
    t.match((await attach({ bytes: PDF }, owner, MISSING_ID)).problem, { status: 404 })
    t.match(
      (await attach({ bytes: PDF, fields: { purpose: 'mandate' } })).problem,
      invalid('/purpose', 'unknown_field'),
    )
    for (let nth = 3; nth <= 10; nth++) t.equal((await attach({ bytes: PDF })).status, 201)
    t.match((await attach({ bytes: PDF })).problem, {
      status: 409,
      code: 'limit-reached',
      limit: 10,
      resource: 'attachment',
    })
    for (const path of [`/attachments/${csv.id}`, `/attachments/${csv.id}/download`])
      t.match((await stranger.client.get(path)).problem, { status: 404 })
    t.match((await stranger.client.get(`/transactions/${opening!.id}/attachments`)).problem, { status: 404 })
    t.match((await owner.send('DELETE', `/attachments/${csv.id}`)).problem, { status: 428 })
    t.equal((await owner.send('DELETE', `/attachments/${csv.id}`, undefined, { 'if-match': '*' })).status, 204)
    t.equal((await client.get(`/attachments/${csv.id}`)).status, 404)
    const count = async () => (await client.get<TransactionDetail>(`/transactions/${opening!.id}`)).body.attachmentCount
    t.equal(await count(), 9)

    const path = `/transactions/${opening!.id}/attachments`
    const tenth = await checkOneKey<Attachment>(
      t,
      (headers) => upload<Attachment>(world, as(preparer), path, { bytes: PDF }, headers),
      (headers) => upload(world, as(preparer), path, { bytes: CSV, fileName: 'lines.csv' }, headers),
    )
    t.equal(tenth.status, 201, tenth.text)
    t.equal(tenth.headers.get('location'), `/v1/attachments/${tenth.body.id}`)
    t.equal(await count(), 10, 'a repeat with the same key is no eleventh')
    // A scan that ends later would change the tag of the transaction under the next test.
    for (const { id } of (await client.list<Attachment>(path)).body.data) await scanned(`/attachments/${id}`)
  })

  await t.test('people write beside transactions; the author and administrators change it', async (t) => {
    const path = `/transactions/${opening!.id}/annotations`
    const reply = await preparer.send<Annotation>('POST', path, { text: '  Checked with the bank.  ' })
    t.equal(reply.status, 201)
    const mine = reply.body
    t.match(mine, { transactionId: opening!.id, text: 'Checked with the bank.' })
    t.equal(reply.headers.get('location'), `/v1${path}/${mine.id}`)
    const read = await client.get<Annotation>(`${path}/${mine.id}`)
    t.strictSame([read.status, read.text], [200, reply.text], 'its location leads to it')
    t.equal(read.headers.get('etag'), reply.headers.get('etag'))
    t.equal((await client.get(`${path}/${MISSING_ID}`)).status, 404)
    t.strictSame(
      (await client.list<Annotation>(path, { sort: '-createdAt' })).body.data.map(({ id }) => id)[0],
      mine.id,
    )
    t.match((await preparer.send('POST', path, { text: '' })).problem, invalid('/text', 'too_short'))
    t.match((await preparer.send('POST', `/transactions/${MISSING_ID}/annotations`, { text: 'x' })).problem, {
      status: 404,
    })
    t.match((await client.post(path, { text: 'x' })).problem, { status: 403 })
    const tag = reply.headers.get('etag')!
    t.match((await preparer.send('PATCH', `${path}/${mine.id}`, { text: 'x' })).problem, { status: 428 })
    const changed = await preparer.send<Annotation>(
      'PATCH',
      `${path}/${mine.id}`,
      { text: 'Checked twice.' },
      { 'if-match': tag },
    )
    t.equal(changed.body.text, 'Checked twice.')
    t.match((await preparer.send('PATCH', `${path}/${mine.id}`, { text: 'x' }, { 'if-match': tag })).problem, {
      status: 412,
      currentEtag: changed.headers.get('etag'),
    })
    const others = (await owner.send<Annotation>('POST', path, { text: 'From the owner.' })).body
    t.match((await preparer.send('DELETE', `${path}/${others.id}`, undefined, { 'if-match': '*' })).problem, {
      status: 403,
      code: 'insufficient-scope',
    })
    t.equal(
      (await owner.send('DELETE', `${path}/${mine.id}`, undefined, { 'if-match': '*' })).status,
      204,
      'an administrator may',
    )
    t.equal((await client.get<TransactionDetail>(`/transactions/${opening!.id}`)).body.annotationCount, 2)
    t.match(await world.query(`select action from audit_event where object_id = $1 order by id`, [mine.id]), [
      { action: 'annotation.created' },
      { action: 'annotation.updated' },
      { action: 'annotation.deleted' },
    ])
  })

  await t.test('people file transactions under categories', async (t) => {
    const path = `/transactions/${opening!.id}`
    const { headers } = await owner.send('GET', path)
    const changed = await owner.send<TransactionDetail>(
      'PATCH',
      path,
      { category: 'capital' },
      { 'if-match': headers.get('etag')! },
    )
    t.equal(changed.body.category, 'capital')
    t.strictSame(
      (await client.list<Transaction>('/transactions', { 'filter[category]': 'capital' })).body.data.map(
        ({ id }) => id,
      ),
      [opening!.id],
    )
    t.match((await owner.send('PATCH', path, { category: 'x' }, { 'if-match': headers.get('etag')! })).problem, {
      status: 412,
    })
    t.match(
      (await owner.send('PATCH', path, { colour: 'red' }, { 'if-match': '*' })).problem,
      invalid('/colour', 'unknown_field'),
    )
    t.equal(
      (await owner.send<TransactionDetail>('PATCH', path, { category: null }, { 'if-match': '*' })).body.category,
      null,
    )
  })

  await t.test('a payment names clean documents of its customer, which cannot be deleted then', async (t) => {
    const { id } = (await document({ bytes: PDF })).body
    const infected = (await owner.send<{ data: Document[] }>('GET', '/documents?filter[status]=infected')).body.data[0]!
      .id
    const pay = (documentIds: readonly string[], more: object = {}) =>
      client.createPayment({
        ...paymentBody(balances.EUR, recipients.EUR, 100),
        documentIds: [...documentIds],
        ...more,
      })
    t.match((await pay([id])).problem, { status: 422, code: 'document-not-clean', documentIds: [id] })
    await scanned(`/documents/${id}`)
    t.match((await pay([id, infected])).problem, { status: 422, code: 'document-not-clean', documentIds: [infected] })
    t.match((await pay([MISSING_ID])).problem, invalid('/documentIds/0', 'not_found'))
    t.match((await pay([id, id])).problem, { status: 422 })
    const payment = (await pay([id])).body
    t.strictSame(payment.documentIds, [id])
    t.strictSame((await client.payment(payment.id)).documentIds, [id])
    t.match((await owner.send('DELETE', `/documents/${id}`)).problem, { status: 409, code: 'invalid-transition' })
    const other = (await document({ bytes: PDF })).body.id
    await scanned(`/documents/${other}`)
    const draft = (await pay([], { draft: true })).body
    t.strictSame(draft.documentIds, [])
    const updated = await client.send<Payment>(`/v1/payments/${draft.id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', 'if-match': '*' },
      body: JSON.stringify({ documentIds: [other] }),
    })
    t.strictSame(updated.body.documentIds, [other])
    t.match((await owner.send('DELETE', `/documents/${other}`)).problem, { status: 409 })
    t.equal(
      (await client.send(`/v1/payments/${draft.id}`, { method: 'DELETE', headers: { 'if-match': '*' } })).status,
      204,
    )
    t.equal((await owner.send('DELETE', `/documents/${other}`)).status, 204, 'nothing needs it any more')
  })

  await t.test('of a document that is named and deleted at the same moment, one has happened', async (t) => {
    const ids = await Promise.all([1, 2, 3, 4].map(async () => (await document({ bytes: PDF })).body.id))
    for (const id of ids) await scanned(`/documents/${id}`)
    await Promise.all(
      ids.map(async (id) => {
        const [named, deleted] = await Promise.all([
          client.createPayment({ ...paymentBody(balances.EUR, recipients.EUR, 100), documentIds: [id] }),
          owner.send('DELETE', `/documents/${id}`),
        ])
        const outcome = [named.status, deleted.status].join(' ')
        t.ok(['201 409', '422 204'].includes(outcome), outcome)
      }),
    )
    t.strictSame(
      await world.query(
        'select u.document_id from document_use u where not exists (select from document d where d.id = u.document_id)',
      ),
      [],
      'nothing names what is gone',
    )
  })
  await world.audit()
})

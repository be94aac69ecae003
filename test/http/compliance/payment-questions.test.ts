/** Questions about a held payment, over HTTP: what staff ask, what the customer reads and answers, and what neither may. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { ComplianceHoldDetail } from '../../../lib/compliance/compliance-hold-schema.ts'
import type { HoldQuestion, PaymentAnswer, PaymentQuestion } from '../../../lib/compliance/payment-question-schema.ts'
import type { Document } from '../../../lib/documents/document-schema.ts'
import type { AuditEvent } from '../../../lib/identity/audit-event-schema.ts'
import type { PageBody } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'
import { PDF, upload } from '../documents/upload.ts'
import { eventsOf, holdOf, pay } from './staff.ts'

const QUESTION = 'Please send us the invoice for this payment.'

/** Words that no answer to a customer may contain. */
const HIDDEN = /complian|sanction|screen|hold_?id|compliance_hold|sandbox-triggers|Compliance/

interface Held {
  readonly paymentId: string
  readonly hold: ComplianceHoldDetail
  readonly staff: Person
  readonly owner: Person
  /** The path for staff, and that for the customer. */
  readonly asking: string
  readonly asked: string
}

async function hold(world: World): Promise<Held> {
  const { id: paymentId } = await pay(world, 1_602)
  await world.seeded.client.paymentReaching(paymentId, 'on_hold')
  const staff = await world.person('compliance').signIn()
  const held = await holdOf(staff, paymentId)
  return {
    paymentId,
    hold: held,
    staff,
    owner: await world.person('owner').signIn(),
    asking: `/compliance-holds/${held.id}/questions`,
    asked: `/payments/${paymentId}/questions`,
  }
}

async function cleanDocument(world: World): Promise<string> {
  const { client } = world.seeded
  const key = { token: world.service.sandbox!.customer.apiKey, tenantId: client.tenantId }
  const { body } = await upload<Document>(world, key, '/documents', {
    bytes: PDF,
    fields: { purpose: 'payment_support' },
  })
  await until('the document is clean', async () => {
    await world.pollOnce()
    return (await client.get<Document>(`/documents/${body.id}`)).body.status === 'clean'
  })
  return body.id
}

t.test('staff ask, the customer is told and answers with a document, and staff read it', async (t) => {
  await using world = await createWorld()
  const { paymentId, hold: held, staff, owner, asking, asked } = await hold(world)
  t.strictSame((await staff.get<PageBody<HoldQuestion>>(asking)).body.data, [])
  t.strictSame((await owner.get<PageBody<PaymentQuestion>>(asked)).body.data, [])

  const question = await staff.post<HoldQuestion>(asking, { text: QUESTION })
  t.equal(question.status, 201, question.text)
  t.match(question.body, {
    paymentId,
    holdId: held.id,
    status: 'open',
    text: QUESTION,
    answers: [],
    askedBy: { name: String },
  })
  const { id } = question.body
  t.strictSame(await eventsOf(world, id), ['payment_question.asked  open'])
  const read = await owner.get<PageBody<PaymentQuestion>>(asked)
  t.match(read.body.data, [{ id, paymentId, status: 'open', text: QUESTION, answers: [] }])
  t.notMatch(read.text, HIDDEN, 'nothing of the hold, nor who asks')
  t.notOk('askedBy' in read.body.data[0]! || 'holdId' in read.body.data[0]!)
  const notices = await owner.get<PageBody<object>>('/notifications?filter[type]=payment_question')
  t.match(notices.body.data, [
    { title: /^Question about payment /, text: QUESTION, object: { type: 'payment', id: paymentId } },
  ])
  t.notMatch(notices.text, HIDDEN)
  t.ok(
    (
      await world.query<{ count: number }>(
        `select count(*)::int from mail where subject like 'Question about payment %'`,
      )
    )[0]!.count > 0,
    'and by mail',
  )

  const documentId = await cleanDocument(world)
  const answered = await owner.post<PaymentAnswer>(`${asked}/${id}/answers`, {
    text: 'The invoice is attached.',
    documentIds: [documentId.toUpperCase()],
  })
  t.equal(answered.status, 201, answered.text)
  t.match(answered.body, { text: 'The invoice is attached.', documentIds: [documentId], by: { name: String } })
  t.notMatch(answered.text, HIDDEN)
  t.equal((await owner.post(`${asked}/${id}/answers`, { text: 'And it is paid.' })).status, 201)
  t.strictSame(await eventsOf(world, id), [
    'payment_question.asked  open',
    'payment_question.answered open answered',
    'payment_question.answered answered answered',
  ])
  t.match((await staff.get<PageBody<HoldQuestion>>(asking)).body.data, [
    { id, status: 'answered', answers: [{ documentIds: [documentId] }, { documentIds: [] }] },
  ])

  const link = await staff.get<{ url: string }>(`${asking}/${id}/documents/${documentId}/download`)
  t.equal(link.status, 200, link.text)
  t.strictSame(Buffer.from(await (await fetch(link.body.url)).arrayBuffer()), PDF)
  const other = await cleanDocument(world)
  t.equal(
    (await staff.get(`${asking}/${id}/documents/${other}/download`)).status,
    404,
    'no other document of the customer',
  )
  t.match(
    (await owner.send('DELETE', `/documents/${documentId}`)).problem,
    { code: 'invalid-transition' },
    'it is needed',
  )

  const admin = await world.person('operator_admin').signIn()
  const trail = async (person: Person) =>
    (await person.get<PageBody<AuditEvent>>(`/audit-events?filter[objectId]=${id}&sort=-at`)).body.data.map(
      ({ action }) => action,
    )
  t.ok((await trail(admin)).includes('payment_question.asked'))
  t.strictSame(await trail(owner), ['payment_question.answered', 'payment_question.answered'])

  t.equal((await staff.post(`/compliance-holds/${held.id}/release`, { reason: 'Seen.' })).status, 202)
  t.equal((await admin.post(`/compliance-holds/${held.id}/release`, { reason: 'Seen.' })).status, 200)
  t.match((await owner.get<PageBody<PaymentQuestion>>(asked)).body.data, [{ status: 'closed' }])
  t.match((await owner.post(`${asked}/${id}/answers`, { text: 'Once more.' })).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'closed',
    allowed: ['open', 'answered'],
  })
  t.match((await staff.post(asking, { text: QUESTION })).problem, {
    code: 'invalid-transition',
    currentStatus: 'released',
  })
})

t.test('what is refused changes nothing', async (t) => {
  await using world = await createWorld()
  const { hold: held, staff, owner, asking, asked } = await hold(world)
  const { client } = world.seeded
  for (const text of ['Is this money laundering?', 'W.e s u s p e c t you', 'Sind Sie auf einer Sаnktionsliste?'])
    t.match((await staff.post(asking, { text })).problem, { status: 422, code: 'tipping_off', field: '/text' }, text)
  for (const body of [{}, { text: '' }, { text: 'x'.repeat(2_001) }, { text: 'Why?', holdId: held.id }])
    t.equal((await staff.post(asking, body)).status, 422)
  t.equal((await staff.post(`/compliance-holds/${randomUUID()}/questions`, {})).status, 404)
  t.equal((await staff.get(`/compliance-holds/${randomUUID()}/questions`)).status, 404)
  t.match((await (await world.person('operations').signIn()).post(asking, { text: QUESTION })).problem, { status: 403 })
  t.match((await client.get(asking)).problem, { status: 403 })
  t.match((await owner.post(asking, { text: QUESTION })).problem, { status: 403 })
  t.strictSame(await world.query('select from payment_question'), [])
  t.strictSame(await world.query(`select from outbox where object = 'payment_question'`), [])
  t.strictSame(await world.query(`select from notification where type = 'payment_question'`), [])

  const { id } = (await staff.post<HoldQuestion>(asking, { text: QUESTION })).body
  const answers = `${asked}/${id}/answers`
  const foreign = await cleanDocument(world)
  await world.query('update document set customer_id = $2 where id = $1', [foreign, randomUUID()])
  t.match(
    (await owner.post(answers, { text: 'Here.', documentIds: [foreign] })).problem,
    { status: 422, errors: [{ field: '/documentIds/0', code: 'not_found' }] },
    'a document of another customer',
  )
  const clean = await cleanDocument(world)
  t.match((await owner.post(answers, { text: 'Here.', documentIds: [clean, clean] })).problem, {
    errors: [{ field: '/documentIds/1', code: 'invalid_value' }],
  })
  await world.query(`update document set status = 'infected' where id = $1`, [clean])
  t.match((await owner.post(answers, { text: 'Here.', documentIds: [clean] })).problem, {
    status: 422,
    code: 'document-not-clean',
    documentIds: [clean],
  })
  for (const body of [
    {},
    { text: '' },
    { text: 'x'.repeat(2_001) },
    { text: 'Here.', documentIds: 'all' },
    { text: 'Here.', documentIds: Array.from({ length: 11 }, () => randomUUID()) },
  ])
    t.equal((await owner.post(answers, body)).status, 422)
  t.match((await owner.post(answers, { text: 'Here.', documentIds: [randomUUID()] })).problem, {
    errors: [{ field: '/documentIds/0', code: 'not_found' }],
  })
  t.equal((await owner.post(`${asked}/${randomUUID()}/answers`, { text: 'Here.' })).status, 404)
  t.equal((await owner.post(`/payments/${randomUUID()}/questions/${id}/answers`, { text: 'Here.' })).status, 404)
  t.equal((await owner.get(`/payments/${randomUUID()}/questions`)).status, 404)
  t.match((await client.post(answers, { text: 'Here.' })).problem, { status: 403 }, 'people answer, not keys')
  t.match((await (await world.person('approver').signIn()).post(answers, { text: 'Here.' })).problem, {
    requiredCapability: 'payments.create',
  })
  t.strictSame(await world.query('select from payment_answer'), [])
  t.strictSame(await eventsOf(world, id), ['payment_question.asked  open'])
})

t.test('a question and an answer that are repeated under their keys are there once', async (t) => {
  await using world = await createWorld()
  const { staff, owner, asking, asked } = await hold(world)
  const key = { 'idempotency-key': randomUUID() }
  const send = async () => await staff.send<HoldQuestion>('POST', asking, { text: QUESTION }, key)
  const first = await send()
  const again = await send()
  t.equal(again.text, first.text)
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.match((await staff.send('POST', asking, { text: 'Another one?' }, key)).problem, { code: 'idempotency-key-reused' })
  const path = `${asked}/${first.body.id}/answers`
  const replies = await Promise.all(
    Array.from({ length: 4 }, () => owner.send('POST', path, { text: 'Here.' }, { 'idempotency-key': 'answer-0001' })),
  )
  t.ok(
    replies.every(({ status }) => status === 201 || status === 409),
    replies.map(({ text }) => text).join('\n'),
  )
  t.equal((await owner.get<PageBody<PaymentQuestion>>(asked)).body.data[0]!.answers.length, 1)
})

t.test('questions and answers have their limits, also when many people write at once', async (t) => {
  await using world = await createWorld()
  const { staff, owner, asking, asked } = await hold(world)
  const [{ id }] = (await Promise.all(
    Array.from({ length: 19 }, async () => (await staff.post<HoldQuestion>(asking, { text: QUESTION })).body),
  )) as [HoldQuestion]
  const last = await Promise.all(Array.from({ length: 3 }, () => staff.post(asking, { text: QUESTION })))
  t.strictSame(last.map(({ status }) => status).sort(), [201, 409, 409])
  t.match(last.find(({ status }) => status === 409)!.problem, { code: 'limit-reached', limit: 20 })
  const path = `${asked}/${id}/answers`
  await Promise.all(Array.from({ length: 19 }, () => owner.post(path, { text: 'Here.' })))
  const answers = await Promise.all(Array.from({ length: 3 }, () => owner.post(path, { text: 'Here.' })))
  t.strictSame(answers.map(({ status }) => status).sort(), [201, 409, 409])
})

t.test('only payments are asked about', async (t) => {
  await using world = await createWorld()
  const { staff, hold: held, asking } = await hold(world)
  await world.query(`update compliance_hold set subject_type = 'transfer' where id = $1`, [held.id])
  t.match((await staff.post(asking, { text: QUESTION })).problem, { code: 'invalid-transition', allowed: [] })
  await world.query(`update compliance_hold set subject_type = 'payment' where id = $1`, [held.id])
})

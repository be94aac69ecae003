/** Answers of banks about direct debits: staff upload a file, look at what it would change, and another person has it applied. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Collection } from '../../../lib/direct-debits/collection-schema.ts'
import type { DebitResponse, DebitResponseLine } from '../../../lib/direct-debits/files/debit-response-schema.ts'
import type { Mandate } from '../../../lib/direct-debits/mandate-schema.ts'
import type { Job } from '../../../lib/jobs/job-schema.ts'
import { addacs, arudd, claim, ddica, returned } from '../../support/bacs-reports.ts'
import { notification, statusReport } from '../../support/bank-answers.ts'
import type { PageBody } from '../../support/client.ts'
import { ACCOUNT, openDebitBank, orderIn } from '../../support/debit-bank.ts'
import { until } from '../../support/until.ts'
import { upload as uploadForm } from '../documents/upload.ts'

const bank = await openDebitBank({ dispatch: false })
const { world, client, staff } = bank
t.teardown(() => bank[Symbol.asyncDispose]())

const PATH = '/collection-files/responses'

const upload = async (text: string, key: string = randomUUID()) => {
  const form = { bytes: Buffer.from(text), fileName: 'answer.xml', type: 'application/xml' }
  return await uploadForm<Job>(world, await staff(), PATH, form, { 'idempotency-key': key })
}
/** Uploads an answer, and returns its lines. */
async function previewed(text: string): Promise<{ readonly id: string; readonly lines: readonly DebitResponseLine[] }> {
  const { status, body, text: answer } = await upload(text)
  if (status !== 202) throw new Error(answer)
  const lines = await (await staff()).get<PageBody<DebitResponseLine>>(`${PATH}/${body.id}/lines`)
  return { id: body.id, lines: lines.body.data }
}
async function apply(id: string): Promise<void> {
  const admin = await staff('operator_admin')
  const reply = await admin.post<DebitResponse>(`${PATH}/${id}/apply`)
  if (reply.status !== 200) throw new Error(reply.text)
  await until('the lines to be applied', async () => {
    const found = await admin.get<DebitResponse>(`${PATH}/${id}`)
    return found.body.status === 'applied'
  })
}
const inFile = async (...made: readonly Collection[]): Promise<string> => {
  bank.toCutOff(made[0]!)
  await until('the file', async () => {
    const [row] = await world.query<{ status: string }>(
      'select f.status from collection c join collection_file f on f.id = c.file_id where c.id = $1',
      [made[0]!.id],
    )
    return row !== undefined && row.status !== 'gathering'
  })
  return await bank.fileOf(made[0]!)
}
const statusOf = async ({ id }: Pick<Collection, 'id'>) => (await bank.collection(id)).status

t.test('a status report is previewed, and applied by another person, once', async (t) => {
  const made = await Promise.all(Array.from({ length: 3 }, async () => await bank.collect((await bank.mandate()).id)))
  const [refused, kept, back] = made as [Collection, Collection, Collection]
  const xml = await inFile(...made)
  const report = statusReport('R1', {
    messageId: orderIn(xml, kept).messageId,
    group: 'PART',
    orders: [{ order: orderIn(xml, refused), status: 'RJCT', reason: 'AC04' }],
  })
  const half = await upload(report.slice(0, report.length / 2))
  t.match(half, { status: 422, problem: { errors: [{ field: '/file', code: 'invalid_format' }] } })
  const foreign = await upload(report.replaceAll(orderIn(xml, kept).messageId, 'SOMEBODY'))
  t.match(foreign, { status: 422, problem: { errors: [{ field: '/file', code: 'not_ours' }] } })
  t.same(await world.query('select from debit_response_line'), [], 'nothing of them was taken')
  const key = randomUUID()
  const job = await upload(report, key)
  t.match(job, { status: 202, body: { kind: 'debit_response' } })
  t.equal((await upload(report, key)).body.id, job.body.id, 'the same request again')
  t.match((await upload(report)).problem, { code: 'duplicate-file' })
  const { id } = job.body
  t.match((await (await staff()).get(`${PATH}/${id}`)).body, {
    status: 'ready',
    format: 'pain.002',
    lines: 2,
    changes: 1,
  })
  const lines = (await (await staff()).get<PageBody<DebitResponseLine>>(`${PATH}/${id}/lines`)).body.data
  t.match(lines, [
    {
      line: 1,
      object: 'collection',
      objectId: refused.id,
      from: 'submitted',
      to: 'failed',
      reasonCode: 'AC04',
      applied: false,
    },
    { line: 2, object: 'file', to: 'partially_rejected' },
  ])
  await until('the counts of the job', async () => {
    const { body } = await (await staff()).get<Job>(`/jobs/${id}`)
    return body.status === 'succeeded' && body.result?.counts?.['changes'] === 1
  })
  t.equal(await statusOf(refused), 'submitted', 'a preview changes nothing')
  t.match((await (await staff()).post(`${PATH}/${id}/apply`)).problem, { code: 'insufficient-scope' }, 'two people')
  await apply(id)
  t.equal(await statusOf(refused), 'failed')
  t.equal(await statusOf(kept), 'submitted')
  t.match((await (await staff('operator_admin')).post(`${PATH}/${id}/apply`)).problem, { code: 'invalid-transition' })
  const [file] = await world.query('select status from collection_file')
  t.match(file, { status: 'partially_rejected' })

  // The account: one is credited, another credited and taken back.
  const day = new Date(world.now()).toISOString().slice(0, 10)
  const entry = (collection: Collection, direction: 'CRDT' | 'DBIT', bankRef: string, change: object = {}) => {
    const { instructionId, endToEndId } = orderIn(xml, collection)
    return { amount: '25.00', direction, bankRef, day, transactions: [{ instructionId, endToEndId, ...change }] }
  }
  const booked = await previewed(
    notification('N1', ACCOUNT, [
      entry(kept, 'CRDT', 'B1'),
      entry(back, 'CRDT', 'B2'),
      entry(back, 'DBIT', 'B3', { returnReason: 'MD06' }),
    ]),
  )
  t.match(booked.lines, [
    { objectId: kept.id, from: 'submitted', to: 'collected' },
    { objectId: back.id, from: 'submitted', to: 'collected' },
    { objectId: back.id, from: 'collected', to: 'returned', reasonCode: 'MD06' },
  ])
  await apply(booked.id)
  t.equal(await statusOf(kept), 'collected')
  t.match(await bank.collection(back.id), { status: 'returned', rTransactions: [{ type: 'refund_authorised' }] })
  const { lines: told } = await previewed(notification('N2', ACCOUNT, [entry(kept, 'CRDT', 'B1')]))
  t.match(told, [{ objectId: kept.id, fault: 'already_told' }], 'the same booking in another file changes nothing')
  const { lines: wrong } = await previewed(
    notification('N3', ACCOUNT, [{ ...entry(refused, 'CRDT', 'B9'), amount: '7.00' }]),
  )
  t.match(wrong, [{ objectId: refused.id, fault: 'contradiction' }])
})

t.test('reports of Bacs amend and end mandates, and return collections', async (t) => {
  const balanceId = world.seeded.balances.GBP
  const mandate = await bank.mandate({
    scheme: 'bacs_dd',
    reference: 'MEMBER0001',
    balanceId,
    counterparty: { name: 'Fred Smith', sortCode: '400515', accountNumber: '87654321' },
  })
  await bank.report(`/mandates/${mandate.id}`, 'active')
  const collect = (amountMinor: string) => bank.collect(mandate.id, { amount: { amountMinor, currency: 'GBP' } })
  const [first, second] = [await collect('6500'), await collect('6600')]
  t.match(await inFile(first), /^VOL1/)
  await inFile(second)
  await bank.report(`/collections/${first.id}`, 'collected')
  await bank.report(`/collections/${second.id}`, 'collected')
  const item = returned({ ref: mandate.reference, code: '0', original: first.dueDate })
  const back = await previewed(arudd([item], '1', '65.00'))
  t.match(back.lines, [{ objectId: first.id, from: 'collected', to: 'returned', reasonCode: '0' }])
  await apply(back.id)
  t.equal(await statusOf(first), 'returned')
  const claimed = await previewed(
    ddica([claim({ ref: mandate.reference, total: '66.00', debits: [[second.dueDate, '66.00']] })], { total: '66.00' }),
  )
  t.match(claimed.lines, [{ objectId: second.id, to: 'returned' }])
  await apply(claimed.id)
  t.match(await bank.collection(second.id), { status: 'returned', rTransactions: [{ type: 'indemnity_claim' }] })
  const moved = 'reason-code="3" payer-new-sort-code="20-00-00" payer-new-account-number="11112222"'
  const amended = await previewed(addacs(moved, mandate.reference))
  t.match(amended.lines, [{ object: 'mandate', objectId: mandate.id, from: 'active', to: 'active' }])
  await apply(amended.id)
  const now = (await client.get<Mandate>(`/mandates/${mandate.id}`)).body
  t.match(now, { status: 'active', pendingAmendment: { account: Object } })
  await apply((await previewed(addacs('reason-code="1"', mandate.reference))).id)
  t.equal((await client.get<Mandate>(`/mandates/${mandate.id}`)).body.status, 'cancelled')
  t.match((await upload(arudd([item], '1', '65.00', '999999'))).problem, { errors: [{ code: 'not_ours' }] })
})

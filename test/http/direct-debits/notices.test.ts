/** What payers and customers are told of collections and mandates: notices before the due date, events, and notices to members. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { addDays, DAY_MS } from '../../../lib/base/clock.ts'
import type { Collection } from '../../../lib/direct-debits/collection-schema.ts'
import type { Mandate } from '../../../lib/direct-debits/mandate-schema.ts'
import { mailsOf } from '../../support/mails.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'

// Nothing is sent to the sandbox bank: people report.
const world = await createWorld({ dispatch: false })
const { client, balances } = world.seeded
const staff = () => world.person('operations').signIn()
t.teardown(async () => {
  await world.audit()
  await world[Symbol.asyncDispose]()
})

const EUROS = { amountMinor: '2500', currency: 'EUR' }

async function mandateOf(counterparty: object, more: object = {}): Promise<Mandate> {
  const reply = await client.post<Mandate>('/mandates', {
    direction: 'collect',
    scheme: 'sepa_dd_core',
    reference: '',
    balanceId: balances.EUR,
    counterparty: { name: 'Ada Payer', iban: 'NL50SBOX0100000002', ...counterparty },
    signedAt: new Date(world.now() - DAY_MS).toISOString().slice(0, 10),
    ...more,
  })
  if (reply.status !== 201) throw new Error(reply.text)
  return reply.body
}
const collect = async (mandateId: string, more: object = {}): Promise<Collection> => {
  const reply = await client.post<Collection>('/collections', { mandateId, amount: EUROS, reference: 'Fee', ...more })
  if (reply.status !== 201) throw new Error(reply.text)
  return reply.body
}
const report = async (path: string, status: string, more: object = {}) => {
  const reply = await (await staff()).post(`${path}/status-reports`, {
    status,
    reportedAt: new Date(world.now()).toISOString(),
    ...more,
  })
  if (reply.status !== 200) throw new Error(reply.text)
}
const read = async <Body>(path: string): Promise<Body> => (await client.get<Body>(path)).body
const note = async (id: string, body: object, key: string = randomUUID()) =>
  await client.post<Collection>(`/collections/${id}/pre-notification`, body, key)
const mailsTo = async (email: string) => (await mailsOf(world)).filter((mail) => mail.includes(email))

/** Waits until a collection is as it should be. */
const untilIts = async (id: string, what: string, is: (its: Collection) => boolean): Promise<Collection> =>
  await until(what, async () => {
    const its = await read<Collection>(`/collections/${id}`)
    return is(its) && its
  })

t.test('a payer with an address is told by mail, and again when the date has changed', async (t) => {
  const { id: mandateId, counterparty } = await mandateOf({ email: 'ada@payer.example' })
  t.equal(counterparty.email, 'ada@payer.example')
  const { id, dueDate, preNotification } = await collect(mandateId, {
    retry: { enabled: true, maxAttempts: 1, withinDays: 14 },
  })
  t.match(preNotification, {
    sentBy: 'service',
    channel: 'email',
    sentAt: null,
    values: { amount: EUROS, dueDate, reference: 'Fee', mandateReference: /^WB/, account: /IBAN NL50\*+0002/ },
  })
  t.equal(preNotification?.sendBy, addDays(dueDate, -14), 'as long before as the scheme has it')
  world.advanceTo(Date.parse(preNotification?.sendBy ?? '') + 2 * DAY_MS)
  const first = await untilIts(id, 'the notice', ({ preNotifiedAt }) => preNotifiedAt !== null)
  t.equal(first.preNotification?.sentAt, first.preNotifiedAt)
  t.match(await mailsTo('ada@payer.example'), [new RegExp(`collects 25.00 EUR on ${dueDate}`)])
  await report(`/collections/${id}`, 'submitted')
  await report(`/collections/${id}`, 'failed', { reasonCode: 'AM04' })
  world.advance(DAY_MS)
  const again = await untilIts(id, 'the retry', ({ status }) => status === 'pending')
  t.match(again.preNotification, { sentBy: 'service', values: { dueDate: again.dueDate } })
  t.not(again.dueDate, dueDate)
  world.advance(DAY_MS)
  const next = await untilIts(id, 'the next notice', ({ preNotifiedAt }) => preNotifiedAt !== null)
  t.not(next.preNotifiedAt, first.preNotifiedAt)
  const mails = await mailsTo('ada@payer.example')
  t.equal(mails.length, 2)
  t.match(mails[1], /again, because the last attempt failed/)
})

t.test('a customer that tells its payers notes it, once, with what was agreed', async (t) => {
  const { id: mandateId, preNotificationDays } = await mandateOf({}, { preNotificationDays: 3 })
  t.equal(preNotificationDays, 3)
  const { id, dueDate, preNotification } = await collect(mandateId)
  t.match(preNotification, { sentBy: 'customer', channel: 'none', sentAt: null, sendBy: addDays(dueDate, -3) })
  t.match((await note(id, { channel: 'fax' })).problem, { status: 422, errors: [{ field: '/channel' }] })
  const future = new Date(world.now() + DAY_MS).toISOString()
  t.match((await note(id, { channel: 'letter', sentAt: future })).problem, { errors: [{ field: '/sentAt' }] })
  const sentAt = new Date(world.now() - DAY_MS).toISOString()
  const key = randomUUID()
  const noted = await note(id, { channel: 'letter', sentAt }, key)
  t.match(noted, { status: 200, body: { preNotification: { channel: 'letter', sentAt }, preNotifiedAt: sentAt } })
  t.strictSame((await note(id, { channel: 'letter', sentAt }, key)).body, noted.body)
  t.match((await note(id, { channel: 'letter' })).problem, { code: 'invalid-transition', currentStatus: 'pending' })
  await report(`/collections/${id}`, 'submitted')
  t.match((await note(id, { channel: 'letter' })).problem, { code: 'invalid-transition', currentStatus: 'submitted' })
  t.equal((await note(randomUUID(), { channel: 'letter' })).status, 404)
})

t.test('the address and the notice of a mandate can be changed', async (t) => {
  const { id } = await mandateOf({ email: 'old@payer.example' })
  const change = async (body: object) =>
    await client.send<Mandate>(`/v1/mandates/${id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', 'if-match': '*' },
      body: JSON.stringify(body),
    })
  t.match((await change({ counterparty: { email: 'new@payer.example' }, preNotificationDays: 5 })).body, {
    counterparty: { name: 'Ada Payer', email: 'new@payer.example' },
    preNotificationDays: 5,
  })
  t.match((await change({ counterparty: { email: null } })).body, { counterparty: { email: null } })
  t.match((await collect(id)).preNotification, { sentBy: 'customer' })
  t.equal((await change({ counterparty: { email: 'no address' } })).status, 422)
})

t.test('events tell of late returns and of retries, and members of returns and of cancelled mandates', async (t) => {
  const { id: mandateId, reference } = await mandateOf({})
  const { id, number } = await collect(mandateId, { retry: { enabled: true, maxAttempts: 1, withinDays: 14 } })
  await report(`/collections/${id}`, 'submitted')
  await report(`/collections/${id}`, 'collected')
  await report(`/collections/${id}`, 'returned', { reasonCode: 'AM04' })
  const { nextAttemptAt, willRetry } = await read<Collection>(`/collections/${id}`)
  t.equal(willRetry, true)
  const details = await world.query<{ status: string; details: string }>(
    'select status, details from outbox where object_id = $1 order by id',
    [id],
  )
  t.strictSame(
    details.map(({ status, details }) => [status, JSON.parse(details)]),
    [
      ['pending', { late: false, willRetry: false, nextAttemptAt: null }],
      ['submitted', { late: false, willRetry: false, nextAttemptAt: null }],
      ['collected', { late: false, willRetry: false, nextAttemptAt: null }],
      ['returned', { late: true, willRetry: true, nextAttemptAt }],
    ],
  )
  const ours = await mandateOf({})
  t.equal((await client.post(`/mandates/${ours.id}/cancel`, {})).status, 200)
  await report(`/mandates/${mandateId}`, 'cancelled', { reasonCode: 'MD16' })
  const told = await until('the notices', async () => {
    const rows = await world.query<{ type: string; object_id: string; title: string }>(
      `select distinct type, object_id, title from notification where type in ('collection_returned', 'mandate_cancelled') order by 1`,
      [],
    )
    return rows.length > 1 && rows
  })
  t.strictSame(
    told.map((row) => ({ ...row })),
    [
      { type: 'collection_returned', object_id: id, title: `Collection ${number} came back` },
      { type: 'mandate_cancelled', object_id: mandateId, title: `Mandate ${reference} was cancelled` },
    ],
    'what the customer did itself it knows',
  )
})

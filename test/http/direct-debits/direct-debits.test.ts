/** Mandates and collections over HTTP. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { addDays, dateIn } from '../../../lib/base/clock.ts'
import type { Collection } from '../../../lib/direct-debits/collection-schema.ts'
import type { Mandate } from '../../../lib/direct-debits/mandate-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'
import { PDF, upload } from '../documents/upload.ts'

// Nothing is sent to the sandbox bank, whose words are in words.test.ts: people report here.
const world: World = await createWorld({ dispatch: false })
const { client, balances } = world.seeded
const staff = await world.person('operations').signIn()
t.teardown(async () => {
  await world.audit()
  await world[Symbol.asyncDispose]()
})

const euros = (amountMinor: number, currency = 'EUR') => ({ amountMinor: String(amountMinor), currency })
const ACCOUNTS: Readonly<Record<string, object>> = {
  sepa_dd_core: { iban: 'NL50SBOX0100000002' },
  sepa_dd_b2b: { iban: 'NL50SBOX0100000002' },
  bacs_dd: { sortCode: '99-00-01', accountNumber: '12345678' },
  ach_debit: { routingNumber: '099000011', accountNumber: '123456789', accountType: 'checking' },
}
const BALANCES: Readonly<Record<string, string | undefined>> = {
  sepa_dd_core: balances.EUR,
  sepa_dd_b2b: balances.EUR,
  bacs_dd: balances.GBP,
  ach_debit: balances.USD,
}

const mandateBody = (scheme: string, change: object = {}) => ({
  direction: 'collect',
  scheme,
  reference: '',
  balanceId: BALANCES[scheme],
  counterparty: { name: 'Ada Payer', ...ACCOUNTS[scheme] },
  ...change,
})
const makeMandate = async (scheme: string, change: object = {}, key: string = randomUUID()) =>
  await client.post<Mandate>('/mandates', mandateBody(scheme, change), key)
const signed = async (change: object = {}): Promise<Mandate> => {
  const reply = await makeMandate('sepa_dd_core', { signedAt: '2026-01-05', ...change })
  if (reply.status !== 201) throw new Error(reply.text)
  return reply.body
}
const collect = async (mandateId: string, change: object = {}, key: string = randomUUID()) =>
  await client.post<Collection>(
    '/collections',
    { mandateId, amount: euros(2_500), reference: 'Invoice 42', ...change },
    key,
  )
const report = async (path: string, status: string, change: object = {}) =>
  await staff.post<Mandate & Collection>(`${path}/status-reports`, {
    status,
    reportedAt: new Date(world.now()).toISOString(),
    ...change,
  })

const change = async (id: string, body: object, etag: string) =>
  await client.send<Mandate>(`/v1/mandates/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', 'if-match': etag },
    body: JSON.stringify(body),
  })

/** The first such weekday (1 to 7) at least a month ahead. */
function dayAhead(weekday: number): string {
  let day = addDays(dateIn(world.now(), 'UTC'), 31)
  while (Temporal.PlainDate.from(day).dayOfWeek !== weekday) day = addDays(day, 1)
  return day
}

t.test('a mandate is made, read, listed, changed and cancelled', async (t) => {
  const key = randomUUID()
  const made = await makeMandate('sepa_dd_core', { metadata: { contract: '7' } }, key)
  t.equal(made.status, 201, made.text)
  const { id } = made.body
  t.match(made.body, {
    direction: 'collect',
    scheme: 'sepa_dd_core',
    status: 'pending',
    management: 'client',
    reference: /^WB[A-Z0-9]{14}$/,
    sequenceType: 'recurring',
    counterparty: { name: 'Ada Payer', kind: 'consumer', iban: 'NL50****0002' },
    schemeRules: { currency: 'EUR', dormancyMonths: 36 },
    nextCollectionDate: null,
    nextPossibleCollectionDate: /^\d{4}-\d\d-\d\d$/,
    cancellable: true,
    history: [{ status: 'pending', reason: null }],
  })
  const again = await makeMandate('sepa_dd_core', { metadata: { contract: '7' } }, key)
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.strictSame(again.body, made.body)
  const read = await client.get<Mandate>(`/mandates/${id}`)
  t.equal(read.body.id, id)
  const list = await client.get<{ data: Mandate[] }>(
    `/mandates?filter[reference]=${made.body.reference}&filter[status]=pending`,
  )
  t.strictSame(
    list.body.data.map((each) => each.id),
    [id],
  )
  const etag = read.headers.get('etag') as string
  const patched = await change(id, { signedAt: '2026-01-05', amountLimit: euros(3_000) }, etag)
  t.equal(patched.status, 200, patched.text)
  t.match(patched.body, { status: 'active', amountLimit: euros(3_000), signedAt: '2026-01-05T00:00:00.000Z' })
  t.equal((await change(id, { amountLimit: null }, etag)).status, 412)
  const cancelled = await client.post<Mandate>(`/mandates/${id}/cancel`, { reason: 'Contract ended' }, randomUUID())
  t.match(cancelled.body, { status: 'cancelled', statusReason: 'Contract ended', cancellable: false })
  const twice = await client.post(`/mandates/${id}/cancel`, {}, randomUUID())
  t.match(twice.problem, { status: 409, currentStatus: 'cancelled' })
})

t.test('bad mandates are refused with the field at fault', async (t) => {
  for (const [scheme, change, field, code] of [
    ['sepa_dd_core', { counterparty: { name: 'Ada' } }, '/counterparty/iban', 'required'],
    [
      'sepa_dd_core',
      { counterparty: { name: 'Ada', iban: 'NL51SBOX0100000002' } },
      '/counterparty/iban',
      'invalid_format',
    ],
    [
      'sepa_dd_core',
      { counterparty: { name: 'Ada', iban: 'NL50SBOX0100000002', sortCode: '990001' } },
      '/counterparty/sortCode',
      'not_applicable',
    ],
    ['sepa_dd_core', { balanceId: balances.GBP }, '/balanceId', 'currency_mismatch'],
    ['sepa_dd_core', { balanceId: randomUUID() }, '/balanceId', 'not_found'],
    ['sepa_dd_core', { reference: 'a#b' }, '/reference', 'invalid_characters'],
    ['bacs_dd', { reference: 'abc' }, '/reference', 'invalid_characters'],
    ['sepa_dd_core', { direction: 'pay' }, '/counterparty/creditorId', 'required'],
    ['sepa_dd_core', { authorisationSource: 'telephone' }, '/authorisationSource', 'not_applicable'],
    ['sepa_dd_core', { amountLimit: euros(1, 'GBP') }, '/amountLimit/currency', 'currency_mismatch'],
    ['sepa_dd_core', { signedAt: '2999-01-01' }, '/signedAt', 'invalid_value'],
  ] as const) {
    const { status, problem } = await makeMandate(scheme, change)
    t.match({ status, errors: problem?.errors }, { status: 422, errors: [{ field, code }] }, `${scheme} ${field}`)
  }
  const taken = await makeMandate('sepa_dd_core', { reference: 'CONTRACT-1' })
  t.equal(taken.status, 201)
  t.match((await makeMandate('sepa_dd_core', { reference: 'CONTRACT-1' })).problem, {
    errors: [{ field: '/reference' }],
  })
})

t.test('a collection is made, collected, returned and collected again, with its money', async (t) => {
  const before = await balanceOf()
  const mandate = await signed()
  t.equal(mandate.status, 'active')
  const made = await collect(mandate.id, { externalId: `E-${mandate.id}` })
  t.equal(made.status, 201, made.text)
  const { id, dueDate } = made.body
  t.match(made.body, {
    status: 'pending',
    sequenceType: 'first',
    amount: euros(2_500),
    number: /^COL/,
    preNotification: { sentAt: null, values: { dueDate } },
    attempts: [],
    cancellable: true,
    transactionId: null,
  })
  t.match((await collect(mandate.id, { externalId: `E-${mandate.id}` })).problem, { status: 409, existingId: id })
  t.equal((await client.get<Mandate>(`/mandates/${mandate.id}`)).body.nextCollectionDate, dueDate)
  t.match((await report(`/collections/${id}`, 'submitted')).body, { status: 'submitted', cancellable: false })
  t.match((await client.post(`/mandates/${mandate.id}/cancel`, {}, randomUUID())).problem, { status: 409 })
  t.match((await client.post(`/collections/${id}/cancel`, undefined, randomUUID())).problem, { status: 409 })
  t.match((await report(`/collections/${id}`, 'collected')).body, { status: 'collected', refundableUntil: String })
  t.equal(await balanceOf(), before + 2_500n)
  t.match((await report(`/collections/${id}`, 'returned', { reasonCode: 'MD06' })).body, {
    status: 'returned',
    returnedAmount: euros(2_500),
    rTransactions: [{ type: 'refund_authorised', reasonCode: 'MD06' }],
  })
  t.equal(await balanceOf(), before)
  t.match((await report(`/collections/${id}`, 'collected')).problem, { status: 409 })
  t.match((await collect(mandate.id)).body, { sequenceType: 'recurring' })
  const byReason = await client.get<{ data: Collection[] }>(
    `/collections?filter[reasonCode]=MD06&filter[mandateId]=${mandate.id}&sort=dueDate`,
  )
  t.strictSame(
    byReason.body.data.map((each) => each.id),
    [id],
  )
  const events = await world.query<{ status: string; previous_status: string | null }>(
    `select status, previous_status from outbox where object_id = $1 order by created_at, id`,
    [id],
  )
  t.strictSame(
    events.map(({ status }) => status),
    ['pending', 'submitted', 'collected', 'returned'],
  )
})

t.test('a collection ends with its mandate', async (t) => {
  const mandate = await signed()
  const first = (await collect(mandate.id)).body
  const second = (await collect(mandate.id)).body
  const cancelled = await client.post<Collection>(`/collections/${first.id}/cancel`, undefined, randomUUID())
  t.match(cancelled.body, { status: 'cancelled', statusReason: 'cancelled_by_user' })
  await client.post(`/mandates/${mandate.id}/cancel`, {}, randomUUID())
  t.match((await client.get(`/collections/${second.id}`)).body, {
    status: 'cancelled',
    statusReason: 'mandate_cancelled',
  })
  const waiting = (await makeMandate('sepa_dd_b2b')).body
  const early = (await collect(waiting.id)).body
  t.equal(early.status, 'pending', 'by a mandate that is not active yet')
  t.match((await report(`/mandates/${waiting.id}`, 'submitted')).body, { status: 'submitted' })
  t.match((await report(`/mandates/${waiting.id}`, 'failed', { reasonCode: 'AC04' })).body, {
    status: 'failed',
    statusReason: 'AC04',
  })
  t.match((await client.get(`/collections/${early.id}`)).body, { status: 'failed', statusReason: 'mandate_failed' })
})

t.test('bad collections are refused with the field at fault, and change nothing', async (t) => {
  const mandate = await signed({ amountLimit: euros(3_000) })
  for (const [change, field, code] of [
    [{ amount: euros(3_001) }, '/amount/amountMinor', 'too_large'],
    [{ amount: euros(100, 'GBP') }, '/amount/currency', 'currency_mismatch'],
    [{ dueDate: dayAhead(7) }, '/dueDate', 'not_business_day'],
    [{ dueDate: dateIn(world.now(), 'UTC') }, '/dueDate', 'too_small'],
    [{ dueDate: addDays(dayAhead(1), 400) }, '/dueDate', 'too_far_ahead'],
    [{ mandateId: randomUUID() }, '/mandateId', 'not_found'],
  ] as const) {
    const { status, problem } = await collect(mandate.id, change)
    t.match({ status, errors: problem?.errors }, { status: 422, errors: [{ field, code }] }, `${field} ${code}`)
  }
  const other = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
  const theirs = await other.client.post<Mandate>(
    '/mandates',
    { ...mandateBody('sepa_dd_core'), balanceId: other.balanceIds[0], signedAt: '2026-01-05' },
    randomUUID(),
  )
  t.match((await collect(theirs.body.id)).problem, { errors: [{ field: '/mandateId', code: 'not_found' }] })
  t.equal((await client.get(`/mandates/${theirs.body.id}`)).status, 404)
  await report(`/mandates/${mandate.id}`, 'suspended')
  t.match((await collect(mandate.id)).problem, { status: 409, currentStatus: 'suspended' })
  t.equal((await client.get<{ data: [] }>(`/collections?filter[mandateId]=${mandate.id}`)).body.data.length, 0)
})

t.test('a mandate names a document that is clean and its own, which then stays', async (t) => {
  const key = { token: world.service.sandbox!.customer.apiKey, tenantId: client.tenantId }
  const made = await upload<{ id: string }>(world, key, '/documents', { bytes: PDF, fields: { purpose: 'mandate' } })
  t.equal(made.status, 201)
  const mandateDocumentId = made.body.id
  await until('the document is clean', async () => {
    world.advance(1_000)
    return (await client.get<{ status: string }>(`/documents/${mandateDocumentId}`)).body.status === 'clean'
  })
  await world.query(`update document set status = 'pending_scan' where id = $1`, [mandateDocumentId])
  t.match((await makeMandate('sepa_dd_core', { mandateDocumentId })).problem, {
    code: 'document-not-clean',
    documentIds: [mandateDocumentId],
  })
  await world.query(`update document set status = 'clean' where id = $1`, [mandateDocumentId])
  t.match((await makeMandate('sepa_dd_core', { mandateDocumentId: randomUUID() })).problem, {
    errors: [{ field: '/mandateDocumentId', code: 'not_found' }],
  })
  const other = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
  const theirs = await other.client.post('/mandates', {
    ...mandateBody('sepa_dd_core', { mandateDocumentId }),
    balanceId: other.balanceIds[0],
  })
  t.match(theirs.problem, { errors: [{ field: '/mandateDocumentId', code: 'not_found' }] }, 'of another customer')
  const { id } = (await makeMandate('sepa_dd_core', { mandateDocumentId })).body
  t.equal((await client.get<Mandate>(`/mandates/${id}`)).body.mandateDocumentId, mandateDocumentId)
  t.match((await report(`/mandates/${id}`, 'active', { documentId: randomUUID() })).problem, {
    errors: [{ field: '/documentId', code: 'not_found' }],
  })
  t.match((await report(`/mandates/${id}`, 'active', { documentId: mandateDocumentId })).body, { status: 'active' })
  const its = (await collect(id)).body.id
  t.match((await report(`/collections/${its}`, 'submitted', { documentId: mandateDocumentId })).body, {
    status: 'submitted',
  })
  const gone = await client.send(`/v1/documents/${mandateDocumentId}`, { method: 'DELETE' })
  t.not(gone.status, 204, 'what a mandate names is not deleted')
})

t.test('a mandate moves to another balance of its bank and currency, while both are open', async (t) => {
  const other = await world.customer({
    balances: [
      { currency: 'EUR', amount: 0n },
      { currency: 'EUR', amount: 0n },
      { currency: 'GBP', amount: 0n },
    ],
  })
  const [first, second, pounds] = other.balanceIds
  const { id } = (await other.client.post<Mandate>('/mandates', { ...mandateBody('sepa_dd_core'), balanceId: first }))
    .body
  const to = async (balanceId: unknown) =>
    await other.client.send<Mandate>(`/v1/mandates/${id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', 'if-match': '*' },
      body: JSON.stringify({ balanceId }),
    })
  t.match((await to(pounds)).problem, { errors: [{ field: '/balanceId', code: 'currency_mismatch' }] })
  t.match((await to(balances.EUR)).problem, { errors: [{ field: '/balanceId', code: 'not_found' }] })
  await world.query(`update balance set status = 'frozen' where id = $1`, [second])
  t.match((await to(second)).problem, { errors: [{ field: '/balanceId', code: 'inactive' }] })
  await world.query(`update balance set status = 'active' where id = $1`, [second])
  t.match((await to(second)).body, { balanceId: second })
})

t.test('customers report no statuses', async (t) => {
  t.equal((await client.post(`/mandates/${randomUUID()}/status-reports`, { status: 'active' })).status, 403)
})

async function balanceOf(): Promise<bigint> {
  const reply = await client.get<{ bookBalance: { amountMinor: string } }>(`/balances/${balances.EUR}`)
  return BigInt(reply.body.bookBalance.amountMinor)
}

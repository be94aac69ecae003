/** Balances that people open, change and close, over HTTP. */
import t from 'tap'
import { IdleBalances } from '../../../actors/accounts/idle-balances.ts'
import type { Balance } from '../../../lib/balances/balance-schema.ts'
import { createIdSource } from '../../../lib/base/ids.ts'
import { Database } from '../../../storage/db/database.ts'
import { checkOneKey } from '../../support/one-key.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, transferBody, type World } from '../../support/world.ts'
import type { Person } from '../../support/person.ts'

const world: World = await createWorld()
const { client, balances, recipients } = world.seeded
const owner: Person = await world.person('owner').signIn()
t.teardown(async () => {
  await world.audit()
  await world[Symbol.asyncDispose]()
})

const open = async (body: object): Promise<Balance> => (await owner.post<Balance>('/balances', body)).body
const etagOf = async (id: string): Promise<string> => (await owner.get(`/balances/${id}`)).headers.get('etag') as string
const patch = async (id: string, body: object, etag?: string) =>
  await owner.send<Balance>('PATCH', `/balances/${id}`, body, { 'if-match': etag ?? (await etagOf(id)) })
const fieldOf = (reply: {
  readonly problem: { readonly errors?: readonly { readonly field: string; readonly code: string }[] }
}) => reply.problem.errors?.map(({ field, code }) => `${field} ${code}`)

t.test('a balance is opened in a currency that is enabled', async (t) => {
  const reply = await owner.post<Balance>('/balances', {
    currency: 'CHF',
    name: 'Zurich',
    metadata: { costCentre: '7' },
  })
  t.equal(reply.status, 201)
  const { id } = reply.body
  t.match(reply.body, {
    customerId: owner.tenantId,
    currency: 'CHF',
    name: 'Zurich',
    type: 'main',
    parentBalanceId: null,
    status: 'active',
    isDefault: true,
    bookBalance: { amountMinor: '0', currency: 'CHF' },
    detailsStatus: null,
    lowBalanceThreshold: null,
    metadata: { costCentre: '7' },
    closedAt: null,
  })
  t.equal(reply.headers.get('location'), `/v1/balances/${id}`)
  t.equal(reply.headers.get('etag'), await etagOf(id))
  t.match(await client.balance(id), { name: 'Zurich' })
  t.match(await open({ currency: 'CHF' }), { isDefault: false, name: 'CHF account' }, 'the second one is no default')
  t.strictSame(fieldOf(await owner.post('/balances', { currency: 'XXY' })), ['/currency invalid_value'])
  t.strictSame(fieldOf(await owner.post('/balances', { currency: 'BGN' })), ['/currency currency_withdrawn'])
  t.strictSame(fieldOf(await owner.post('/balances', { currency: 'KWD' })), ['/currency invalid_value'], 'not offered')
  t.equal((await client.post('/balances', { currency: 'EUR' })).problem.code, 'insufficient-scope', 'keys only read')
  t.equal((await owner.post('/balances', { currency: 'EUR', isDefault: true })).problem.code, 'validation-error')
  const path = `/customers/${owner.tenantId}/settings/currencies`
  const read = await owner.get<{ data: { currency: string; enabled: boolean }[] }>(path)
  const enabled = read.body.data.filter((one) => one.enabled && one.currency !== 'PLN').map(({ currency }) => currency)
  t.equal((await owner.send('PUT', path, { enabled }, { 'if-match': read.headers.get('etag')! })).status, 200)
  t.strictSame(fieldOf(await owner.post('/balances', { currency: 'PLN' })), ['/currency inactive'])
})

t.test('sub-balances are below a balance of their currency', async (t) => {
  const sub = await open({ currency: 'EUR', name: 'Payroll', parentBalanceId: balances.EUR })
  t.match(sub, { type: 'sub', parentBalanceId: balances.EUR, isDefault: false })
  t.strictSame(
    (await client.list<Balance>('/balances', { 'filter[parentBalanceId]': balances.EUR })).body.data.map(
      ({ id }) => id,
    ),
    [sub.id],
  )
  t.strictSame(
    (await client.list<Balance>('/balances', { 'filter[type]': 'sub', q: 'payr' })).body.data.map(({ id }) => id),
    [sub.id],
  )
  t.strictSame(
    (
      await world.operator.list<Balance>('/balances', { 'filter[customerId]': owner.tenantId, 'filter[type]': 'sub' })
    ).body.data.map(({ id }) => id),
    [sub.id],
  )
  t.strictSame(fieldOf(await owner.post('/balances', { currency: 'EUR', parentBalanceId: sub.id })), [
    '/parentBalanceId invalid_value',
  ])
  t.strictSame(fieldOf(await owner.post('/balances', { currency: 'USD', parentBalanceId: balances.EUR })), [
    '/parentBalanceId currency_mismatch',
  ])
  t.strictSame(fieldOf(await owner.post('/balances', { currency: 'EUR', parentBalanceId: owner.tenantId })), [
    '/parentBalanceId not_found',
  ])
  t.strictSame(fieldOf(await patch(sub.id, { isDefault: true })), ['/isDefault not_applicable'])
  t.equal(
    (await owner.post(`/balances/${balances.EUR}/close`, {})).problem.code,
    'invalid-transition',
    'not before its sub-balances',
  )
  t.equal((await owner.post<Balance>(`/balances/${sub.id}/close`)).body.status, 'closed', 'nothing was behind it')
})

t.test('a change does not fight with movements of money, and only with other changes by people', async (t) => {
  const etag = await etagOf(balances.EUR)
  const payment = await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 4_200))
  t.equal(payment.status, 201)
  t.not(await etagOf(balances.EUR), etag, 'the amounts are another representation')
  const renamed = await patch(balances.EUR, { name: 'Operations' }, etag)
  t.equal(renamed.status, 200, renamed.text)
  await client.createTransfer(transferBody(balances.EUR, (await open({ currency: 'EUR' })).id, 100))
  t.equal((await patch(balances.EUR, { name: 'Mine' }, etag)).problem.code, 'precondition-failed', 'a person was first')
  const later = renamed.headers.get('etag') as string
  t.equal((await patch(balances.EUR, { name: 'EUR account' }, `"1-000000000000", ${later}`)).status, 200, 'a list')
  t.equal((await client.get(`/balances/${balances.EUR}`, { 'if-none-match': later })).status, 200)
  await client.paymentsSettled()
})

t.test('a change needs the tag, and moves the version', async (t) => {
  const { id } = await open({ currency: 'SEK', metadata: { a: '1', b: '2' } })
  t.equal((await owner.send('PATCH', `/balances/${id}`, { name: 'x' })).problem.code, 'precondition-required')
  const etag = await etagOf(id)
  const changed = await patch(
    id,
    {
      name: ' Stockholm ',
      lowBalanceThreshold: { amountMinor: '500', currency: 'SEK' },
      metadata: { a: null, c: '3' },
    },
    etag,
  )
  t.match(changed.body, { name: 'Stockholm', lowBalanceThreshold: { amountMinor: '500', currency: 'SEK' } })
  t.strictSame(changed.body.metadata, { b: '2', c: '3' })
  t.equal(changed.headers.get('etag'), await etagOf(id))
  t.equal((await patch(id, { name: 'x' }, etag)).problem.code, 'precondition-failed')
  t.match((await patch(id, { lowBalanceThreshold: null }, '*')).body, { name: 'Stockholm', lowBalanceThreshold: null })
  t.strictSame(fieldOf(await patch(id, { lowBalanceThreshold: { amountMinor: '1', currency: 'EUR' } })), [
    '/lowBalanceThreshold/currency currency_mismatch',
  ])
  t.strictSame(fieldOf(await patch(id, { lowBalanceThreshold: { amountMinor: '-1', currency: 'SEK' } })), [
    '/lowBalanceThreshold/amountMinor too_small',
  ])
  t.strictSame(fieldOf(await patch(id, { status: 'closed' })), ['/status read_only_field'])
  t.equal(
    (await owner.send('PATCH', `/balances/${owner.tenantId}`, { name: 'x' }, { 'if-match': '*' })).problem.code,
    'not-found',
  )
  const trail = (await owner.get<{ data: { action: string }[] }>(`/audit-events?filter[objectId]=${id}`)).body.data.map(
    ({ action }) => action,
  )
  t.strictSame(trail, ['balance.updated', 'balance.updated', 'balance.opened'])
})

t.test('each currency has one default', async (t) => {
  const second = await open({ currency: 'GBP' })
  t.strictSame(fieldOf(await patch(balances.GBP, { isDefault: false })), ['/isDefault invalid_value'])
  const both = await Promise.all([
    patch(second.id, { isDefault: true }, '*'),
    patch(balances.GBP, { isDefault: true }, '*'),
  ])
  t.strictSame(
    both.map(({ status }) => status),
    [200, 200],
  )
  const defaults = () =>
    client
      .list<Balance>('/balances', { 'filter[currency]': 'GBP' })
      .then(({ body }) => body.data.filter(({ isDefault }) => isDefault).map(({ id }) => id))
  t.equal((await defaults()).length, 1)
  await patch(second.id, { isDefault: true }, '*')
  t.strictSame(await defaults(), [second.id])
  t.equal((await owner.post<Balance>(`/balances/${second.id}/close`, {})).body.isDefault, false)
  t.strictSame(await defaults(), [balances.GBP], 'the oldest follows')
})

t.test('what is left goes to another balance with the closing', async (t) => {
  const source = await open({ currency: 'EUR', name: 'Old' })
  const target = await open({ currency: 'EUR', name: 'New' })
  await client.createTransfer(transferBody(balances.EUR, source.id, 12_345))
  const close = (body: object) => owner.post<Balance>(`/balances/${source.id}/close`, body)
  t.match((await close({})).problem, { code: 'invalid-transition', currentStatus: 'active' })
  t.strictSame(fieldOf(await close({ sweepToBalanceId: source.id })), ['/sweepToBalanceId invalid_value'])
  t.strictSame(fieldOf(await close({ sweepToBalanceId: balances.USD })), ['/sweepToBalanceId currency_mismatch'])
  t.strictSame(fieldOf(await close({ sweepToBalanceId: owner.tenantId })), ['/sweepToBalanceId not_found'])
  const paid = (await client.createPayment(paymentBody(source.id, recipients.EUR, 45))).body
  t.equal((await close({ sweepToBalanceId: target.id })).problem.code, 'invalid-transition', 'a payment is under way')
  await client.paymentReaching(paid.id, 'completed')
  const closed = await until('the payment is over', async () => {
    const reply = await close({ sweepToBalanceId: target.id })
    return reply.status === 200 ? reply.body : null
  })
  t.match(closed, { status: 'closed', bookBalance: { amountMinor: '0' }, availableBalance: { amountMinor: '0' } })
  t.ok(closed.closedAt)
  t.match(await client.balance(target.id), { bookBalance: { amountMinor: '12300' } })
  const [line] = await client.journal(source.id)
  t.match(line, {
    type: 'transfer_out',
    direction: 'debit',
    amount: { amountMinor: '12300' },
    runningBalance: { amountMinor: '0' },
  })
  t.match(await client.get(`/transfers/${line!.source.id}`), { status: 200 })
  t.match((await close({ sweepToBalanceId: target.id })).problem, {
    code: 'invalid-transition',
    currentStatus: 'closed',
  })
  t.match(
    (await client.createPayment(paymentBody(source.id, recipients.EUR, 45))).problem,
    { code: 'validation-error' },
    'every node has learned',
  )
  t.match((await client.createTransfer(transferBody(balances.EUR, source.id, 1))).problem, { code: 'validation-error' })
  t.match((await patch(source.id, { name: 'x' })).problem, { code: 'invalid-transition' })
})

t.test('sub-balances that stay empty for a year are closed where the customer wants it', async (t) => {
  const database = new Database(world.databaseUrl, 1)
  t.teardown(() => database.close())
  const clock = { now: world.now }
  const failures: unknown[] = []
  const idle = new IdleBalances({
    database,
    clock,
    ids: createIdSource(clock),
    onError: (error) => {
      failures.push(error)
    },
  })
  const parent = await open({ currency: 'NOK' })
  const [empty, used, young] = await Promise.all(
    ['Empty', 'Used', 'Young'].map((name) => open({ currency: 'NOK', name, parentBalanceId: parent.id })),
  )
  const statuses = async () =>
    Object.fromEntries(
      (await client.list<Balance>('/balances', { 'filter[currency]': 'NOK' })).body.data.map(({ name, status }) => [
        name,
        status,
      ]),
    )
  await world.query(`update balance set updated_at = updated_at - interval '366 days' where id = any($1)`, [
    [parent.id, empty!.id, used!.id],
  ])
  await client.post('/simulations/incoming-payments', {
    balanceId: used!.id,
    amount: { amountMinor: '5', currency: 'NOK' },
  })
  await until('the money is there', async () => (await client.balance(used!.id)).bookBalance.amountMinor === '5')
  await world.query(`update balance set updated_at = updated_at - interval '366 days' where id = $1`, [used!.id])
  await idle.close()
  t.strictSame(
    await statuses(),
    { 'NOK account': 'active', Empty: 'active', Used: 'active', Young: 'active' },
    'nobody asked for it',
  )
  const path = `/customers/${owner.tenantId}/settings/preferences`
  t.equal((await owner.send('PATCH', path, { closeEmptyBalances: true }, { 'if-match': '*' })).status, 200)
  await idle.close()
  t.strictSame(await statuses(), { 'NOK account': 'active', Empty: 'closed', Used: 'active', Young: 'active' })
  t.equal(young!.status, 'active')
  t.strictSame(failures, [])
})

t.test('a repeat with the same key opens one balance and requests one account', async (t) => {
  const key = { 'idempotency-key': 'open-1' }
  const body = { currency: 'EUR', name: 'Once' }
  const first = await owner.post<Balance>('/balances', body, key)
  const again = await owner.post<Balance>('/balances', body, key)
  t.equal(first.status, 201, first.text)
  t.strictSame([again.status, again.text, again.headers.get('idempotency-replayed')], [201, first.text, 'true'])
  for (const name of ['location', 'etag']) t.equal(again.headers.get(name), first.headers.get(name), name)
  t.equal(first.headers.get('etag'), await etagOf(first.body.id))
  t.match((await owner.post('/balances', { ...body, name: 'Twice' }, key)).problem, { code: 'idempotency-key-reused' })
  t.equal((await owner.get<{ data: Balance[] }>('/balances?q=Once')).body.data.length, 1)
  const path = `/balances/${first.body.id}/details`
  const asked = await owner.post<{ id: string }>(path, { rails: ['sepa'] }, key)
  const repeated = await owner.post<{ id: string }>(path, { rails: ['sepa'] }, key)
  t.strictSame([asked.status, repeated.status, repeated.text], [202, 202, asked.text], asked.text)
  t.equal(repeated.headers.get('location'), `/v1${path}`)
  t.match((await owner.post(path, { rails: ['sepa'] })).problem, { code: 'invalid-transition' }, 'without the key')
})

t.test('a repeat with the same key closes a balance once, and moves what is left of it once', async (t) => {
  const [emptied, target] = await Promise.all(['Emptied', 'Target'].map((name) => open({ currency: 'SEK', name })))
  const amount = { amountMinor: '700', currency: 'SEK' }
  await client.post('/simulations/incoming-payments', { balanceId: emptied!.id, amount })
  await until('the money is there', async () => (await client.balance(emptied!.id)).bookBalance.amountMinor === '700')
  const path = `/balances/${emptied!.id}/close`
  const body = { sweepToBalanceId: target!.id }
  const closed = await checkOneKey<Balance>(
    t,
    (key) => owner.post<Balance>(path, body, key),
    (key) => owner.post(path, {}, key),
  )
  t.equal(closed.status, 200, closed.text)
  t.match(closed.body, { id: emptied!.id, status: /^clos/, bookBalance: { amountMinor: '0' } })
  t.equal(closed.headers.get('etag'), await etagOf(emptied!.id))
  t.match(await client.balance(target!.id), { bookBalance: amount }, 'the money has moved once')
  t.match((await owner.post(path, body)).problem, { code: 'invalid-transition' }, 'without the key')

  const key = { 'idempotency-key': 'close-2' }
  const refused = await owner.post(`/balances/${target!.id}/close`, undefined, key)
  t.match(refused.problem, { status: 409, code: 'invalid-transition' }, 'a balance with money is not closed')
  const again = await owner.post(`/balances/${target!.id}/close`, undefined, key)
  t.strictSame([again.text, again.headers.get('idempotency-replayed')], [refused.text, 'true'])
})

/** Direct debits of balances, over HTTP. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { DAY_MS } from '../../../lib/base/clock.ts'
import type { Balance } from '../../../lib/balances/balance-schema.ts'
import type { Mandate } from '../../../lib/direct-debits/mandate-schema.ts'
import type { DebitControls, IncomingDebit } from '../../../lib/incoming-debits/incoming-debit-schema.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'
import { collect, dayAfter, money, reaching, trace } from './support.ts'

const world: World = await createWorld()
const { client, balances } = world.seeded
const owner: Person = await world.person('owner').signIn()
t.teardown(async () => {
  await world.audit()
  await world[Symbol.asyncDispose]()
})

/** Makes a customer with one balance in euro. */
async function customerWith(amount: bigint) {
  const customer = await world.customer({ balances: [{ currency: 'EUR', amount }] })
  return { client: customer.client, balanceId: customer.balanceIds[0] as string }
}

const refuse = async (id: string, body: object = {}) =>
  await client.post<IncomingDebit>(`/incoming-debits/${id}/refuse`, body, randomUUID())
const refund = async (id: string, reasonCode: string, by = client) =>
  await by.post<IncomingDebit>(`/incoming-debits/${id}/refund`, { reasonCode }, randomUUID())
const amountOf = async (by: typeof client, balanceId: string): Promise<string> =>
  (await by.get<Balance>(`/balances/${balanceId}`)).body.bookBalance.amountMinor

t.test(
  'a debit that is due today is taken from its balance, with its transaction and its statement line',
  async (t) => {
    const { client: payer, balanceId } = await customerWith(5_000n)
    const id = await collect(payer, balanceId, { reference: 'Invoice 7', creditorId: 'DE98ZZZ09999999999' })
    const debit = await reaching(payer, id, 'debited')
    t.match(debit, {
      id,
      customerId: payer.tenantId,
      balanceId,
      scheme: 'sepa_dd_core',
      amount: money(1_000),
      creditor: { name: 'City Power', identifier: 'DE98ZZZ09999999999' },
      mandateReference: 'SBX-MANDATE-1',
      reference: 'Invoice 7',
      reasonCode: null,
      reason: null,
      refundableUntil: String,
      unauthorisedRefundUntil: String,
      debitedAt: String,
      endedAt: null,
    })
    t.equal(await amountOf(payer, balanceId), '4000')
    t.strictSame(await trace(world, id), { rules: ['L60'], events: ['received debited', 'status_changed debited'] })
    const transaction = await until('its transaction is made', async () => {
      const reply = await payer.get<{ readonly type: string }>(`/transactions/${debit.transactionId}`)
      return reply.status === 200 ? reply.body : null
    })
    t.match(transaction, {
      type: 'direct_debit',
      direction: 'out',
      status: 'completed',
      amount: money(1_000),
      description: 'Direct debit by City Power',
    })
    t.match((await payer.list<object>('/transactions', { 'filter[type]': 'direct_debit' })).body.data.length, 1)
  },
)

t.test('a debit is refused for want of a mandate, of funds, and of a balance that pays', async (t) => {
  const { client: payer, balanceId } = await customerWith(500n)
  const noMandate = await reaching(
    payer,
    await collect(payer, balanceId, { creditorName: 'Power SBX:NOMANDATE', amount: money(1) }),
    'refused',
  )
  t.match(noMandate, { reasonCode: 'MD01', reason: 'The debit names no mandate.', mandateReference: null })
  const id = await collect(payer, balanceId, { amount: money(501) })
  t.match(await reaching(payer, id, 'refused'), { reasonCode: 'AM04', transactionId: null, endedAt: String })
  t.strictSame(await trace(world, id), { rules: [], events: ['received refused', 'status_changed refused'] })
  const staff = await world.person('operator_admin').signIn()
  await staff.stepUp('settings.change')
  t.equal((await staff.post(`/balances/${balanceId}/freeze`, { reason: 'Order of a court' })).status, 200)
  t.match(await reaching(payer, await collect(payer, balanceId, { amount: money(1) }), 'refused'), {
    reasonCode: 'AC06',
  })
  t.equal(await amountOf(payer, balanceId), '500')
})

t.test(
  'an announced debit is refused by the customer before its due date, and ends its mandate at their wish',
  async (t) => {
    const dueDate = dayAfter(world.now(), 3)
    const id = await collect(client, balances.EUR, { dueDate, creditorName: 'Gym' })
    t.match(await reaching(client, id, 'announced'), { dueDate, debitedAt: null })
    const key = randomUUID()
    const path = `/incoming-debits/${id}/refuse`
    const refused = await client.post<IncomingDebit>(path, { cancelMandate: true }, key)
    t.match(refused.body, { status: 'refused', reasonCode: 'MS02', reason: 'The customer refused the debit.' })
    t.equal((await client.post(path, { cancelMandate: true }, key)).text, refused.text, 'the same answer under the key')
    t.match((await refuse(id)).problem, { status: 409, code: 'invalid-transition', currentStatus: 'refused' })
    t.match((await refund(id, 'MD06')).problem, { code: 'invalid-transition', currentStatus: 'refused' })
    t.match(await reaching(client, await collect(client, balances.EUR, { creditorName: 'Gym' }), 'refused'), {
      reasonCode: 'MD01',
      reason: 'The mandate is no longer valid.',
    })
    t.strictSame((await trace(world, id)).events, ['received announced', 'status_changed refused'])
    t.strictSame(
      (await world.query<{ action: string }>('select action from audit_event where object_id = $1', [id])).map(
        ({ action }) => action,
      ),
      ['incoming_debit.refused'],
    )
  },
)

t.test('a refund is credited once, within the window of its scheme', async (t) => {
  const { client: payer, balanceId } = await customerWith(3_000n)
  const [first, second] = [await collect(payer, balanceId), await collect(payer, balanceId)]
  const debited = await reaching(payer, first, 'debited')
  await reaching(payer, second, 'debited')
  t.equal(
    Date.parse(debited.refundableUntil as string) > world.now() + 56 * DAY_MS,
    true,
    'eight weeks and the rest of the day',
  )
  const [one, other] = await Promise.all([refund(first, 'MD06', payer), refund(first, 'MD06', payer)])
  t.strictSame([one.status, other.status].toSorted(), [200, 409], 'of two requests one is refunded')
  t.match((await payer.get<IncomingDebit>(`/incoming-debits/${first}`)).body, {
    status: 'refunded',
    reasonCode: 'MD06',
    returnTransactionId: String,
  })
  t.equal(await amountOf(payer, balanceId), '2000')
  t.match((await refund(second, 'MD06', payer)).body, { status: 'refunded' })
  const id = await collect(payer, balanceId)
  await reaching(payer, id, 'debited')
  t.match((await refund(id, 'MD01', payer)).body, { status: 'refunded', reasonCode: 'MD01' })
  t.match(
    await reaching(payer, await collect(payer, balanceId), 'refused'),
    { reasonCode: 'MD01' },
    'MD01 ends the mandate',
  )
  t.match((await payer.post(`/incoming-debits/${id}/refund`, { reasonCode: 'AC04' }, randomUUID())).problem, {
    errors: [{ field: '/reasonCode' }],
  })
  t.strictSame((await trace(world, id)).rules, ['L60', 'L61'])
})

t.test('the first debit of a B2B mandate waits for its confirmation, and later ones do not', async (t) => {
  const b2b = { scheme: 'sepa_dd_b2b', creditorName: 'Leasing AG' }
  const [first, second] = [await collect(client, balances.EUR, b2b), await collect(client, balances.EUR, b2b)]
  await reaching(client, first, 'pending_confirmation')
  await reaching(client, second, 'pending_confirmation')
  t.match((await owner.post(`/incoming-debits/${first}/confirm`)).problem, {
    code: 'step-up-required',
  })
  t.equal((await client.post(`/incoming-debits/${first}/confirm`, undefined, randomUUID())).status, 200)
  t.match(await reaching(client, first, 'debited'), { refundableUntil: null, unauthorisedRefundUntil: null })
  await reaching(client, second, 'debited')
  await reaching(client, await collect(client, balances.EUR, b2b), 'debited')
  t.match((await refund(first, 'MD06')).problem, { code: 'invalid-transition' }, 'B2B has no refund')
  t.match((await client.post(`/incoming-debits/${first}/confirm`, undefined, randomUUID())).problem, {
    code: 'invalid-transition',
    currentStatus: 'debited',
    allowed: ['pending_confirmation'],
  })
})

t.test('a mandate that the customer keeps to pay by confirms a debit, limits it, and ends it', async (t) => {
  const clerk = await world.person('operations').signIn()
  const keep = async (reference: string, amountLimit: number | null = null) => {
    const made = await client.post<Mandate>(
      '/mandates',
      {
        direction: 'pay',
        scheme: 'sepa_dd_b2b',
        reference,
        balanceId: balances.EUR,
        counterparty: { name: 'Leasing AG', kind: 'business', creditorId: 'DE98ZZZ09999999999' },
        ...(amountLimit === null ? {} : { amountLimit: money(amountLimit) }),
      },
      randomUUID(),
    )
    const { id } = made.body
    const reported = await clerk.post(`/mandates/${id}/status-reports`, {
      status: 'active',
      reportedAt: new Date(world.now()).toISOString(),
    })
    t.equal(reported.status, 200, reported.text)
    return id
  }
  await keep('LEASE-1', 1_000)
  const ended = await keep('LEASE-2')
  t.equal((await client.post(`/mandates/${ended}/cancel`, {}, randomUUID())).status, 200)
  const leasing = { scheme: 'sepa_dd_b2b', creditorId: 'DE98ABC09999999999' }
  const collected = async (mandateReference: string, amountMinor: number) =>
    await collect(client, balances.EUR, { ...leasing, mandateReference, amount: money(amountMinor) })
  await reaching(client, await collected('LEASE-1', 1_000), 'debited')
  const limited = await reaching(client, await collected('LEASE-1', 1_001), 'refused')
  t.match(limited, { reasonCode: 'SL01', reason: 'The amount is above the limit of the mandate.' })
  t.match(await reaching(client, await collected('LEASE-2', 1), 'refused'), { reasonCode: 'MD01' })
})

t.test('people are told of debits that are announced, and of those that are refused', async (t) => {
  const { id: balanceId } = (await owner.post<Balance>('/balances', { currency: 'EUR', name: 'Empty' })).body
  const announced = await collect(client, balanceId, {
    dueDate: dayAfter(world.now(), 2),
    creditorName: 'Announced AG',
  })
  const refused = await collect(client, balanceId, { creditorName: 'Refused AG' })
  const texts = async (id: string) =>
    await until('it is told', async () => {
      const rows = await world.query<{ text: string }>('select distinct text from notification where object_id = $1', [
        id,
      ])
      return rows.length > 0 ? rows.map(({ text }) => text) : null
    })
  t.strictSame(await texts(announced), ['10.00 EUR are to be debited by Announced AG.'])
  t.strictSame(await texts(refused), ['A direct debit of 10.00 EUR by Refused AG was refused.'])
})

t.test('the controls of a balance stop debits, also those that are announced', async (t) => {
  const { body: opened } = await owner.post<Balance>('/balances', { currency: 'EUR', name: 'Controlled' })
  const path = `/balances/${opened.id}/debit-controls`
  const none = await owner.get<DebitControls>(path)
  t.match(none.body, { blockAll: false, allowedCreditorIds: [], maxAmount: null, periodicity: null, updatedBy: null })
  const put = async (body: object, etag?: string) =>
    await owner.send<DebitControls>(
      'PUT',
      path,
      { ...CONTROLS, ...body },
      {
        'if-match': etag ?? ((await owner.get(path)).headers.get('etag') as string),
      },
    )
  t.match((await put({})).problem, { code: 'step-up-required' })
  await owner.stepUp('settings.change')
  const reason = async (body: object) =>
    (await reaching(client, await collect(client, opened.id, body), 'refused')).reason
  const blocked = await put({ blockedCreditorIds: ['DE98 ABC 09999999999'] })
  t.match(blocked.body, { blockedCreditorIds: ['DE98 ABC 09999999999'], updatedBy: String })
  t.equal((await put({}, none.headers.get('etag') as string)).status, 412, 'a tag of before')
  t.equal(await reason({ creditorId: 'DE98ZZZ09999999999' }), 'The creditor is blocked.', 'whatever its business code')
  await put({ allowedCreditorIds: ['NL05ZZZ123456780000'] })
  t.equal(await reason({}), 'The creditor is not among those that are allowed.')
  await put({ maxAmount: money(999) })
  t.equal(await reason({ amount: money(1_000) }), 'The amount is above the limit of the balance.')
  const dueDate = dayAfter(world.now(), 9)
  const announced = await collect(client, opened.id, { amount: money(999), dueDate })
  await reaching(client, announced, 'announced')
  await put({ blockAll: true })
  t.equal(await reason({}), 'All direct debits of the balance are blocked.')
  t.match((await put({ maxAmount: money(5, 'USD') })).problem, {
    errors: [{ field: '/maxAmount/currency', code: 'currency_mismatch' }],
  })
  t.equal((await client.get(path)).status, 403, 'keys do not see them')
  t.equal((await owner.get(`/balances/${randomUUID()}/debit-controls`)).status, 404)
})

const CONTROLS = {
  blockAll: false,
  allowedCreditorIds: [],
  blockedCreditorIds: [],
  maxAmount: null,
  periodicity: null,
}

t.test('simulations refuse what no bank would collect', async (t) => {
  const good = { balanceId: balances.EUR, amount: money(1), creditorName: 'City Power', scheme: 'sepa_dd_core' }
  for (const [name, body, field, code] of [
    ['another currency', { ...good, amount: money(1, 'GBP') }, '/amount/currency', 'currency_mismatch'],
    ['the scheme of another currency', { ...good, scheme: 'bacs_dd' }, '/scheme', 'currency_mismatch'],
    ['yesterday', { ...good, dueDate: dayAfter(world.now(), -1) }, '/dueDate', 'in_past'],
    ['in two years', { ...good, dueDate: dayAfter(world.now(), 730) }, '/dueDate', 'too_far_ahead'],
    ['an unknown balance', { ...good, balanceId: randomUUID() }, '/balanceId', 'not_found'],
  ] as const)
    t.match(
      (await client.post('/simulations/incoming-debits', body)).problem,
      { status: 422, code: 'validation-error', errors: [{ field, code }] },
      name,
    )
})

t.test('lists are filtered, sorted and paged', async (t) => {
  const { client: payer, balanceId } = await customerWith(10_000n)
  const ids: string[] = []
  for (const creditorName of ['One', 'Two', 'Three SBX:NOMANDATE'])
    ids.push(await collect(payer, balanceId, { creditorName, creditorId: creditorName.slice(0, 3).toUpperCase() }))
  await reaching(payer, ids[0] as string, 'debited')
  await reaching(payer, ids[1] as string, 'debited')
  await reaching(payer, ids[2] as string, 'refused')
  const list = async (query: Record<string, string>) =>
    (await payer.list<IncomingDebit>('/incoming-debits', query)).body.data.map(({ id }) => ids.indexOf(id)).toSorted()
  t.strictSame(await list({}), [0, 1, 2])
  t.strictSame(await list({ 'filter[status]': 'refused' }), [2])
  t.strictSame(await list({ 'filter[creditorId]': 'TWO' }), [1])
  t.strictSame(await list({ 'filter[scheme]': 'sepa_dd_b2b' }), [])
  const page = await payer.list<IncomingDebit>('/incoming-debits', { limit: '2', sort: 'receivedAt' })
  t.equal(page.body.data.length, 2)
  t.equal((await client.get(`/incoming-debits/${ids[0]}`)).status, 404, 'of another customer')
})

t.test('a debit is taken when its due date begins, on fresh state; one that nobody confirms is refused', async (t) => {
  const { client: payer, balanceId } = await customerWith(1_500n)
  const dueDate = dayAfter(world.now(), 5)
  const both = [await collect(payer, balanceId, { dueDate }), await collect(payer, balanceId, { dueDate })]
  const b2b = await collect(payer, balanceId, { dueDate, scheme: 'sepa_dd_b2b' })
  for (const id of both) await reaching(payer, id, 'announced')
  await reaching(payer, b2b, 'pending_confirmation')
  world.advance(6 * DAY_MS)
  await reaching(payer, b2b, 'refused')
  const statuses = await until('both are decided', async () => {
    const found = await Promise.all(
      both.map(async (id) => (await payer.get<IncomingDebit>(`/incoming-debits/${id}`)).body),
    )
    return found.every(({ status }) => status !== 'announced') ? found : null
  })
  t.strictSame(
    statuses.map(({ status }) => status).toSorted(),
    ['debited', 'refused'],
    'the balance covers one of them',
  )
  t.match(
    statuses.find(({ status }) => status === 'refused'),
    { reasonCode: 'AM04' },
  )
  const taken = statuses.find(({ status }) => status === 'debited') as IncomingDebit
  world.advance(57 * DAY_MS)
  t.match((await refund(taken.id, 'MD06', payer)).problem, { code: 'invalid-transition' }, 'eight weeks are over')
  t.match((await refund(taken.id, 'MD01', payer)).body, { status: 'refunded' }, 'thirteen months are not')
})

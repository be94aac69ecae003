/** The settings of a customer, and the notices of its members, over HTTP. */
import t from 'tap'
import type { CurrencySetting } from '../../../lib/customers/currency-setting-schema.ts'
import type { Notification, NotificationPreferences } from '../../../lib/notices/notification-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { pdfText } from '../../support/pdf-text.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { setPolicy, tier } from '../approvals/people.ts'
import { createAs, setMode } from '../recipients/support.ts'

t.test('settings are documents with versions', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const preparer = await world.person('preparer').signIn()
  const base = `/customers/${owner.tenantId}/settings`
  await owner.stepUp('settings.change')
  for (const [name, method, body, expected, wrong] of [
    [
      'alerts',
      'PUT',
      {
        balanceLow: { enabled: false },
        largePayment: { enabled: true, threshold: { amountMinor: '100', currency: 'EUR' } },
        incoming: { enabled: true, threshold: null },
        login: { enabled: true },
      },
      { balanceLow: { enabled: false }, largePayment: { enabled: true } },
      { balanceLow: { enabled: true } },
    ],
    [
      'approved-domains',
      'PUT',
      { domains: ['example.com', 'a.b-c.org'] },
      { domains: ['example.com', 'a.b-c.org'] },
      { domains: ['Example.com'] },
    ],
    [
      'preferences',
      'PATCH',
      { timezone: 'Europe/Amsterdam', preNotificationDays: 2 },
      { timezone: 'Europe/Amsterdam', preNotificationDays: 2, language: 'en' },
      { timezone: 'Mars/Olympus' },
    ],
  ] as const) {
    t.equal((await preparer.get(`${base}/${name}`)).problem.code, 'insufficient-scope', 'nor read by those without it')
    const before = await owner.get<{ updatedBy: string | null }>(`${base}/${name}`)
    t.equal(before.body.updatedBy, null, `${name} was never set`)
    const etag = before.headers.get('etag')!
    t.equal(
      (await preparer.send(method, `${base}/${name}`, body, { 'if-match': etag })).problem.code,
      'insufficient-scope',
      name,
    )
    t.equal((await owner.send(method, `${base}/${name}`, body)).problem.code, 'precondition-required', name)
    t.equal(
      (await owner.send(method, `${base}/${name}`, wrong, { 'if-match': etag })).problem.code,
      'validation-error',
      name,
    )
    const after = await owner.send<{ updatedBy: string }>(method, `${base}/${name}`, body, { 'if-match': etag })
    t.match(after.body, { ...expected, updatedBy: String, updatedAt: String }, after.text)
    t.equal(
      (await owner.send(method, `${base}/${name}`, body, { 'if-match': etag })).problem.code,
      'precondition-failed',
      name,
    )
    t.strictSame((await owner.get(`${base}/${name}`)).text, after.text)
    t.equal((await owner.get(`/customers/${world.operator.tenantId}/settings/${name}`)).problem.code, 'not-found')
    t.equal(
      (await world.seeded.client.get(`${base}/${name}`)).problem.code,
      'insufficient-scope',
      'settings are not for keys',
    )
  }
})

t.test('what a customer prefers has its effect, on every node', async (t) => {
  const settings = { SECRETS_KEY: 'a secret that both nodes share, long enough' }
  await using world = await createWorld({ settings })
  await using other = await createWorld({ settings, databaseUrl: world.databaseUrl, dispatch: false })
  const { client, balances } = world.seeded
  const owner = await world.person('owner').signIn()
  const path = `/customers/${owner.tenantId}/settings/preferences`
  const prefer = async (change: object) => await owner.send('PATCH', path, change, { 'if-match': '*' })
  const make = (name: string) => createAs(owner, { name })
  await setMode(world, 'none')
  const {
    body: { id },
  } = await make('SBX:NOAP Unchecked BV')
  const [here, there] = [client, client.with({ url: () => other.url })]
  const pay = async (at: typeof client) => (await at.createPayment(paymentBody(balances.EUR, id, 100))).status
  t.strictSame([await pay(here), await pay(there)], [201, 201], 'a name that cannot be checked stops nobody')
  t.equal((await prefer({ requireVerification: true })).status, 200)
  t.strictSame([await pay(there), await pay(here)], [422, 422])
  t.match(
    (await make('SBX:NOAP Another BV')).problem,
    { status: 422, code: 'verification-mismatch', verification: { outcome: 'unavailable' } },
    'nor are there new ones',
  )
  t.equal(
    (await client.createPayment(paymentBody(balances.EUR, world.seeded.recipients.EUR, 100))).status,
    201,
    'a name that matches is paid',
  )
  t.equal((await prefer({ requireVerification: false })).status, 200)
  t.strictSame([await pay(there), await pay(here)], [201, 201])

  t.match(
    (await prefer({ language: 'fr' })).problem,
    { errors: [{ field: '/language', code: 'invalid_value' }] },
    'what there is not cannot be preferred',
  )
  t.equal((await prefer({ timezone: 'Asia/Tokyo' })).status, 200)
  const payment = (await client.createPayment(paymentBody(balances.EUR, world.seeded.recipients.EUR, 100))).body
  await client.paymentReaching(payment.id, 'completed')
  const { apiKey, id: tenantId } = world.service.sandbox!.customer
  const answer = await until('the confirmation is rendered', async () => {
    const reply = await fetch(`${world.url}/v1/payments/${payment.id}/confirmation`, {
      headers: { authorization: `Bearer ${apiKey}`, 'x-tenant-id': tenantId },
    })
    return reply.status === 503 ? null : reply
  })
  const pdf = Buffer.from(await answer.arrayBuffer())
  t.equal(answer.status, 200, pdf.toString('latin1').slice(0, 300))
  t.match(pdfText(pdf).join(' '), /Times are those of Asia\/Tokyo/)
})

t.test('a customer enables what its operator offers', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const owner = await world.person('owner').signIn()
  const path = `/customers/${owner.tenantId}/settings/currencies`
  const read = await owner.get<PageBody<CurrencySetting>>(path)
  const { data, page } = read.body
  t.strictSame(page, { nextCursor: null, prevCursor: null, limit: 100 })
  t.strictSame(
    data.filter(({ enabled }) => !enabled).map(({ currency, withdrawnOn }) => [currency, withdrawnOn]),
    [['BGN', '2026-01-01']],
  )
  t.match(
    data.find(({ currency }) => currency === 'EUR'),
    {
      exponent: 2,
      offered: true,
      balanceIds: [world.seeded.balances.EUR],
      capabilities: { sendLocal: true, sendSwift: true, directDebit: true },
    },
  )
  t.match(
    data.find(({ currency }) => currency === 'JPY'),
    { exponent: 0, capabilities: { directDebit: false } },
  )
  t.strictSame(
    (await client.get<PageBody<CurrencySetting>>('/currencies?enabled=false')).body.data.map(
      ({ currency }) => currency,
    ),
    ['BGN'],
  )
  t.equal((await client.get('/currencies?enabled=perhaps')).problem.code, 'malformed-request')
  t.equal((await owner.get(path, { 'if-none-match': read.headers.get('etag')! })).status, 304)
  const put = (enabled: readonly string[], etag = read.headers.get('etag')!) =>
    owner.send<PageBody<CurrencySetting>>('PUT', path, { enabled }, { 'if-match': etag })
  t.match((await put(['EUR', 'BGN'])).problem, { errors: [{ field: '/enabled/1', code: 'currency_withdrawn' }] })
  t.match((await put(['EUR', 'KWD', 'XXX'])).problem, {
    errors: [
      { field: '/enabled/1', code: 'invalid_value' },
      { field: '/enabled/2', code: 'invalid_value' },
    ],
  })
  t.match(
    (await put(['EUR'])).problem,
    { errors: [{ field: '/enabled', code: 'invalid_value' }] },
    'others have balances',
  )
  const changed = await put(['EUR', 'GBP', 'USD', 'JPY', 'CHF'])
  t.strictSame(
    changed.body.data.filter(({ enabled }) => enabled).map(({ currency }) => currency),
    ['CHF', 'EUR', 'GBP', 'JPY', 'USD'],
  )
  t.equal((await put(['EUR'])).problem.code, 'precondition-failed')
  t.strictSame((await owner.get(path)).headers.get('etag'), changed.headers.get('etag'))
  const some = await owner.get(`${path}?enabled=true`)
  t.equal(
    (await put(['EUR', 'GBP', 'USD', 'JPY'], some.headers.get('etag')!)).status,
    200,
    'the tag of a part is that of the whole',
  )
  const stranger = await world.customer({ balances: [] })
  t.equal((await stranger.client.get(path)).problem.code, 'not-found')
  t.equal(
    (await world.operator.get<PageBody<CurrencySetting>>(path)).body.data.length,
    data.length,
    'operators read those of their customers',
  )
})

t.test('a customer has addresses, one of them registered', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const base = `/customers/${owner.tenantId}/settings/addresses`
  const address = {
    line1: 'Keizersgracht',
    line2: null,
    buildingNumber: '1',
    city: 'Amsterdam',
    postalCode: '1015CJ',
    state: null,
    country: 'NL',
  }
  const made = await owner.post<{ id: string }>(base, { kind: 'registered', address })
  t.equal(made.status, 201, made.text)
  const path = `${base}/${made.body.id}`
  t.equal(made.headers.get('location'), `/v1${path}`)
  t.match((await owner.post(base, { kind: 'registered', address })).problem, {
    errors: [{ field: '/kind', code: 'invalid_value' }],
  })
  t.equal((await owner.post(base, { kind: 'operating', address })).status, 201)
  const changed = await owner.send(
    'PATCH',
    path,
    { address: { ...address, city: 'Utrecht' } },
    { 'if-match': made.headers.get('etag')! },
  )
  t.match(changed.body, { kind: 'registered', address: { city: 'Utrecht' } })
  t.equal(
    (await owner.send('PATCH', path, { kind: 'operating' }, { 'if-match': made.headers.get('etag')! })).problem.code,
    'precondition-failed',
  )
  const staff = await world.person('compliance').signIn()
  t.equal((await staff.get<PageBody<object>>(base)).body.data.length, 2, 'staff see them too')
  t.equal((await staff.send('DELETE', path, undefined, { 'if-match': '*' })).status, 204)
  t.equal((await owner.get(path)).problem.code, 'not-found')
  const preparer = await world.person('preparer').signIn()
  t.equal((await preparer.get(base)).problem.code, 'insufficient-scope')
  t.equal((await preparer.post(base, { kind: 'operating', address })).problem.code, 'insufficient-scope')
})

t.test('a customer closes when nothing is under way, pays nothing meanwhile, and may come back', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances, recipients } = world.seeded
  const owner = await world.person('owner').signIn()
  const path = `/customers/${owner.tenantId}/closure`
  t.match((await owner.post(path)).problem, { code: 'step-up-required', action: 'membership.change' })
  await owner.stepUp('membership.change')
  const payment = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 700))).body
  t.match((await owner.post(path)).problem, { status: 409, code: 'invalid-transition', currentStatus: 'active' })
  t.equal((await client.balance(balances.EUR)).status, 'active', 'a refusal changes nothing')
  await client.post(`/payments/${payment.id}/cancel`, {})
  t.equal((await owner.send('DELETE', path)).problem.code, 'invalid-transition')
  t.match((await owner.post(path)).body, { customerId: owner.tenantId, status: 'closing' })
  t.match((await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 700))).problem, {
    errors: [{ field: '/sourceBalanceId', code: 'inactive' }],
  })
  t.match((await owner.post(path)).problem, { currentStatus: 'closing', allowed: ['active', 'restricted'] })
  t.equal((await owner.send('DELETE', path)).status, 204)
  t.equal((await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 700))).status, 201)
  const approver = await world.person('approver').signIn()
  t.match((await approver.post(path)).problem, { requiredCapability: 'owner' })
})

t.test('people are told what concerns them, as far as they want', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  await setPolicy(t, await world.person('owner').signIn(), 'payment', { tiers: [tier(1, 0, null)] })
  const approver = await world.person('approver').signIn()
  const preparer = await world.person('preparer').signIn()
  const ask = async () => (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 700))).body
  const told = async (who = approver, query = '') =>
    (await who.get<PageBody<Notification>>(`/notifications${query}`)).body.data
  const payment = await ask()
  const [notice] = await until('the approver is told', async () => {
    const rows = await told()
    return rows.length === 1 ? rows : null
  })
  t.match(notice, {
    type: 'approval_requested',
    title: `Payment ${payment.number} waits for approval`,
    object: { type: 'approval', id: payment.approvalId },
    readAt: null,
  })
  t.strictSame(await told(preparer), [], 'who cannot decide is not asked')
  t.equal((await preparer.post(`/notifications/${notice!.id}/read`)).problem.code, 'not-found', 'notices are personal')
  t.match((await approver.post<Notification>(`/notifications/${notice!.id}/read`)).body, {
    id: notice!.id,
    readAt: String,
  })
  t.strictSame(await told(approver, '?filter[read]=false'), [])
  t.equal((await told(approver, '?filter[read]=true&filter[type]=approval_requested')).length, 1)

  t.strictSame((await approver.get<NotificationPreferences>('/notification-preferences')).body, {
    mutedInApp: [],
    mutedByMail: [],
  })
  t.equal(
    (await approver.send('PUT', '/notification-preferences', { mutedInApp: ['nonsense'], mutedByMail: [] })).problem
      .code,
    'validation-error',
  )
  const wishes = { mutedInApp: ['approval_requested'], mutedByMail: ['approval_requested'] }
  t.strictSame((await approver.send('PUT', '/notification-preferences', wishes)).body, wishes)
  const second = await ask()
  await until('the owner is told', async () =>
    (await world.query('select from notification where object_id = $1', [second.approvalId])).length === 1
      ? true
      : null,
  )
  t.equal((await told()).length, 1, 'and the approver is not')
})

/** The notices that people get by the alert settings of their customer, over HTTP. */
import t from 'tap'
import type { Notification } from '../../../lib/notices/notification-schema.ts'
import { mailsOf } from '../../support/mails.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, transferBody, type World } from '../../support/world.ts'
import type { Person } from '../../support/person.ts'

const world: World = await createWorld()
const { client, balances, recipients } = world.seeded
const owner: Person = await world.person('owner').signIn()
t.teardown(() => world[Symbol.asyncDispose]())

const notices = async (type: string): Promise<readonly Notification[]> =>
  (await owner.get<{ data: Notification[] }>(`/notifications?filter[type]=${type}`)).body.data
const told = (type: string, count: number) =>
  until(`${count} notices ${type}`, async () => {
    const found = await notices(type)
    return found.length === count ? found : null
  })
const lows = () =>
  world.query<{ amount: string; status: string | null; currency: string }>(
    `select amount, status, currency from outbox where type = 'balance.low' and object_id = $1 order by created_at, id`,
    [balances.EUR],
  )
const threshold = (amountMinor: string | null) =>
  owner.send(
    'PATCH',
    `/balances/${balances.EUR}`,
    { lowBalanceThreshold: amountMinor === null ? null : { amountMinor, currency: 'EUR' } },
    { 'if-match': '*' },
  )

t.test('a balance that falls below its threshold is told of once, until it has been above', async (t) => {
  const other = (await owner.post<{ id: string }>('/balances', { currency: 'EUR', name: 'Other' })).body.id
  await threshold('9999900')
  t.equal((await lows()).length, 0, 'a threshold alone is no fall')
  await client.createTransfer(transferBody(balances.EUR, other, 100))
  t.equal((await lows()).length, 0, 'at the threshold is not below it')
  const payments = await Promise.all(
    [1, 2, 3].map((amount) => client.createPayment(paymentBody(balances.EUR, recipients.EUR, amount))),
  )
  t.strictSame(
    payments.map(({ status }) => status),
    [201, 201, 201],
  )
  t.equal((await lows()).length, 1, 'held money is not available, and three payments fall once')
  await client.createTransfer(transferBody(balances.EUR, other, 50))
  await client.paymentsSettled()
  t.equal((await lows()).length, 1, 'it is below already')
  await client.createTransfer(transferBody(other, balances.EUR, 100))
  t.equal((await lows()).length, 1, 'above again')
  await client.createTransfer(transferBody(balances.EUR, other, 100))
  const all = await lows()
  t.equal(all.length, 2)
  t.match(all[1], { amount: '9999844', status: null, currency: 'EUR' })
  await threshold(null)
  await client.createTransfer(transferBody(other, balances.EUR, 100))
  await client.createTransfer(transferBody(balances.EUR, other, 100))
  t.equal((await lows()).length, 2, 'without a threshold nothing is low')
  const [notice] = await told('balance_low', 2)
  t.match(notice, {
    tenantId: owner.tenantId,
    title: 'The balance EUR account is low',
    text: '99998.44 EUR are available on the balance EUR account, less than its threshold.',
    object: { type: 'balance', id: balances.EUR },
  })
  await until(
    'two mails',
    async () => (await mailsOf(world)).filter((mail) => mail.includes('is low')).length === 2 || null,
  )
})

t.test('the alert settings decide what is told', async (t) => {
  const path = `/customers/${owner.tenantId}/settings/alerts`
  const set = async (body: object) => {
    const { headers } = await owner.get(path)
    t.equal((await owner.send('PUT', path, body, { 'if-match': headers.get('etag')! })).status, 200)
  }
  await set({
    balanceLow: { enabled: false },
    largePayment: { enabled: true, threshold: { amountMinor: '1000', currency: 'EUR' } },
    incoming: { enabled: true, threshold: { amountMinor: '500', currency: 'EUR' } },
    login: { enabled: true },
  })
  for (const amount of [999, 1000]) await client.createPayment(paymentBody(balances.EUR, recipients.EUR, amount))
  await client.createPayment(paymentBody(balances.GBP, recipients.GBP, 5000, 'GBP'))
  for (const amountMinor of ['499', '500'])
    await client.post('/simulations/incoming-payments', {
      balanceId: balances.EUR,
      amount: { amountMinor, currency: 'EUR' },
      payerName: 'Payer Ltd',
    })
  t.match(await told('large_payment', 1), [{ text: /^10\.00 EUR are to be paid by payment PAY/ }])
  t.match(await told('incoming_payment', 1), [{ text: '5.00 EUR have come in from Payer Ltd.' }])
  await threshold('10000000')
  await threshold('9990000')
  await client.createTransfer(
    transferBody(balances.EUR, (await owner.post<{ id: string }>('/balances', { currency: 'EUR' })).body.id, 20_000),
  )
  await until('it has fallen', async () => (await lows()).length === 3 || null)
  await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 2000))
  await told('large_payment', 2)
  t.equal((await notices('balance_low')).length, 2, 'nobody wanted to hear of the third')
})

t.test('who signs in from a new device is told', async (t) => {
  t.strictSame(await notices('new_login'), [], 'the first one is nothing to compare with')
  await owner.signIn()
  t.strictSame(await notices('new_login'), [], 'the same browser at the same address')
  const { email, password } = owner.login
  const opened = (
    await owner.send<{ token: string; mfa: { challengeId: string } }>(
      'POST',
      '/sessions',
      { email, password, deviceName: 'Phone', deviceId: 'phone-1' },
      {},
      null,
    )
  ).body
  t.strictSame(await notices('new_login'), [], 'not before the second factor')
  world.advance(30_000)
  t.equal(
    (
      await owner.send(
        'POST',
        '/sessions/current/mfa',
        { challengeId: opened.mfa.challengeId, method: 'totp', code: owner.code() },
        {},
        opened.token,
      )
    ).status,
    200,
  )
  t.match(await notices('new_login'), [
    { tenantId: owner.tenantId, text: /from Phone, address 127\.0\.0\.1/, object: { type: 'session' } },
  ])
  await until('a mail', async () => (await mailsOf(world)).some((mail) => mail.includes('A new sign-in')) || null)
})

t.test('keys that end soon are told of, 14 and 3 days before', async (t) => {
  await owner.stepUp('api_key.create')
  const expiresAt = new Date(world.now() + 20 * 86_400_000).toISOString()
  const made = await owner.post<{ id: string }>('/api-keys', {
    name: 'Shop',
    environment: 'test',
    scopes: ['payments:read'],
    expiresAt,
  })
  t.equal(made.status, 201)
  const about = () =>
    world.query<{ title: string }>(
      `select title from notification where type = 'api_key_expiring' and object_id = $1`,
      [made.body.id],
    )
  t.strictSame(await about(), [])
  for (const [days, count] of [
    [7, 1],
    [11, 2],
  ] as const) {
    world.advance(days * 86_400_000)
    t.strictSame(
      await until('it is told', async () => {
        const found = await about()
        return found.length === count ? found[0] : null
      }),
      { title: 'The API key Shop expires soon' },
    )
  }
})

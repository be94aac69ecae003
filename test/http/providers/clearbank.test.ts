/** ClearBank from end to end: a connection over the API, payments and credits by its webhooks, and the ledger. */
import t, { type Test } from 'tap'
import type { SuspenseItem } from '../../../lib/incoming-payments/incoming-payment-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { ProviderConnectionView } from '../../../lib/providers/connection-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { FakeClearbank, TOKEN, type Transaction, type Webhook } from '../../support/clearbank/fake-clearbank.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'

const PATH = '/provider-connections'
const OPENING = 500_000n

/** The sum of the connection's cash account in the ledger, in pence. */
async function nostroOf(world: World, connectionId: string): Promise<bigint> {
  const [row] = await world.query<{ total: string }>(
    `select coalesce(sum(case when p.debit_account = a.id then p.amount else -p.amount end), 0) as total
     from account a left join posting p on a.id in (p.debit_account, p.credit_account)
     where a.key = 'nostro' and a.connection_id = $1 and a.currency = 'GBP'`,
    [connectionId],
  )
  return BigInt(row!.total)
}

/** The balance of the account at the bank: what the customer began with, and every transaction that has settled. */
const balanceAt = (bank: FakeClearbank): bigint =>
  bank.transactions
    .filter(({ status }) => status === 'ACSC')
    .reduce(
      (sum, { debitCreditCode, pounds }) =>
        sum + BigInt(Math.round(pounds * 100)) * (debitCreditCode === 'CRDT' ? 1n : -1n),
      OPENING,
    )

t.test('ClearBank carries payments and credits of a customer', async (t) => {
  await using world = await createWorld({ settings: { WEBHOOK_TARGETS: 'any' } })
  const bank = new FakeClearbank(() => world.now())
  const baseUrl = await bank.start()
  t.teardown(() => bank.stop())
  const admin = await world.person('operator_admin').signIn()
  const connectionId = await connect(admin, bank, baseUrl)
  const customer = await world.customer({ balances: [{ currency: 'GBP', amount: OPENING }] })
  const [balanceId] = customer.balanceIds as [string]
  // The bank demands the payer's address.
  await world.query(
    `insert into customer_address (id, customer_id, kind, address, created_at, updated_at)
     values (gen_random_uuid(), $1, 'registered', $2, now(), now())`,
    [customer.id, { line1: 'High Street', buildingNumber: '12', city: 'London', postalCode: 'E1 6AN', country: 'GB' }],
  )

  /** Sends a webhook as the bank does, and checks the answer that the bank wants. */
  const tell = async (webhook: Webhook): Promise<void> => {
    const answer = await fetch(`${world.url}/v1/provider-webhooks/${connectionId}`, {
      method: 'POST',
      headers: webhook.headers,
      body: webhook.body,
    })
    const body = await answer.text()
    const signature = answer.headers.get('digitalsignature')
    t.ok(bank.isAnswered(webhook, { status: answer.status, signature, body }), `${answer.status} ${body}`)
  }
  const pay = async (amountMinor: number): Promise<string> => {
    const made = await customer.client.post<Payment>(
      '/payments',
      paymentBody(balanceId, customer.recipients.GBP, amountMinor, 'GBP'),
    )
    if (made.status !== 201) throw new Error(made.text)
    return made.body.id
  }
  const reaches = (id: string, status: Payment['status']) =>
    until(`the payment is ${status}`, async () => {
      const { body } = await customer.client.get<Payment>(`/payments/${id}`)
      return body.status === status && body
    })
  const arrives = (id: string): Promise<Transaction> =>
    until('the bank has the payment', async () => bank.paymentOf(id))
  const sent = (id: string) =>
    bank.transactions.filter(({ endToEndIdentifier }) => endToEndIdentifier === id.replaceAll('-', '')).length
  const agree = async (t: Test) =>
    t.equal(await nostroOf(world, connectionId), balanceAt(bank), 'ledger and bank agree')

  await t.test('a payment is completed by the bank’s word, which may come twice', async (t) => {
    const id = await pay(12_345)
    const transaction = await arrives(id)
    t.equal(transaction.pounds, 123.45)
    t.match(await reaches(id, 'processing'), { rail: 'faster_payments' })
    const webhook = bank.settled(transaction)
    await tell(webhook)
    await reaches(id, 'completed')
    await tell(webhook)
    await tell(bank.settled(transaction))
    await tell(bank.webhook('SomethingNew', 1, {}))
    t.match(await reaches(id, 'completed'), { failure: null })
    await agree(t)
  })

  await t.test('an answer that is lost is looked up, and the payment is sent once', async (t) => {
    bank.troubles.push({ kind: 'silent', on: 'POST /v3/payments/fps' })
    const id = await pay(700)
    const transaction = await arrives(id)
    transaction.status = 'ACSC'
    await reaches(id, 'completed')
    t.equal(sent(id), 1)
    await agree(t)
  })

  await t.test('a payment that the bank refuses fails, and the money is back', async (t) => {
    const before = (await customer.client.balance(balanceId)).bookBalance.amountMinor
    bank.response = 'InsufficientFunds'
    const refused = await pay(900)
    t.match(await reaches(refused, 'failed'), { failure: { code: 'insufficient_funds' } })
    bank.response = 'Accepted'
    const rejected = await pay(901)
    await tell(bank.rejected(await arrives(rejected), 'CB_AccountNameAndNumberMismatch'))
    t.match(await reaches(rejected, 'failed'), { failure: { code: 'name_mismatch' } })
    t.equal((await customer.client.balance(balanceId)).bookBalance.amountMinor, before)
    await agree(t)
  })

  await t.test('a payment that comes back is returned, by our id or by that of the scheme', async (t) => {
    for (const endToEndId of [undefined, 'THEIRS-1']) {
      const id = await pay(5_000)
      const transaction = await arrives(id)
      await tell(bank.settled(transaction))
      // The scheme's id is told by the settlement, which may be in the same batch.
      if (endToEndId === undefined) await reaches(id, 'completed')
      await tell(bank.cameBack(transaction, 'AC07', endToEndId))
      await reaches(id, 'returned')
    }
    await agree(t)
  })

  await t.test('a credit waits for its owner; one goes to a balance, another goes back', async (t) => {
    const staff = await world.person('operations').signIn()
    const [kept, foreign] = [bank.receive({ pounds: 45.03 }), bank.receive({ pounds: 7.77, name: 'Someone Else' })]
    await tell(bank.settled(foreign))
    await tell(bank.settled(kept))
    const open = (credit: Transaction) =>
      until('the credit waits', async () => {
        const found = await staff.get<SuspenseItem>(`/incoming-suspense/${credit.transactionId}`)
        return found.status === 200 && found.body
      })
    t.match(await open(kept), { amount: { amountMinor: '4503', currency: 'GBP' }, payer: { name: 'Ada Payer' } })
    await open(foreign)
    const given = await staff.post(`/incoming-suspense/${kept.transactionId}/allocate`, { balanceId })
    t.equal(given.status, 200, given.text)
    const returned = await staff.post(`/incoming-suspense/${foreign.transactionId}/return`, {
      reason: 'No such customer.',
      reasonCode: 'AC04',
    })
    t.equal(returned.status, 200, returned.text)
    await until('the bank has the return', async () => bank.returns.length > 0)
    t.strictSame(bank.returns, [{ TransactionId: foreign.transactionId, ReasonForReturn: 'BeneficiaryAccountClosed' }])
    await tell(bank.creditLeft(foreign))
    await until('ledger and bank agree', async () => (await nostroOf(world, connectionId)) === balanceAt(bank))
  })

  await t.test('a webhook with another signature changes nothing', async (t) => {
    const id = await pay(100)
    const webhook = bank.settled(await arrives(id))
    const refused = async (change: Partial<Webhook>) => {
      const { headers, body } = { ...webhook, ...change }
      const url = `${world.url}/v1/provider-webhooks/${connectionId}`
      return (await fetch(url, { method: 'POST', headers, body })).status
    }
    t.equal(await refused({ body: webhook.body.replace('"Amount":1', '"Amount":9') }), 401)
    t.equal(await refused({ headers: { 'content-type': 'application/json' } }), 401)
    t.match((await customer.client.get<Payment>(`/payments/${id}`)).body, { status: 'processing' })
    await tell(webhook)
    await reaches(id, 'completed')
    await agree(t)
    for (const text of [world.logged.join(), (await admin.get('/audit-events?limit=100')).text])
      t.notOk(text.includes(TOKEN))
  })
})

/** Makes a connection to the false bank over the API, and makes it the primary one. */
async function connect(admin: Person, bank: FakeClearbank, baseUrl: string): Promise<string> {
  const send = async (method: string, path: string, body?: object) => {
    await admin.stepUp('provider_connection.change')
    const answer = await admin.send<ProviderConnectionView>(method, path, body)
    if (answer.status >= 300) throw new Error(answer.text)
    return answer
  }
  const post = async (path: string) => (await send('POST', `${PATH}/${path}`)).body
  const { body: made } = await send('POST', PATH, {
    provider: 'clearbank',
    name: 'ClearBank',
    config: bank.config(baseUrl),
  })
  const { id } = made
  const { privateKey } = bank.credentials()
  await send('PUT', `${PATH}/${id}/webhook-secret`, { secret: bank.bank.publicPem })
  await send('PUT', `${PATH}/${id}/credentials`, { apiToken: 'another-token', privateKey })
  t.match(await post(`${id}/verify`), { status: 'failed', lastHealth: { ok: false, message: /token/ } })
  await send('PUT', `${PATH}/${id}/credentials`, bank.credentials())
  t.match(await post(`${id}/verify`), { status: 'verified', healthy: true, credentialsSet: true })
  t.match(await post(`${id}/activate`), { status: 'active', role: 'primary' })
  const { body } = await admin.get<PageBody<ProviderConnectionView>>(PATH)
  const shown = JSON.stringify(body)
  for (const secret of [TOKEN, ...privateKey.split('\n').slice(1, 4)]) t.notOk(shown.includes(secret))
  return id
}

/** The confirmation of a payment: when there is one, what it says, and that it is rendered once. */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import { createConfirmations } from '../../../actors/payments/payment-confirmations.ts'
import { generateApiKey } from '../../../lib/identity/api-key.ts'
import { Database } from '../../../storage/db/database.ts'
import { pdfText } from '../../support/pdf-text.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'

interface Download {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array
}

/** Downloads with the key of the sandbox; a text would break the bytes. */
async function download(world: World, paymentId: string, headers: Record<string, string> = {}): Promise<Download> {
  const { customer } = world.service.sandbox!
  const response = await fetch(`${world.url}/v1/payments/${paymentId}/confirmation`, {
    headers: { authorization: `Bearer ${customer.apiKey}`, 'x-tenant-id': customer.id, ...headers },
  })
  return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) }
}

/** The text of a confirmation, piece by piece. */
function linesOf(bytes: Uint8Array): string {
  return pdfText(bytes).join('\n')
}

async function completed(world: World) {
  const { client, balances, recipients } = world.seeded
  const { id } = (
    await client.createPayment({
      ...paymentBody(balances.EUR, recipients.EUR, 123_456),
      reference: 'Invoice 2026-0042',
    })
  ).body
  world.advance(3_000)
  return await client.paymentReaching(id, 'completed')
}

t.test("there is none before the payment has completed, and none of other people's", async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances, recipients } = world.seeded
  const { id } = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))).body
  t.match((await client.get(`/payments/${id}/confirmation`)).problem, {
    status: 409,
    code: 'confirmation-not-available',
  })
  const stranger = await world.customer({ balances: [] })
  t.match((await stranger.client.get(`/payments/${id}/confirmation`)).problem, { status: 404, code: 'not-found' })
  t.match((await client.get(`/payments/${client.tenantId}/confirmation`)).problem, { status: 404, code: 'not-found' })
  t.strictSame(await world.query('select from confirmation'), [])
})

t.test('a payment that has completed is confirmed, with the same bytes for whoever asks', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const payment = await completed(world)
  const answers = await Promise.all(Array.from({ length: 8 }, () => download(world, payment.id)))
  const [first] = answers as [Download]
  t.equal(first.status, 200)
  for (const { bytes } of answers) t.strictSame(bytes, first.bytes)
  t.equal((await world.query('select from confirmation')).length, 1)
  t.equal(first.headers.get('content-type'), 'application/pdf')
  t.equal(first.headers.get('content-disposition'), `attachment; filename="payment-${payment.number}.pdf"`)
  t.equal(first.headers.get('content-length'), String(first.bytes.length))
  t.equal(first.headers.get('cache-control'), 'private, no-cache')
  const etag = first.headers.get('etag')!
  t.match(etag, /^W\/"\d+-[0-9a-f]{12}"$/)
  const known = await download(world, payment.id, { 'if-none-match': etag })
  t.strictSame([known.status, known.bytes.length], [304, 0])
  t.equal((await download(world, payment.id, { accept: 'application/json' })).status, 406)

  const text = linesOf(first.bytes)
  const [customer] = await world.query<{ legal_name: string; operator: string }>(
    'select c.legal_name, o.name as operator from customer c join operator o on o.id = c.operator_id where c.id = $1',
    [client.tenantId],
  )
  for (const shown of [
    customer!.operator,
    'Payment confirmation',
    '1,234.56 EUR',
    'Completed on ',
    customer!.legal_name,
    payment.sourceBalanceName,
    payment.recipient.name,
    payment.recipient.maskedIdentifier,
    payment.number,
    'Invoice 2026-0042',
    payment.endToEndId,
    'SEPA Instant Credit Transfer',
    'Page 1 of 1',
  ])
    t.ok(text.includes(shown), shown)
  t.ok(text.replaceAll('\n', '').includes(payment.id), 'its id, where a line may end within')
  const [account] = await world.query<{ iban: string }>(`select bank->>'iban' as iban from recipient where id = $1`, [
    payment.recipientId,
  ])
  t.notOk(text.replaceAll(' ', '').includes(account!.iban), "the recipient's account is masked")
  t.notOk(text.includes('Return'))

  await world.restart()
  t.strictSame((await download(world, payment.id)).bytes, first.bytes, 'also after a restart')

  const key = generateApiKey('test', randomBytes)
  await world.query(
    `insert into api_key (id, level, tenant_id, operator_id, name, environment, prefix, sha256, scopes, status, created_by, created_at)
     select gen_random_uuid(), level, tenant_id, operator_id, 'narrow', environment, $1, $2, '{payments:read,payments:write}', 'active', created_by, now() from api_key where tenant_id = $3 limit 1`,
    [key.prefix, Buffer.from(key.sha256, 'hex'), client.tenantId],
  )
  t.match((await client.with({ apiKey: key.secret }).get(`/payments/${payment.id}/confirmation`)).problem, {
    status: 403,
    code: 'insufficient-scope',
    requiredScope: 'statements:read',
  })

  await world.query('delete from confirmation')
  await rendersOnce(t, world, payment.id)
})

/** Those who ask at once wait for one rendering, and one that fails is not kept. */
async function rendersOnce(t: Test, world: World, paymentId: string): Promise<void> {
  // One connection, which answers in the order in which it is asked.
  const database = new Database(world.databaseUrl, 1)
  t.teardown(() => database.close())
  let outcome = Promise.withResolvers<Uint8Array>()
  let rendered = 0
  let counted = 0
  const confirmations = createConfirmations({
    database,
    clock: world,
    render: () => {
      rendered += 1
      return outcome.promise
    },
  })
  const tenant = { id: world.seeded.client.tenantId, kind: 'customer' } as const
  const ask = async (end: () => void) => {
    const asked = Promise.allSettled(
      Array.from({ length: 5 }, () => confirmations.ofPayment(tenant, paymentId, () => (counted += 1))),
    )
    const before = rendered
    await until('the first is being rendered', () => rendered > before)
    // The other requests have read the payment when this query is answered, and wait for the rendering.
    await database.query({ name: 'heard', text: 'select 1', values: [] })
    end()
    return await asked
  }
  t.ok((await ask(() => outcome.reject(new Error('out of paper')))).every(({ status }) => status === 'rejected'))
  t.equal(rendered, 1)
  outcome = Promise.withResolvers()
  const answers = await ask(() => outcome.resolve(new Uint8Array([1, 2, 3])))
  t.strictSame(
    answers.map((result) => (result.status === 'fulfilled' ? [...result.value!.pdf] : null)),
    Array.from({ length: 5 }, () => [1, 2, 3]),
  )
  t.equal(rendered, 2)
  await confirmations.ofPayment(tenant, paymentId, () => (counted += 1))
  t.equal(rendered, 2, 'then it is kept')
  t.equal(counted, 2, 'and what is kept is not counted')
}

t.test('a payment that comes back gets another one', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const payment = await completed(world)
  const before = await download(world, payment.id)
  const simulated = await client.post(`/simulations/payments/${payment.id}/return`, { reasonCode: 'AC04' })
  t.equal(simulated.status, 202, simulated.text)
  world.advance(3_000)
  await until('it is returned', async () => (await client.payment(payment.id)).status === 'returned')
  const after = await download(world, payment.id)
  t.not(after.headers.get('etag'), before.headers.get('etag'))
  const text = linesOf(after.bytes)
  for (const shown of ['Returned on ', 'Return', 'Amount returned', '1,234.56 EUR', 'AC04'])
    t.ok(text.includes(shown), shown)
  t.equal((await world.query('select from confirmation')).length, 2, 'the first one is kept')
})

t.test('only the first request for a confirmation counts against the limit of exports', async (t) => {
  await using world = await createWorld({ settings: { RATE_LIMITS: 'on' } })
  const { client, balances } = world.seeded
  const payment = await completed(world)
  const another = await completed(world)
  const exported = () => client.post('/transactions/exports', { format: 'json', filter: { balanceId: balances.EUR } })
  for (let nth = 1; nth < 20; nth++) t.equal((await exported()).status, 202, `export ${nth}`)
  for (let nth = 0; nth < 3; nth++) t.equal((await download(world, payment.id)).status, 200, 'rendered once, the 20th')
  t.match((await exported()).problem, { status: 429, violatedPolicies: ['export'] })
  const refused = await download(world, another.id)
  t.equal(refused.status, 429, 'another one is not rendered')
  t.equal((await download(world, payment.id)).status, 200, 'what is kept is sent')
})

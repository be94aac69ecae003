/** What the API tells of a payer's link. */
import t from 'tap'

import type { FundsRequest, PublicFundsRequest } from '../../../lib/funds-requests/funds-request-schema.ts'
import { Reply } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import { apiOf, arrive, ask, eur, read, requestBody, statusEvents } from './support.ts'

async function visit(url: string, init: RequestInit = {}): Promise<Reply<PublicFundsRequest>> {
  const response = await fetch(apiOf(url), init)
  return new Reply(response.status, response.headers, await response.text())
}
const POST = { method: 'POST' }

t.test('whoever has the link sees who asks, for how much, and where to pay', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const request = await ask(world, 12_345, {
    payer: { name: 'A secret payer', email: 'secret@example.com' },
    send: false,
    invoiceNumber: 'INV-7',
    metadata: { internal: 'note' },
  })
  const page = await visit(request.link!)
  t.equal(page.status, 200, page.text)
  t.equal(page.headers.get('cache-control'), 'no-store')
  const { status, number, amount, reference, depositDetails, qrPayload, payeeName } = page.body
  t.match(
    { status, number, amount, reference },
    { status: 'open', number: request.number, amount: eur(12_345), reference: request.reference },
  )
  t.match(depositDetails, [{ accountHolderName: payeeName, iban: request.depositDetails[0]!.iban }])
  const [tag, , , , bic, name, iban, money, , quoted] = qrPayload!.split('\n')
  t.strictSame(
    [tag, bic, name, iban, money, quoted],
    [
      'BCD',
      request.depositDetails[0]!.bic ?? '',
      payeeName,
      request.depositDetails[0]!.iban,
      'EUR123.45',
      request.reference,
    ],
  )
  for (const hidden of ['secret', 'internal', request.id, balances.EUR, client.tenantId, 'createdBy', 'link'])
    t.notOk(page.text.includes(hidden), `nothing of ${hidden}`)

  await arrive(world, { amount: 2_345n, reference: request.reference })
  const partly = await until('a part is paid', async () => {
    const { body } = await visit(request.link!)
    return body.status === 'partially_paid' && body
  })
  t.match(partly, { paidAmount: eur(2_345), remainingAmount: eur(10_000), qrPayload: /\nEUR100\.00\n/ })

  const pounds = (
    await client.post<FundsRequest>('/funds-requests', {
      ...requestBody(balances.GBP),
      amount: { amountMinor: '500', currency: 'GBP' },
    })
  ).body
  t.match((await visit(pounds.link!)).body, { qrPayload: null, depositDetails: [{ sortCode: /\d{6}/ }] })
})

t.test('a payer declines once, and only before anything was paid', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const request = await ask(world)
  const declined = await visit(`${request.link}/decline`, POST)
  t.equal(declined.status, 200, declined.text)
  t.match(declined.body, { status: 'declined', depositDetails: [], qrPayload: null })
  t.match((await visit(`${request.link}/decline`, POST)).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'declined',
  })
  t.match(
    (await visit(request.link!)).body,
    { status: 'declined', depositDetails: [], qrPayload: null },
    'the page stays, without where to pay',
  )
  t.equal((await read(client, request.id)).status, 'declined')
  t.strictSame(await statusEvents(world, request.id), [{ change: 'open declined', related: null }])
  const [trail] = await world.query<{ actor_type: string; address: string | null }>(
    `select actor_type, address from audit_event where action = 'funds_request.declined'`,
  )
  t.match(trail, { actor_type: 'system', address: String })

  const partly = await ask(world, 10_000)
  await arrive(world, { amount: 1n, reference: partly.reference })
  await until('a part is paid', async () => (await read(client, partly.id)).status === 'partially_paid')
  t.match((await visit(`${partly.link}/decline`, POST)).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'partially_paid',
  })
})

t.test('a wrong link tells nothing', async (t) => {
  await using world = await createWorld()
  const { link } = await ask(world)
  const wrong = `${link!.slice(0, -1)}${link!.endsWith('A') ? 'B' : 'A'}`
  for (const reply of [
    await visit(wrong),
    await visit(`${wrong}/decline`, POST),
    await visit(link!.replace(/frq_.*$/, 'x'.repeat(47))),
  ]) {
    t.match(reply.problem, { status: 404, code: 'not-found', detail: 'The link is unknown.' })
  }
  t.equal((await visit(link!.replace(/frq_.*$/, 'short'))).status, 400)
  const own = await ask(world)
  await world.restart()
  t.equal((await visit(new URL(new URL(own.link!).pathname, world.url).href)).status, 200, 'links outlive a restart')
})

t.test('an address may not try links without end', async (t) => {
  await using world = await createWorld({ settings: { RATE_LIMITS: 'on' } })
  const { link } = await ask(world)
  // Sixty a minute, and one more with each second that a busy machine takes.
  const guess = async () => {
    const links = Array.from({ length: 150 }, (_, nth) =>
      link!.replace(/frq_.*$/, `frq_${String(nth).padStart(43, '0')}`),
    )
    return await Promise.all(links.map(async (each) => (await visit(each)).status))
  }
  t.strictSame([...new Set(await guess())].toSorted(), [404, 429])
  const refused = await until('the link itself is refused, too', async () => {
    await guess()
    const reply = await visit(link!)
    return reply.status === 429 && reply.problem
  })
  t.match(refused, { status: 429, code: 'rate-limited', violatedPolicies: ['anon-ip'] })
})

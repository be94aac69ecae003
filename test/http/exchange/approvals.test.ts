/**
 * Exchanges that wait for people, over HTTP: their money, their rate when everybody has approved, and every way in
 * which they may end without.
 */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Approval } from '../../../lib/approvals/approval-schema.ts'
import type { Exchange, Quote } from '../../../lib/exchange/exchange-schema.ts'
import type { Client } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import { pdfText } from '../../support/pdf-text.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'
import { addMember, atNode, decide, putPolicy, setPolicy, tier } from '../approvals/people.ts'

const money = (currency: string) => (minor: number | string) => ({ amountMinor: String(minor), currency })
const [eur, usd] = [money('EUR'), money('USD')]
/** Its quote's half minute is over. */
const RUN_OUT_MS = 31_000

interface Asked {
  readonly fixedSide?: 'sell' | 'buy'
  readonly amount?: { readonly amountMinor: string; readonly currency: string }
  readonly reference?: string
  readonly sell?: 'EUR' | 'USD'
}

const quote = async (
  client: Client,
  { fixedSide = 'sell', sell = 'EUR', amount = money(sell)(100_000) }: Asked = {},
): Promise<Quote> =>
  (
    await client.post<Quote>('/exchanges/quotes', {
      sellCurrency: sell,
      buyCurrency: sell === 'EUR' ? 'USD' : 'EUR',
      amount,
      fixedSide,
    })
  ).body

async function exchange(client: Client, asked: Asked = {}): Promise<Exchange> {
  const { id: quoteId } = await quote(client, asked)
  const made = await client.post<Exchange>('/exchanges', { quoteId, reference: asked.reference ?? null })
  if (made.status !== 201) throw new Error(made.text)
  return made.body
}

const read = async (client: Client, id: string): Promise<Exchange> =>
  (await client.get<Exchange>(`/exchanges/${id}`)).body
const becomes = (client: Client, id: string, status: Exchange['status']): Promise<Exchange> =>
  until(`${id} is ${status}`, async () => {
    const found = await read(client, id)
    return found.status === status ? found : null
  })
const eventsOf = async (world: World, id: string) =>
  (
    await world.query<{ type: string; status: string; previous_status: string | null }>(
      'select type, status, previous_status from outbox where object_id = $1 order by created_at, id',
      [id],
    )
  ).map(({ type, status, previous_status }) => [type, previous_status, status].join(' '))
const postings = async (world: World, id: string) =>
  (
    await world.query<{ line: string }>(
      `select rule || ' ' || amount || ' ' || currency as line from posting where source_id = $1 order by ordinal, rule`,
      [id],
    )
  ).map(({ line }) => line)
const heldOf = async (client: Client, balanceId: string) => (await client.balance(balanceId)).heldBalance.amountMinor
const shift = async (client: Client, shiftBps: number) => {
  const reply = await client.post('/simulations/fx-rates', { sellCurrency: 'EUR', buyCurrency: 'USD', shiftBps })
  if (reply.status !== 202) throw new Error(reply.text)
}

t.test('an exchange in a tier waits with its money, and is carried out when it is approved', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const owner = await world.person('owner').signIn()
  const approver = await world.person('approver').signIn()
  await setPolicy(t, owner, 'exchange', { tiers: [tier(1, 100_000, null)] })

  t.equal((await exchange(client, { amount: eur(99_999) })).status, 'processing', 'below the tier nobody is asked')
  t.equal(
    (await exchange(client, { sell: 'USD', amount: usd(107_000) })).status,
    'processing',
    'dollars are worth less: 990.74 in euros',
  )
  const worth = await exchange(client, { sell: 'USD', amount: usd(109_000) })
  t.equal(worth.status, 'pending_approval', '1 009.26 in euros')
  t.equal((await client.post<Exchange>(`/exchanges/${worth.id}/cancel`, {})).body.status, 'cancelled')

  const { id: quoteId, buyAmount, rate } = await quote(client)
  const key = randomUUID()
  const created = await client.post<Exchange>('/exchanges', { quoteId, reference: 'Treasury 7' }, key)
  t.equal(created.status, 201, created.text)
  const waiting = created.body
  t.match(waiting, {
    status: 'pending_approval',
    approvalId: String,
    quoteId,
    sellAmount: eur(100_000),
    buyAmount,
    rate,
    settledAt: null,
    failure: null,
  })
  t.equal(
    (await client.post('/exchanges', { quoteId, reference: 'Treasury 7' }, key)).text,
    created.text,
    'the same key is the same bytes',
  )
  t.match(
    (await client.post('/exchanges', { quoteId })).problem,
    { status: 409, code: 'invalid-transition' },
    'its quote is used',
  )
  t.match(await client.holds(balances.EUR), [{ subjectType: 'exchange', subjectId: waiting.id, amount: eur(100_000) }])
  t.strictSame(await postings(world, waiting.id), [], 'nothing is booked')
  t.strictSame(await eventsOf(world, waiting.id), ['exchange.status_changed  pending_approval'])
  t.strictSame(await eventsOf(world, waiting.approvalId!), ['approval.requested  pending'])
  t.match((await client.get(`/exchanges/${waiting.id}/confirmation`)).problem, {
    status: 409,
    code: 'confirmation-not-available',
  })

  const { body: approval } = await approver.get<Approval>(`/approvals/${waiting.approvalId}`)
  t.match(approval, {
    subjectType: 'exchange',
    subjectId: waiting.id,
    status: 'pending',
    canDecide: true,
    requestedByName: 'Sandbox key',
    subjectSummary: {
      title: `Exchange ${waiting.number}, EUR to USD`,
      amount: eur(100_000),
      sourceBalanceId: balances.EUR,
      sourceBalanceName: 'EUR account',
      rail: null,
      recipientName: null,
    },
    policy: { kind: 'exchange', source: 'snapshot', issues: [], tier: { tier: 1, minAmount: eur(100_000) } },
  })
  t.match(
    (await client.post(`/approvals/${waiting.approvalId}/decisions`, { decision: 'approved' })).problem,
    { code: 'insufficient-scope' },
    'keys never approve',
  )
  const staff = await world.person('operations').signIn()
  t.match(
    (await staff.get<Approval>(`/approvals/${waiting.approvalId}`)).body,
    { id: waiting.approvalId, canDecide: false },
    'staff see it, and do not decide',
  )

  t.match((await decide(approver, waiting.approvalId!, { decision: 'approved', amount: eur(100_000) })).body, {
    status: 'approved',
  })
  t.match(await read(client, waiting.id), { status: 'processing', sellAmount: eur(100_000), buyAmount, rate })
  t.equal(await heldOf(client, balances.EUR), '0')
  t.strictSame(await postings(world, waiting.id), ['L30 100000 EUR'])
  world.advance(6_000)
  t.match(await becomes(client, waiting.id, 'completed'), { settledAt: String, approvalId: waiting.approvalId })
  t.strictSame(await eventsOf(world, waiting.id), [
    'exchange.status_changed  pending_approval',
    'exchange.status_changed pending_approval processing',
    'exchange.status_changed processing completed',
    'exchange.completed processing completed',
  ])
  t.equal(
    (await client.post('/exchanges', { quoteId, reference: 'Treasury 7' }, key)).text,
    created.text,
    'the answer of the creation is what it was',
  )
  t.match((await client.post(`/exchanges/${waiting.id}/cancel`, {})).problem, {
    status: 409,
    code: 'not-cancellable',
    currentStatus: 'completed',
  })

  const { customer } = world.service.sandbox!
  const download = async () =>
    await fetch(`${world.url}/v1/exchanges/${waiting.id}/confirmation`, {
      headers: { authorization: `Bearer ${customer.apiKey}`, 'x-tenant-id': customer.id },
    })
  const pdf = await download()
  t.strictSame(
    [pdf.status, pdf.headers.get('content-type'), pdf.headers.get('content-disposition')],
    [200, 'application/pdf', `attachment; filename="exchange-${waiting.number}.pdf"`],
  )
  const bytes = new Uint8Array(await pdf.arrayBuffer())
  const text = pdfText(bytes).join('\n')
  for (const shown of [
    'Exchange confirmation',
    '1,074.60 USD for 1,000.00 EUR',
    '1 EUR = 1.0746 USD',
    waiting.number,
    'Treasury 7',
    'EUR account',
  ])
    t.ok(text.includes(shown), shown)
  t.strictSame(new Uint8Array(await (await download()).arrayBuffer()), bytes, 'it is rendered once')
  t.equal((await world.query('select from confirmation where object_id = $1', [waiting.id])).length, 1)
})

t.test('when its quote has run out the rate is taken anew, and has to be near', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const owner = await world.person('owner').signIn()
  const approver = await world.person('approver').signIn()
  await setPolicy(t, owner, 'exchange', { tiers: [tier(1, 0, null)] })
  const approve = async (id: string) =>
    t.match((await decide(approver, id, { decision: 'approved' })).body, { status: 'approved' })
  const opening = BigInt((await client.balance(balances.EUR)).bookBalance.amountMinor)

  // 1.08 less half a per cent is 1.0746; 40 hundredths of a per cent lower it is 1.0703016.
  const sold = await exchange(client)
  t.match(sold, { sellAmount: eur(100_000), buyAmount: usd(107_460), rate: '1.0746' })
  const bought = await exchange(client, { fixedSide: 'buy', amount: usd(107_460) })
  t.match(bought, { sellAmount: eur(100_000), buyAmount: usd(107_460) })
  world.advance(RUN_OUT_MS)
  await shift(client, -40)
  await approve(sold.approvalId!)
  t.match(await read(client, sold.id), {
    status: 'processing',
    sellAmount: eur(100_000),
    buyAmount: usd(107_030),
    rate: '1.0703016',
    quoteId: sold.quoteId,
  })
  t.strictSame(await postings(world, sold.id), ['L30 100000 EUR'])
  await approve(bought.approvalId!)
  t.match(await read(client, bought.id), {
    status: 'processing',
    sellAmount: eur(100_402),
    buyAmount: usd(107_460),
    rate: '1.0703016',
  })
  t.strictSame(await postings(world, bought.id), ['L30 100402 EUR'], 'a little more than was held')
  t.match(await client.balance(balances.EUR), { heldBalance: eur(0), bookBalance: eur(String(opening - 200_402n)) })
  await shift(client, 0)
  const [cheaper] = [await exchange(client, { fixedSide: 'buy', amount: usd(107_460) })]
  world.advance(RUN_OUT_MS)
  await shift(client, 40)
  await approve(cheaper.approvalId!)
  t.match(await read(client, cheaper.id), { status: 'processing', sellAmount: eur(99_602) })
  t.match(
    await client.balance(balances.EUR),
    { heldBalance: eur(0), bookBalance: eur(String(opening - 300_004n)) },
    'what was held too much is free',
  )

  await shift(client, 0)
  const [down, up] = [await exchange(client), await exchange(client)]
  world.advance(RUN_OUT_MS)
  for (const [moved, bps] of [
    [down, -60],
    [up, 60],
  ] as const) {
    await shift(client, bps)
    await approve(moved.approvalId!)
    const rejected = await read(client, moved.id)
    t.match(
      rejected,
      {
        status: 'rejected',
        failure: { code: 'rate_moved', retryable: true, scheme: null },
        sellAmount: eur(100_000),
        buyAmount: usd(107_460),
      },
      `${bps}`,
    )
    t.strictSame(await postings(world, moved.id), [])
    t.strictSame(await eventsOf(world, moved.id), [
      'exchange.status_changed  pending_approval',
      'exchange.status_changed pending_approval rejected',
    ])
  }
  t.equal(await heldOf(client, balances.EUR), '0')

  // The operator says how far.
  await world.query('update operator set exchange_approval_tolerance_bps = 100')
  await shift(client, 0)
  const wide = await exchange(client)
  world.advance(RUN_OUT_MS)
  await shift(client, -60)
  await world.restart()
  await approve(wide.approvalId!)
  t.match(await read(client, wide.id), { status: 'processing', buyAmount: usd(106_815) })

  // All of another customer's money is held; at the new rate it does not reach.
  await shift(client, 0)
  const poor = await world.customer({
    balances: [
      { currency: 'EUR', amount: 100_000n },
      { currency: 'USD', amount: 0n },
    ],
  })
  await world.query(
    `insert into approval_policy (id, customer_id, kind, version, terms, effective_from, updated_by, updated_at)
    select gen_random_uuid(), $1, kind, version, terms, effective_from, updated_by, updated_at from approval_policy where customer_id = $2`,
    [poor.id, client.tenantId],
  )
  const tight = await exchange(poor.client, { fixedSide: 'buy', amount: usd(107_460) })
  t.match(tight, { status: 'pending_approval', sellAmount: eur(100_000) })
  world.advance(RUN_OUT_MS)
  await shift(client, -40)
  // The approvers belong to the first customer; here the sandbox's own approver is told to approve.
  await world.query(`update approval set sandbox_decision = 'approved', wake_at = now() where id = $1`, [
    tight.approvalId,
  ])
  t.match(await becomes(poor.client, tight.id, 'rejected'), { failure: { code: 'insufficient_funds' } })
  t.match(await poor.client.balance(poor.balanceIds[0]!), { heldBalance: eur(0), availableBalance: eur(100_000) })
})

t.test('every way to end without being carried out frees the money', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const owner = await world.person('owner').signIn()
  const approver = await world.person('approver').signIn()
  await setPolicy(t, owner, 'exchange', { tiers: [tier(1, 0, null, { expiresAfterHours: 1 })] })

  const rejected = await exchange(client)
  t.match((await decide(approver, rejected.approvalId!, { decision: 'rejected', comment: 'Not today.' })).body, {
    status: 'rejected',
  })
  t.match(await read(client, rejected.id), { status: 'rejected', failure: null })
  t.equal(await heldOf(client, balances.EUR), '0')

  const withdrawn = await exchange(client)
  const key = randomUUID()
  const cancelled = await client.post<Exchange>(`/exchanges/${withdrawn.id}/cancel`, {}, key)
  t.equal(cancelled.status, 200, cancelled.text)
  t.match(cancelled.body, { id: withdrawn.id, status: 'cancelled', failure: null })
  const again = await client.post(`/exchanges/${withdrawn.id}/cancel`, {}, key)
  t.equal(again.text, cancelled.text)
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.match((await client.get<Approval>(`/approvals/${withdrawn.approvalId}`)).body, { status: 'cancelled' })
  t.strictSame(await eventsOf(world, withdrawn.approvalId!), [
    'approval.requested  pending',
    'approval.decided pending cancelled',
  ])
  const no = randomUUID()
  const refused = await client.post(`/exchanges/${withdrawn.id}/cancel`, {}, no)
  t.match(refused.problem, { status: 409, code: 'not-cancellable', currentStatus: 'cancelled' })
  t.equal(
    (await client.post(`/exchanges/${withdrawn.id}/cancel`, {}, no)).text,
    refused.text,
    'a no is remembered, too',
  )
  t.equal((await client.post(`/exchanges/${randomUUID()}/cancel`, {})).problem.code, 'not-found')
  const stranger = await world.customer({ balances: [] })
  t.equal((await stranger.client.post(`/exchanges/${withdrawn.id}/cancel`, {})).problem.code, 'not-found')
  t.match((await decide(approver, withdrawn.approvalId!, { decision: 'approved' })).problem, {
    code: 'invalid-transition',
    currentStatus: 'cancelled',
  })

  const [yes, nay] = [
    await exchange(client, { reference: 'Treasury SBX:APPROVE' }),
    await exchange(client, { reference: 'Treasury SBX:REJECT' }),
  ]
  world.advance(6_000)
  await becomes(client, nay.id, 'rejected')
  world.advance(6_000)
  await becomes(client, yes.id, 'completed')

  const forgotten = await exchange(client)
  world.advance(61 * 60_000)
  t.match(await becomes(client, forgotten.id, 'cancelled'), { failure: { code: 'approval_expired', retryable: true } })
  t.match((await client.get<Approval>(`/approvals/${forgotten.approvalId}`)).body, { status: 'expired' })
  t.equal(await heldOf(client, balances.EUR), '0')
})

t.test('the policy for payments covers exchanges while none is set for them', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const owner = await world.person('owner').signIn()
  const second = await addMember(world, 'owner')
  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 0, null)], exemptOwnAccounts: true })
  const covered = await exchange(client)
  t.match(covered, { status: 'pending_approval' }, 'that both balances are their own does not matter')
  t.match((await owner.get<Approval>(`/approvals/${covered.approvalId}`)).body, {
    policy: { source: 'snapshot', tier: { tier: 1 } },
  })

  // By a person: requesters do not decide on their own.
  const { id: quoteId } = await quote(client)
  const own = (
    await owner.post<Exchange>(
      '/exchanges',
      { quoteId, sellBalanceId: balances.EUR },
      { 'idempotency-key': randomUUID() },
    )
  ).body
  t.match((await decide(owner, own.approvalId!, { decision: 'approved' })).problem, { code: 'insufficient-scope' })
  t.match((await decide(second, own.approvalId!, { decision: 'approved' })).body, { status: 'approved' })

  // The policy for payments is what holds, so to switch the one for exchanges off needs somebody else.
  await owner.stepUp('settings.change')
  const off = await putPolicy(owner, 'exchange', { enabled: false })
  t.equal(off.status, 202)
  t.match(await exchange(client), { status: 'pending_approval' }, 'nothing changes before it is approved')
  t.match((await decide(second, off.body.pendingChange!.approvalId, { decision: 'approved' })).body, {
    status: 'approved',
  })
  t.match(await exchange(client), { status: 'processing' }, 'one that is set and off asks nobody')
})

const SETTINGS = { SECRETS_KEY: 'a secret that both nodes share, long enough' }

t.test('ten approvers and the customer at once, on two nodes', async (t) => {
  await using world = await createWorld({ settings: SETTINGS })
  await using other = await createWorld({ settings: SETTINGS, databaseUrl: world.databaseUrl })
  const nodes = [world, other]
  const { client, balances } = world.seeded
  await setPolicy(t, await world.person('owner').signIn(), 'exchange', {
    tiers: [tier(1, 0, null, { requiredApprovals: 2 })],
  })
  const approvers: readonly Person[] = await Promise.all(Array.from({ length: 10 }, () => addMember(world, 'approver')))
  const all = async (id: string) => {
    for (const approver of approvers) await approver.stepUp('approval.decide', { type: 'approval', id })
    return approvers.map(
      (approver, nth) => () =>
        atNode(approver, nodes[nth % 2]!).post<Approval>(`/approvals/${id}/decisions`, { decision: 'approved' }),
    )
  }
  const made = await exchange(client)
  const replies = await Promise.all((await all(made.approvalId!)).map((say) => say()))
  t.equal(replies.filter(({ status }) => status === 200).length, 2, 'two were needed, and two were in time')
  t.strictSame(await postings(world, made.id), ['L30 100000 EUR'], 'and it is booked once')

  const contested = await exchange(client)
  const words = await all(contested.approvalId!)
  await Promise.all([
    ...words.map((say) => say()),
    ...nodes.map((node) => client.with({ url: () => node.url }).post(`/exchanges/${contested.id}/cancel`, {})),
  ])
  const { status } = await read(client, contested.id)
  t.ok(status === 'cancelled' || status === 'processing', status)
  t.equal((await postings(world, contested.id)).length, status === 'cancelled' ? 0 : 1)
  t.equal(await heldOf(client, balances.EUR), '0')

  // The same quote, tried ten times at once on both nodes.
  const { id: quoteId } = await quote(client)
  await world.query(`update approval_policy set terms = jsonb_set(terms, '{enabled}', 'false')`)
  await world.query('update balance set version = version + 1')
  const uses = await Promise.all(
    Array.from({ length: 10 }, (_, nth) =>
      client.with({ url: () => nodes[nth % 2]!.url }).post<Exchange>('/exchanges', { quoteId }),
    ),
  )
  t.equal(uses.filter((reply) => reply.status === 201).length, 1, 'one exchange')
  for (const reply of uses.filter(({ status: code }) => code !== 201))
    t.match(reply.problem, { status: 409, code: 'invalid-transition' })
  t.equal((await world.query('select from exchange where quote_id = $1', [quoteId])).length, 1)
  const used = uses.find((reply) => reply.status === 201)!.body
  t.strictSame(await postings(world, used.id), ['L30 100000 EUR'])
  world.advance(6_000)
  await becomes(client, used.id, 'completed')
})

/** Payments in another currency than their balance's: first the exchange, then the payment out of what was bought. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import type { Exchange, Quote } from '../../../lib/exchange/exchange-schema.ts'
import type { Payment, PaymentCheck } from '../../../lib/payments/payment-schema.ts'
import { addDays } from '../../../lib/base/clock.ts'
import { railDate } from '../../../lib/rails/business-days.ts'
import { decide, setPolicy, tier } from '../approvals/people.ts'
import { becomes, money, postings, quote } from '../exchange/support.ts'
import type { Reply } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'

const usd = (minor: number | bigint) => money(minor, 'USD')
const eur = (minor: number | bigint) => money(minor, 'EUR')

/** A quote that buys so many cents with euros. */
async function buying(world: World, minor: number, body: object = {}): Promise<Quote> {
  return (await quote(world.seeded.client, { amount: usd(minor), fixedSide: 'buy', ...body })).body
}

/** A payment in dollars, out of euros. */
const bodyOf = (
  { seeded: { balances, recipients } }: World,
  quoteId: string | null,
  minor: number | bigint,
  more: object = {},
) => ({
  sourceBalanceId: balances.EUR,
  recipientId: recipients.USD,
  amount: usd(minor),
  reference: 'Invoice 42',
  purposeCode: 'SUPP',
  quoteId,
  ...more,
})

const pay = async (
  world: World,
  { id, buyAmount }: Quote,
  more: object = {},
  key: string = randomUUID(),
): Promise<Reply<Payment>> =>
  await world.seeded.client.createPayment(bodyOf(world, id, BigInt(buyAmount.amountMinor), more), key)

/** Waits for a status while time passes for the service. */
const reaching = async (world: World, id: string, status: Payment['status']): Promise<Payment> =>
  await until(
    `payment ${id} is ${status}`,
    async () => {
      const payment = await world.seeded.client.payment(id)
      if (payment.status === status) return payment
      world.advance(1_000)
      return false
    },
    { deadlineMs: 20_000 },
  )

/** The posted and held amounts of two balances. */
async function funds(world: World): Promise<Record<'eur' | 'usd' | 'eurHeld' | 'usdHeld', number>> {
  const { client, balances } = world.seeded
  const [one, other] = [await client.balance(balances.EUR), await client.balance(balances.USD)]
  return {
    eur: Number(one.bookBalance.amountMinor),
    eurHeld: Number(one.heldBalance.amountMinor),
    usd: Number(other.bookBalance.amountMinor),
    usdHeld: Number(other.heldBalance.amountMinor),
  }
}

async function refused(t: Test, world: World): Promise<void> {
  const { client, balances, recipients } = world.seeded
  const good = await buying(world, 10_000)
  const stranger = await world.customer({
    balances: [
      { currency: 'EUR', amount: 10_000n },
      { currency: 'USD', amount: 0n },
    ],
  })
  const theirs = (await quote(stranger.client)).body
  for (const [name, body, field, code] of [
    ['no quote', bodyOf(world, null, 10_000), '/quoteId', 'quote_required'],
    ['one that does not exist', bodyOf(world, randomUUID(), 10_000), '/quoteId', 'not_found'],
    ["a stranger's", bodyOf(world, theirs.id, 10_000), '/quoteId', 'not_found'],
    ['of another amount', bodyOf(world, good.id, 9_999), '/quoteId', 'invalid_value'],
    [
      'that sells another currency',
      bodyOf(
        world,
        (await quote(client, { sellCurrency: 'GBP', amount: usd(10_000), fixedSide: 'buy' })).body.id,
        10_000,
      ),
      '/quoteId',
      'currency_mismatch',
    ],
    [
      'that buys another currency',
      bodyOf(world, (await quote(client, { buyCurrency: 'GBP' })).body.id, 10_000),
      '/quoteId',
      'currency_mismatch',
    ],
    [
      'of a forward',
      bodyOf(
        world,
        (await quote(client, { kind: 'held_rate', amount: usd(10_000), fixedSide: 'buy' })).body.id,
        10_000,
      ),
      '/quoteId',
      'invalid_value',
    ],
    [
      'where nothing is to be bought',
      { ...bodyOf(world, good.id, 10_000), sourceBalanceId: balances.USD },
      '/quoteId',
      'not_applicable',
    ],
    [
      'for another day',
      bodyOf(world, good.id, 10_000, { executionDate: addDays(railDate('fedwire', world.now()), 3) }),
      '/executionDate',
      'not_applicable',
    ],
  ] as const)
    t.match((await client.createPayment(body)).problem, { status: 422, errors: [{ field, code }] }, name)
  t.equal((await pay(world, await buying(world, 1_000_000_000))).problem.code, 'insufficient-funds')
  const check = (await client.post<PaymentCheck>('/payments/validate', bodyOf(world, good.id, 10_000))).body
  t.match(check, { valid: true, totalDebit: good.sellAmount, fee: null, issues: [] })
  t.match(
    (
      await client.post<PaymentCheck>('/payments/validate', {
        ...bodyOf(world, null, 10_000),
        recipientId: recipients.USD,
      })
    ).body,
    { valid: false, issues: [{ code: 'quote_required' }] },
  )
  // A look opens no balance, a payment does.
  const single = await world.customer({ balances: [{ currency: 'EUR', amount: 100_000n }] })
  const theirQuote = (await quote(single.client, { amount: usd(5_000), fixedSide: 'buy' })).body
  const theirBody = {
    ...bodyOf(world, theirQuote.id, 5_000),
    sourceBalanceId: single.balanceIds[0]!,
    recipientId: single.recipients.USD,
  }
  const currencies = async () =>
    (await single.client.list<{ currency: string }>('/balances')).body.data.map(({ currency }) => currency).sort()
  t.match((await single.client.post<PaymentCheck>('/payments/validate', theirBody)).body, {
    valid: true,
    totalDebit: theirQuote.sellAmount,
  })
  t.strictSame(await currencies(), ['EUR'])
  t.equal((await single.client.createPayment(theirBody)).status, 201)
  t.strictSame(await currencies(), ['EUR', 'USD'])
  world.advance(31_000)
  t.match((await pay(world, good)).problem, { status: 409, code: 'quote-expired' })
}

t.test('the exchange comes first, and the payment out of what was bought', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const before = await funds(world)
  const key = randomUUID()
  const bought = await buying(world, 10_000)
  const sold = Number(bought.sellAmount.amountMinor)
  const made = await pay(world, bought, {}, key)
  t.equal(made.status, 201, made.text)
  t.match(made.body, {
    status: 'processing',
    amount: usd(10_000),
    totalDebit: bought.sellAmount,
    fee: null,
    fees: [],
    quoteId: bought.id,
    exchangeId: String,
    sourceBalanceId: balances.EUR,
    cancellable: true,
  })
  t.notOk('processing' in made.body, 'the bank has no queue for it yet')
  const { id, exchangeId } = made.body
  t.match((await client.get<Exchange>(`/exchanges/${exchangeId}`)).body, {
    status: 'processing',
    quoteId: bought.id,
    sellAmount: bought.sellAmount,
    buyAmount: usd(10_000),
    reference: `Payment ${made.body.number}`,
  })
  t.match(
    await funds(world),
    { eur: before.eur - sold, eurHeld: 0, usd: before.usd, usdHeld: 0 },
    'what is sold has left',
  )
  t.match(
    (await pay(world, bought)).problem,
    { status: 409, code: 'invalid-transition', currentStatus: 'used' },
    'a quote is used once',
  )
  await becomes(world, client, exchangeId!, 'completed')
  const done = await reaching(world, id, 'completed')
  t.match(done, { amount: usd(10_000), totalDebit: bought.sellAmount, exchangeId })
  t.match(
    await funds(world),
    { eur: before.eur - sold, eurHeld: 0, usd: before.usd, usdHeld: 0 },
    'what was bought came and went',
  )
  t.match(
    (await postings(world, exchangeId!)).filter((line) => !line.startsWith('L34')),
    [/^L30 EUR/, /^L31 EUR/, /^L32 USD/, /^L33 USD 10000/],
  )
  t.strictSame(await postings(world, id), ['L10 USD 10000', 'L11 USD 10000'])
  const replayed = await pay(world, bought, {}, key)
  t.equal(replayed.text, made.text, 'the same key gets the same answer')

  await refused(t, world)

  // The exchange fails: the money is where it was, and so is the payment's end.
  const failing = (await quote(client, { amount: eur(1309), fixedSide: 'sell' })).body
  const funded = await funds(world)
  const lost = (await pay(world, failing)).body
  t.match(await reaching(world, lost.id, 'failed'), {
    failure: { code: 'technical_error', message: String },
    sentAt: null,
  })
  t.strictSame(await funds(world), funded)
  t.strictSame(
    (await postings(world, lost.exchangeId!)).map((line) => line.slice(0, 3)),
    ['L30', 'L35'],
  )

  // The outcome is unknown: the payment waits with its exchange, and goes on with it.
  const doubtful = (await pay(world, (await quote(client, { amount: eur(1501), fixedSide: 'sell' })).body)).body
  await becomes(world, client, doubtful.exchangeId!, 'exception')
  t.match(await client.payment(doubtful.id), { status: 'processing', exception: null })
  await reaching(world, doubtful.id, 'completed')

  // The customer changes its mind in between: what is bought is its own.
  const slow = (await pay(world, (await quote(client, { amount: eur(1701), fixedSide: 'sell' })).body)).body
  const then = await funds(world)
  t.match((await client.post<Payment>(`/payments/${slow.id}/cancel`, {})).body, { status: 'cancelled' })
  // Not before the partner has been told of it.
  await until(
    'the exchange is with the partner',
    async () =>
      (await client.post(`/simulations/exchanges/${slow.exchangeId}/status`, { status: 'completed' })).status === 202,
  )
  await becomes(world, client, slow.exchangeId!, 'completed')
  t.match(await funds(world), { eur: then.eur, usd: then.usd + Number(slow.amount.amountMinor), usdHeld: 0 })
  t.strictSame(await postings(world, slow.id), [])

  // The bank's no comes after the exchange: the customer keeps what was bought.
  const rejected = (await pay(world, await buying(world, 10_000), { reference: 'SBX:AC04' })).body
  const last = await funds(world)
  await reaching(world, rejected.id, 'failed')
  t.match(await funds(world), { eur: last.eur, usd: last.usd + 10_000, usdHeld: 0 })

  // A draft keeps its quote until it is submitted.
  const drafted = await buying(world, 7_000)
  const draft = (await pay(world, drafted, { draft: true })).body
  t.match(draft, { status: 'draft', quoteId: drafted.id, exchangeId: null })
  const submitted = await client.post<Payment>(`/payments/${draft.id}/submit`, {})
  t.match(submitted.body, {
    status: 'processing',
    quoteId: drafted.id,
    exchangeId: String,
    totalDebit: drafted.sellAmount,
  })
  await reaching(world, draft.id, 'completed')
})

t.test('where people approve it first, the rate is taken anew when its quote has run out', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const [owner, approver] = [await world.person('owner').signIn(), await world.person('approver').signIn()]
  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 1, null)] })
  const before = await funds(world)
  const waiting = async (minor = 10_000) => {
    const bought = await buying(world, minor)
    const payment = (await pay(world, bought)).body
    t.match(payment, { status: 'pending_approval', quoteId: bought.id, exchangeId: String })
    t.match(await client.holds(world.seeded.balances.EUR), [{ amount: bought.sellAmount }], 'what is sold is held')
    return { payment, sold: Number(bought.sellAmount.amountMinor) }
  }
  const cancelled = await waiting()
  t.match((await client.post<Payment>(`/payments/${cancelled.payment.id}/cancel`, {})).body, { status: 'cancelled' })
  t.match((await client.get<Exchange>(`/exchanges/${cancelled.payment.exchangeId}`)).body, { status: 'cancelled' })
  t.strictSame(await funds(world), before)

  const fresh = await waiting()
  t.equal((await decide(approver, fresh.payment.approvalId!, { decision: 'approved' })).status, 200)
  t.match(await funds(world), { eur: before.eur - fresh.sold, eurHeld: 0 })
  await reaching(world, fresh.payment.id, 'completed')

  // Within what the operator allows the rate may move.
  const moved = await waiting()
  t.equal(
    (await client.post('/simulations/fx-rates', { sellCurrency: 'EUR', buyCurrency: 'USD', shiftBps: -30 })).status,
    202,
  )
  world.advance(31_000)
  t.equal((await decide(approver, moved.payment.approvalId!, { decision: 'approved' })).status, 200)
  const dearer = await client.payment(moved.payment.id)
  t.equal(dearer.status, 'processing')
  t.ok(Number(dearer.totalDebit.amountMinor) > moved.sold, 'it costs what it costs now')
  t.match(await funds(world), { eur: before.eur - fresh.sold - Number(dearer.totalDebit.amountMinor), eurHeld: 0 })
  await reaching(world, moved.payment.id, 'completed')

  const tooFar = await waiting()
  t.equal(
    (await client.post('/simulations/fx-rates', { sellCurrency: 'EUR', buyCurrency: 'USD', shiftBps: -300 })).status,
    202,
  )
  world.advance(31_000)
  t.equal((await decide(approver, tooFar.payment.approvalId!, { decision: 'approved' })).status, 200)
  t.match(await client.payment(tooFar.payment.id), { status: 'rejected', statusReason: { code: 'rate_moved' } })
  t.match((await client.get<Exchange>(`/exchanges/${tooFar.payment.exchangeId}`)).body, { status: 'rejected' })
  t.strictSame(await client.holds(world.seeded.balances.EUR), [])
})

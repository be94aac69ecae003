/**
 * Balances that pay what was bought for them: not closed while the money may come back, and no money comes to one that
 * is closed.
 */
import t from 'tap'
import type { Balance } from '../../../lib/balances/balance-schema.ts'
import type { Exception } from '../../../lib/compliance/exception-schema.ts'
import type { SuspenseItem } from '../../../lib/incoming-payments/incoming-payment-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import { exceptionOf, setFourEyes } from '../compliance/staff.ts'
import { becomes, exchange, money, postings, quote } from '../exchange/support.ts'
import type { PageBody } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'

const DOLLARS = 10_000
/** The amount sold or moved, in cents: the partner gives no answer about it for a minute. */
const SILENT = 1_501

/** A payment in dollars out of euros that the bank has, and never answers. */
async function atTheBank(world: World): Promise<Payment> {
  const { client, balances, recipients } = world.seeded
  const bought = (await quote(client, { amount: money(DOLLARS, 'USD'), fixedSide: 'buy' })).body
  const made = await client.createPayment({
    sourceBalanceId: balances.EUR,
    recipientId: recipients.USD,
    amount: bought.buyAmount,
    reference: 'SBX:TIMEOUT',
    purposeCode: 'SUPP',
    quoteId: bought.id,
  })
  await becomes(world, client, made.body.exchangeId as string, 'completed')
  return await until('nobody knows what became of the payment', async () => {
    const payment = await client.payment(made.body.id)
    if (payment.status === 'exception') return payment
    world.advance(1_000)
    return false
  })
}

async function resolve(staff: Person, paymentId: string, body: object): Promise<number> {
  return (
    await staff.post<Exception>(`/exceptions/${(await exceptionOf(staff, paymentId)).id}/resolve`, {
      evidence: 'Line 7.',
      ...body,
    })
  ).status
}

/**
 * What no client can do: the balance is closed whatever is on its way, as it was by versions that did not know which
 * balance pays.
 */
async function closeByForce(world: World, id: string): Promise<void> {
  await world.query(`update account_details set status = 'closed' where balance_id = $1`, [id])
  await world.query(
    `update balance set status = 'closed', closed_at = now(), is_default = false, details_status = null, version = version + 1 where id = $1`,
    [id],
  )
}

t.test(
  'the balance that pays stays open while its payment is at the bank, the one that was sold from does not have to',
  async (t) => {
    await using world = await createWorld()
    await setFourEyes(world, false)
    const { client, balances } = world.seeded
    const owner = await world.person('owner').signIn()
    const staff = await world.person('operations').signIn()
    const second = (await owner.post<Balance>('/balances', { currency: 'USD', name: 'Second' })).body
    const other = (await owner.post<Balance>('/balances', { currency: 'EUR', name: 'Other' })).body
    const payment = await atTheBank(world)
    t.match((await owner.post(`/balances/${balances.USD}/close`, { sweepToBalanceId: second.id })).problem, {
      status: 409,
      code: 'invalid-transition',
      detail: /under way/,
    })
    t.equal(
      (await owner.post(`/balances/${balances.EUR}/close`, { sweepToBalanceId: other.id })).status,
      200,
      'nothing comes back to it',
    )
    const before = Number((await client.balance(balances.USD)).bookBalance.amountMinor)
    t.equal(await resolve(staff, payment.id, { outcome: 'failed' }), 200)
    t.match(await client.payment(payment.id), { status: 'failed' })
    t.match(await client.balance(balances.USD), { status: 'active', bookBalance: money(before + DOLLARS, 'USD') })
    t.equal(
      (await owner.post(`/balances/${balances.USD}/close`, { sweepToBalanceId: second.id })).status,
      200,
      'it is over',
    )
  },
)

for (const [name, body, expected] of [
  ['the bank refused it', { outcome: 'failed' }, ['L10 USD 10000', 'L12 USD 10000']],
  ['the bank gave it back', { outcome: 'returned' }, ['L10 USD 10000', 'L11 USD 10000', 'L03 USD 10000']],
] as const) {
  t.test(`what meets a closed balance waits for its owner: ${name}`, async (t) => {
    await using world = await createWorld()
    await setFourEyes(world, false)
    const { client, balances } = world.seeded
    const owner = await world.person('owner').signIn()
    const staff = await world.person('operations').signIn()
    const second = (await owner.post<Balance>('/balances', { currency: 'USD', name: 'Second' })).body
    const payment = await atTheBank(world)
    await closeByForce(world, balances.USD)
    const before = (await client.balance(balances.USD)).bookBalance
    t.equal(await resolve(staff, payment.id, body), 200)
    t.match(await client.payment(payment.id), { status: body.outcome })
    t.strictSame((await postings(world, payment.id)).toSorted(), expected.toSorted())
    t.match(await client.balance(balances.USD), { status: 'closed', bookBalance: before })
    const {
      data: [item],
    } = (await staff.get<PageBody<SuspenseItem>>('/incoming-suspense')).body
    t.match(item, { status: 'open', reason: 'balance_closed', amount: money(DOLLARS, 'USD') })
    await world.audit()
    t.equal(
      (
        await staff.post(`/incoming-suspense/${item!.id}/allocate`, {
          balanceId: second.id,
          reason: 'Their other balance.',
        })
      ).status,
      200,
    )
    t.match(await client.balance(second.id), { bookBalance: money(DOLLARS, 'USD') })
  })
}

t.test(
  'an exchange or a transfer that ends beside a closed balance leaves its money with the suspense list',
  async (t) => {
    await using world = await createWorld()
    await setFourEyes(world, false)
    const { client, balances } = world.seeded
    const owner = await world.person('owner').signIn()
    const staff = await world.person('operations').signIn()
    const [euros, dollars] = [
      (await owner.post<Balance>('/balances', { currency: 'EUR', name: 'Euros' })).body.id,
      (await owner.post<Balance>('/balances', { currency: 'USD', name: 'Dollars' })).body.id,
    ]
    t.equal(
      (
        await client.createTransfer({
          fromBalanceId: balances.EUR,
          toBalanceId: euros,
          amount: money(2 * SILENT, 'EUR'),
        })
      ).status,
      201,
    )
    const exception = async (path: string) =>
      await until(`${path} is an exception`, async () => {
        const { body } = await client.get<{ readonly id: string; readonly status: string }>(path)
        if (body.status === 'exception') return body
        world.advance(1_000)
        return false
      })
    const items = async () =>
      (await staff.get<PageBody<SuspenseItem>>('/incoming-suspense?sort=-receivedAt')).body.data
        .map(({ amount, reference }) => `${amount.currency} ${amount.amountMinor} ${reference?.split(' ')[0]}`)
        .sort()

    // Bought for the one, and for a payment, sold from the other: neither is there any more when the partner's word
    // comes.
    const exchanged = (
      await exchange(client, (await quote(client, { amount: money(SILENT, 'EUR') })).body.id, {
        sellBalanceId: euros,
        buyBalanceId: dollars,
      })
    ).body
    const refused = (
      await exchange(client, (await quote(client, { amount: money(SILENT, 'EUR') })).body.id, {
        sellBalanceId: euros,
        buyBalanceId: dollars,
      })
    ).body
    const transfer = (
      await client.createTransfer({ fromBalanceId: balances.EUR, toBalanceId: euros, amount: money(SILENT, 'EUR') })
    ).body
    const bought = (await quote(client, { amount: money(SILENT, 'EUR'), buyBalanceId: dollars })).body
    const payment = (
      await client.createPayment({
        sourceBalanceId: balances.EUR,
        recipientId: world.seeded.recipients.USD,
        amount: bought.buyAmount,
        reference: 'Invoice 42',
        purposeCode: 'SUPP',
        quoteId: bought.id,
      })
    ).body
    for (const path of [
      `/exchanges/${exchanged.id}`,
      `/exchanges/${refused.id}`,
      `/transfers/${transfer.id}`,
      `/exchanges/${payment.exchangeId}`,
    ])
      await exception(path)
    for (const id of [euros, dollars])
      t.match(
        (await owner.post(`/balances/${id}/close`, { sweepToBalanceId: id === euros ? balances.EUR : balances.USD }))
          .problem,
        { status: 409, detail: /under way/ },
      )
    for (const id of [euros, dollars]) await closeByForce(world, id)
    const before = [(await client.balance(euros)).bookBalance, (await client.balance(dollars)).bookBalance]

    t.equal(await resolve(staff, exchanged.id, { outcome: 'completed' }), 200)
    t.equal(await resolve(staff, refused.id, { outcome: 'failed' }), 200)
    t.equal(await resolve(staff, transfer.id, { outcome: 'completed' }), 200)
    t.match((await client.get(`/exchanges/${exchanged.id}`)).body, { status: 'completed' })
    t.match((await client.get(`/exchanges/${refused.id}`)).body, { status: 'failed' })
    t.match((await client.get(`/transfers/${transfer.id}`)).body, { status: 'completed' })
    // The partner's own word, which an actor books.
    world.advance(60_000)
    await until(
      'the exchange of the payment is completed',
      async () =>
        (await client.get<{ readonly status: string }>(`/exchanges/${payment.exchangeId}`)).body.status === 'completed',
    )
    t.match(await client.payment(payment.id), { status: 'failed', sentAt: null })
    const usd = bought.buyAmount.amountMinor
    t.strictSame(await items(), [
      `EUR ${SILENT} Exchange`,
      `EUR ${SILENT} Transfer`,
      `USD ${usd} Exchange`,
      `USD ${usd} Exchange`,
    ])
    t.strictSame([(await client.balance(euros)).bookBalance, (await client.balance(dollars)).bookBalance], before)
    await world.audit()
  },
)

/** Measures that are taken in the moment in which something that was accepted earlier begins to move money. */
import t from 'tap'
import type { Exchange, Quote } from '../../../lib/exchange/exchange-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import { suspendedAtOnce } from '../../support/same-moment.ts'
import { createWorld, paymentBody, transferBody } from '../../support/world.ts'
import { setPolicy, tier } from '../approvals/people.ts'

const REFUSED = { status: 403, code: 'customer-restricted' }

t.test('an exchange, and a payment with an exchange, are not approved in the moment of a suspension', async (t) => {
  for (const buysFor of ['itself', 'a payment'] as const) {
    await using world = await createWorld()
    const { client, balances, recipients } = world.seeded
    const owner = await world.person('owner').signIn()
    const approver = await world.person('approver').signIn()
    await setPolicy(t, owner, buysFor === 'itself' ? 'exchange' : 'payment', { tiers: [tier(1, 0, null)] })
    const quote = await client.post<Quote>('/exchanges/quotes', {
      sellCurrency: 'EUR',
      buyCurrency: 'GBP',
      amount: { amountMinor: '1000', currency: 'GBP' },
      fixedSide: 'buy',
    })
    const quoteId = quote.body.id
    const made =
      buysFor === 'itself'
        ? await client.post<Exchange>('/exchanges', { quoteId })
        : await client.post<Payment>('/payments', {
            ...paymentBody(balances.EUR, recipients.GBP, 1_000, 'GBP'),
            quoteId,
          })
    t.match(made.body, { status: 'pending_approval' }, made.text)
    const approvalId = made.body.approvalId as string
    await approver.stepUp('approval.decide', { type: 'approval', id: approvalId })
    const before = (await client.balance(balances.EUR)).bookBalance
    const decided = await suspendedAtOnce(world, client.tenantId, () =>
      approver.post(`/approvals/${approvalId}/decisions`, { decision: 'approved' }),
    )
    t.match(decided.problem, REFUSED, `${buysFor}: ${decided.text}`)
    t.match((await client.get(`/approvals/${approvalId}`)).body, { status: 'pending' }, 'nothing has changed')
    t.strictSame((await client.balance(balances.EUR)).bookBalance, before)
  }
})

t.test('a balance with money is not closed in the moment of a suspension', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const owner = await world.person('owner').signIn()
  const opened = await owner.post<{ id: string }>('/balances', { currency: 'EUR' })
  const { id } = opened.body
  t.equal((await client.createTransfer(transferBody(balances.EUR, id, 500))).status, 201)
  const closed = await suspendedAtOnce(world, client.tenantId, () =>
    owner.post(`/balances/${id}/close`, { sweepToBalanceId: balances.EUR }),
  )
  t.match(closed.problem, REFUSED, closed.text)
  t.match(await client.balance(id), { status: 'active', bookBalance: { amountMinor: '500' } })
})

import t from 'tap'

import type { PaymentStatusUpdate } from '../../../../lib/payments/payment-outcome-schema.ts'
import { sentPayment } from '../../../support/outcomes.ts'
import { until } from '../../../support/until.ts'
import { createWorld } from '../../../support/world.ts'

t.test('the history of a payment is read page by page, either way, by its customer alone', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const { id } = await sentPayment(world, 1503)
  await until('nobody knows', async () => (await client.payment(id)).status === 'exception')
  t.equal((await client.post(`/simulations/payments/${id}/status`, { status: 'completed' })).status, 202)
  await client.paymentReaching(id, 'completed')
  const {
    body: { data, page },
  } = await client.list<PaymentStatusUpdate>(`/payments/${id}/updates`, { withTotal: true })
  t.match(
    data.map(({ status, previousStatus, actor, message }) => [status, previousStatus, actor, message]),
    [
      ['completed', 'exception', 'partner', 'Payment completed.'],
      ['exception', 'processing', 'system', 'The outcome is being checked with the bank.'],
      ['processing', 'processing', 'system', 'Payment handed to the bank.'],
      ['processing', null, 'member', String],
    ],
  )
  t.equal(page.total, 4)
  t.ok(data.every(({ paymentId, at }) => paymentId === id && /Z$/.test(at)))
  t.equal(new Set(data.map((update) => update.id)).size, 4, 'each has an id of its own')
  const collected: PaymentStatusUpdate[] = []
  let cursor: string | null = null
  do {
    const reply: Awaited<ReturnType<typeof client.list<PaymentStatusUpdate>>> = await client.list<PaymentStatusUpdate>(
      `/payments/${id}/updates`,
      { sort: 'at', limit: 3, ...(cursor === null ? {} : { cursor }) },
    )
    t.equal(reply.status, 200, reply.text)
    collected.push(...reply.body.data)
    cursor = reply.body.page.nextCursor ?? null
  } while (cursor !== null)
  t.strictSame(collected, data.toReversed(), 'the same rows with the same ids, the other way round')
  t.match((await client.list(`/payments/${crypto.randomUUID()}/updates`)).problem, { status: 404, code: 'not-found' })
  t.match((await client.list(`/payments/${id}/updates`, { sort: '-createdAt' })).problem, { status: 400 })
  const other = await world.customer({ balances: [] })
  t.match((await other.client.list(`/payments/${id}/updates`)).problem, { status: 404, code: 'not-found' })
})

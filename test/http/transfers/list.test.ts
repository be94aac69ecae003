/** The list of transfers. */
import t from 'tap'

import type { Transfer } from '../../../lib/transfers/transfer-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld, transferBody } from '../../support/world.ts'

t.test('transfers are listed and filtered', async (t) => {
  await using world = await createWorld()
  const customer = await world.customer({
    balances: [
      { currency: 'EUR', amount: 50_000n },
      { currency: 'EUR', amount: 20_000n },
      { currency: 'EUR', amount: 0n },
    ],
  })
  const { client } = customer
  const [a, b, c] = customer.balanceIds as [string, string, string]
  const one = (await client.createTransfer({ ...transferBody(a, b, 100), externalId: 'X-1' })).body
  const two = (await client.createTransfer(transferBody(b, c, 200))).body
  const three = (await client.createTransfer(transferBody(a, c, 1_301))).body
  await until(
    'the last one has failed',
    async () => (await client.get<Transfer>(`/transfers/${three.id}`)).body.status === 'failed',
  )
  const ids = async (parameters: Record<string, string | number | boolean> = {}) =>
    (await client.list<Transfer>('/transfers', parameters)).body.data.map(({ id }) => id)
  t.strictSame(await ids(), [three.id, two.id, one.id])
  t.strictSame(await ids({ sort: 'createdAt' }), [one.id, two.id, three.id])
  t.strictSame(await ids({ 'filter[status]': 'failed' }), [three.id])
  t.strictSame(await ids({ 'filter[status]': 'completed,failed' }), [three.id, two.id, one.id])
  t.strictSame(await ids({ 'filter[fromBalanceId]': a }), [three.id, one.id])
  t.strictSame(await ids({ 'filter[toBalanceId]': c }), [three.id, two.id])
  t.strictSame(await ids({ 'filter[balanceId]': b }), [two.id, one.id])
  t.strictSame(await ids({ 'filter[currency]': 'GBP' }), [])
  t.strictSame(await ids({ 'filter[externalId]': 'X-1' }), [one.id])
  const seen: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { data, page } = (
      await client.list<Transfer>('/transfers', { limit: 1, ...(cursor === undefined ? {} : { cursor }) })
    ).body
    seen.push(...data.map(({ id }) => id))
    cursor = page.nextCursor
  }
  t.strictSame(seen, await ids())
  t.equal((await client.list('/transfers', { withTotal: true })).body.page.total, 3)
  t.strictSame(
    (await client.list<Transfer>('/transfers', { 'filter[externalId]': 'X-1' })).body.data[0],
    (await client.get<Transfer>(`/transfers/${one.id}`)).body,
  )
  t.strictSame((await world.seeded.client.list('/transfers')).body.data, [], 'nobody sees those of others')
})

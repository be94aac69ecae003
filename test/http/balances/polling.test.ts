/**
 * Balances and journals as those who poll them see them: a tag that holds until something changes, and never longer.
 */
import t from 'tap'
import { createWorld, paymentBody, transferBody } from '../../support/world.ts'

t.test('a tag holds until the balance or its journal changes', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances, recipients } = world.seeded
  const other = (await world.customer({ balances: [{ currency: 'EUR', amount: 1n }] })).client
  const owner = await world.person('owner').signIn()
  const savings = (await owner.post<{ id: string }>('/balances', { currency: 'EUR' })).body.id
  const paths = {
    balance: `/balances/${balances.EUR}`,
    journal: `/balances/${balances.EUR}/journal`,
    backwards: `/balances/${balances.EUR}/journal?sort=sequence&limit=1`,
  }
  type Name = keyof typeof paths
  const names = Object.keys(paths) as Name[]
  const tags = async () =>
    Object.fromEntries(
      await Promise.all(
        names.map(async (name) => [name, (await client.get(paths[name])).headers.get('etag') as string]),
      ),
    ) as Record<Name, string>
  const statuses = async (known: Record<Name, string>) =>
    await Promise.all(
      names.map(async (name) => (await client.get(paths[name], { 'if-none-match': known[name] })).status),
    )

  const first = await tags()
  const unchanged = await client.get(paths.balance, { 'if-none-match': first.balance })
  t.match(
    {
      status: unchanged.status,
      text: unchanged.text,
      cache: unchanged.headers.get('cache-control'),
      etag: unchanged.headers.get('etag'),
    },
    { status: 304, text: '', cache: 'private, no-cache', etag: first.balance },
  )
  t.strictSame(await statuses(first), [304, 304, 304])
  for (const path of Object.values(paths))
    t.equal((await other.get(path)).problem.code, 'not-found', "what is kept in memory is nobody else's")

  await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 5))
  t.strictSame(await statuses(first), [200, 304, 304], 'a hold changes the balance alone')
  const second = await tags()
  for (let nth = 0; nth < 5; nth++) {
    await client.createTransfer(transferBody(balances.EUR, savings, 10))
    const balance = await client.balance(balances.EUR)
    t.equal(balance.bookBalance.amountMinor, String(10_000_000 - 10 * (nth + 1)), 'who has written reads it')
    t.match((await client.journal(balances.EUR, { limit: 25 }))[0], {
      sequence: nth + 2,
      runningBalance: balance.bookBalance,
    })
  }
  t.strictSame(await statuses(second), [200, 200, 200], 'the last page has a next one now')

  const upper = (
    await client.get<{ page: { nextCursor: string } }>(`/balances/${balances.EUR.toUpperCase()}/journal?limit=2`)
  ).body.page.nextCursor
  const lower = (await client.get<{ page: { nextCursor: string } }>(`/balances/${balances.EUR}/journal?limit=2`)).body
    .page.nextCursor
  t.equal((await client.get(`/balances/${balances.EUR.toUpperCase()}/journal?limit=2&cursor=${upper}`)).status, 200)
  t.equal(
    (await client.get(`/balances/${balances.EUR}/journal?limit=2&cursor=${lower}`)).status,
    200,
    'a cursor fits the question it came with, however it was written',
  )
})

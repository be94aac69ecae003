/** A search has the same pages whether its words are found among the first rows, by their index, or not at all. */
import t from 'tap'

import type { Position } from '../../../lib/contract/list.ts'
import { readDatabase } from '../../../storage/db/read-database.ts'
import { listTransactions, type TransactionSort } from '../../../storage/transactions/transaction-queries.ts'
import { openBooks } from '../../support/books.ts'

const ROWS = 3_000

t.test('words that many, few and no transactions have', async (t) => {
  const books = await openBooks(t)
  const customerId = books.sandbox.customer.id
  // Every transaction is an invoice, every fiftieth is urgent, and the oldest alone are deposits.
  await books.client.query(
    `insert into account_transaction (id, customer_id, balance_id, type, status, direction, currency, amount, description, reference, source_object, source_id, source_version, created_at, updated_at)
    select uuidv7(), $1, $2, 'transfer_out', 'completed', 'out', 'EUR', nth, 'Invoice ' || nth, case when nth <= 3 then 'deposit' when nth % 50 = 0 then 'urgent' end, 'transfer', uuidv7(), 1,
      '2026-01-01'::timestamptz + nth * interval '1 minute', now() from generate_series(1, ${ROWS}) nth`,
    [customerId, books.sandbox.customer.balances.EUR],
  )
  await books.client.query('analyze account_transaction')
  const db = readDatabase(books.database)

  async function find(q: string, sort: TransactionSort, limit: number): Promise<number[]> {
    const found: number[] = []
    let position: Position | null = null
    for (;;) {
      const page: Awaited<ReturnType<typeof listTransactions>> = await listTransactions(
        books.database,
        db,
        {
          tenant: { id: customerId, kind: 'customer' },
          filters: {},
          metadata: [],
          sort,
          limit,
          position,
          withTotal: false,
          q,
        },
        Date.now(),
      )
      const amounts = page.rows.map(({ amount }) => Number(amount.amountMinor))
      if (position !== null && page.rows.length > 0) {
        const back = await listTransactions(
          books.database,
          db,
          {
            tenant: { id: customerId, kind: 'customer' },
            filters: {},
            metadata: [],
            sort,
            limit,
            position: { direction: 'before', keys: page.keys[0]! },
            withTotal: true,
            q,
          },
          Date.now(),
        )
        t.strictSame(
          back.rows.map(({ amount }) => Number(amount.amountMinor)),
          found.slice(-limit),
          'and back',
        )
      }
      found.push(...amounts)
      if (!page.hasMore) return found
      position = { direction: 'after', keys: page.keys.at(-1)! }
    }
  }

  const all = Array.from({ length: ROWS }, (_, nth) => nth + 1)
  const cases: readonly (readonly [q: string, has: (nth: number) => boolean, limit: number])[] = [
    ['deposit', (nth) => nth <= 3, 2],
    ['urgent', (nth) => nth > 3 && nth % 50 === 0, 25],
    ['zeppelin', () => false, 25],
    ['invo', () => true, 900],
    ['invoice 2999', (nth) => nth === 2_999, 25],
  ]
  for (const [q, has, limit] of cases) {
    for (const sort of ['createdAt', '-createdAt', '-amount'] as const) {
      const expected = all.filter(has)
      t.strictSame(await find(q, sort, limit), sort === 'createdAt' ? expected : expected.reverse(), `${q} ${sort}`)
    }
  }
})

t.test('words are those of a text, folded, and a search finds them by their beginnings', async (t) => {
  const books = await openBooks(t)
  const tenant = '01a2077c-26d9-74a7-98de-9d8985c16121'
  const finds = async (text: string, q: string, searching = tenant) => {
    const {
      rows: [row],
    } = await books.client.query<{ found: boolean }>('select search_words($1, $2) @@ search_query($3, $4) as found', [
      tenant,
      text,
      searching,
      q,
    ])
    return row!.found
  }
  for (const [text, q, found] of [
    ['Invoice 42', 'invoice', true],
    ['Invoice 42', '42 inv', true],
    ['Invoice 42', 'voice', false],
    ['  Łódź & Søn — ', 'lodz son', true],
    ['Straße ÉCOLE a-b', 'strasse ecole b', true],
    [`it's 'x' \\ y:z`, 'x y z', true],
    ['a a a', 'a', true],
    ['', 'a', false],
    [' -- ', 'a', false],
    ['Invoice 42', ' -- ', false],
  ] as const)
    t.equal(await finds(text, q), found, `${JSON.stringify(text)} ${q}`)
  t.notOk(await finds('Invoice', 'invoice', '01a2077c-26d9-74a7-98de-9d8985c16122'), 'of another tenant')
})

t.test('a customer whose id ends like that of another one finds nothing of the other', async (t) => {
  const books = await openBooks(t)
  const one = books.sandbox.customer.id
  const other = `00000000-0000-7000-8000-0000${one.slice(-8)}`
  await books.client.query(
    `insert into account_transaction (id, customer_id, balance_id, type, status, direction, currency, amount, description, source_object, source_id, source_version, created_at, updated_at)
    select uuidv7(), customer_id::uuid, $3, 'transfer_out', 'completed', 'out', 'EUR', nth, 'Zeppelin', 'transfer', uuidv7(), 1, now(), now()
    from unnest(array[$1, $2]) with ordinality c(customer_id, nth)`,
    [one, other, books.sandbox.customer.balances.EUR],
  )
  for (const [id, amount] of [
    [one, '1'],
    [other, '2'],
  ] as const) {
    const { rows } = await listTransactions(
      books.database,
      readDatabase(books.database),
      {
        tenant: { id, kind: 'customer' },
        filters: {},
        metadata: [],
        sort: '-createdAt',
        limit: 10,
        position: null,
        withTotal: true,
        q: 'zeppelin',
      },
      Date.now(),
    )
    t.strictSame(
      rows.map((row) => row.amount.amountMinor),
      [amount],
    )
  }
})

import t from 'tap'

import {
  incomingBranch,
  listIncomingPayments,
  type IncomingListQuery,
} from '../../../storage/incoming-payments/incoming-payment-queries.ts'
import type { Position } from '../../../lib/contract/list.ts'
import { pageStatement } from '../../../storage/db/page.ts'
import { readDatabase } from '../../../storage/db/read-database.ts'
import { openBooks } from '../../support/books.ts'

const ROWS = 2_000
const NOTHING = { filters: {}, metadata: [], limit: 7, position: null, withTotal: false, q: null }

t.test('incoming payments page by when they came, ties and all, from an index', async (t) => {
  const books = await openBooks(t)
  const { client, tenant, database } = books
  // Several in one millisecond, and some that their customer must not see.
  await client.query(
    `insert into incoming_payment select (jsonb_populate_record(null::incoming_payment, to_jsonb(i) || jsonb_build_object(
      'id', gen_random_uuid(), 'credited_at', case when n % 50 = 0 then null else i.received_at + make_interval(secs => n / 3) end))).*
    from (select * from incoming_payment order by id limit 1) i, generate_series(1, $1) n`,
    [ROWS],
  )
  await client.query('analyze incoming_payment')
  const db = readDatabase(database)
  const { rows: shown } = await client.query<{ id: string }>(
    'select id from incoming_payment where customer_id = $1 and credited_at is not null order by credited_at, id',
    [tenant.id],
  )
  const expected = shown.map(({ id }) => id)
  t.equal(expected.length, 3 + ROWS - ROWS / 50)
  for (const sort of ['receivedAt', '-receivedAt'] as const) {
    const query: IncomingListQuery = { ...NOTHING, tenant, sort, limit: 100 }
    const seen: string[] = []
    let position: Position | null = null
    for (;;) {
      const page: Awaited<ReturnType<typeof listIncomingPayments>> = await listIncomingPayments(db, {
        ...query,
        position,
      })
      seen.push(...page.rows.map(({ id }) => id))
      if (!page.hasMore) break
      position = { direction: 'after', keys: page.keys.at(-1)! }
    }
    t.strictSame(seen, sort === 'receivedAt' ? expected : [...expected].reverse(), sort)
    const { sql, parameters } = pageStatement([incomingBranch(query)], 26, position).compile(db.kysely)
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${sql}`, [...parameters])
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    t.match(plan, /Index Scan( Backward)? using incoming_payment_received/, sort)
    t.notMatch(plan, /Sort/)
  }
  const operator = await listIncomingPayments(db, {
    ...NOTHING,
    tenant: { ...tenant, kind: 'operator' },
    sort: 'receivedAt',
    withTotal: true,
  })
  t.strictSame(operator, { rows: [], keys: [], hasMore: false, total: 0 })
})

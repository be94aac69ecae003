/**
 * Lines that no index finds are searched for in stretches: whatever their length, a page is what it would be without
 * them.
 */
import t from 'tap'

import { chainJournal } from '../../../storage/journal/journal-chain.ts'
import { balanceReader } from '../../../storage/balances/balance-queries.ts'
import { JournalReader, type JournalFilters } from '../../../storage/balances/journal-queries.ts'
import { readDatabase } from '../../../storage/db/read-database.ts'
import { openBooks } from '../../support/books.ts'

type Page = NonNullable<Awaited<ReturnType<JournalReader['list']>>>

t.test('pages of a search are the same whatever the stretches are', async (t) => {
  const books = await openBooks(t)
  for (let nth = 0; nth < 6; nth++) {
    const id = await books.pay()
    await books.handOver(id)
    if (nth % 3 !== 0) await books.settle(id)
    else await books.reject(id)
    // Chained lines are skipped where they cannot match; the last lines are not chained.
    if (nth < 5) await chainJournal(books.database, { now: Date.now(), lookedAt: null })
  }
  const db = readDatabase(books.database)
  const reader = (stretch?: bigint) => new JournalReader(books.database, db, balanceReader(books.database), stretch)
  const base = {
    tenant: books.tenant,
    metadata: [],
    withTotal: false,
    q: null,
    balanceId: books.sandbox.customer.balances.EUR,
  }
  const all = (await reader().list({ ...base, filters: {}, sort: 'sequence', limit: 100, position: null }))!.rows
  t.ok(all.length > 12)
  const someAmount = BigInt(all[3]!.amount.amountMinor)
  const searches: readonly (readonly [JournalFilters, (line: (typeof all)[number]) => boolean])[] = [
    [{ type: ['fee'] }, ({ type }) => type === 'fee'],
    [{ type: ['interest'] }, () => false],
    [{ amountFrom: someAmount, amountTo: someAmount }, ({ amount }) => BigInt(amount.amountMinor) === someAmount],
    [{ amountFrom: 1_000_000_000_000n }, () => false],
    [{ valueTo: '1999-12-31' }, () => false],
    [{ type: ['fee'], direction: ['credit'] }, () => false],
    [{ valueFrom: '2026-05-04', direction: ['credit'] }, ({ direction }) => direction === 'credit'],
  ]
  for (const stretch of [1n, 3n, undefined]) {
    const journal = reader(stretch)
    for (const [filters, matches] of searches) {
      for (const sort of ['sequence', '-sequence'] as const) {
        const expected = all.filter(matches).map(({ sequence }) => sequence)
        if (sort === '-sequence') expected.reverse()
        const seen: number[] = []
        let position: { direction: 'after' | 'before'; keys: readonly (string | number | null)[] } | null = null
        for (;;) {
          const page: Page = (await journal.list({ ...base, filters, sort, limit: 2, position }))!
          if (page.rows.length > 0 && seen.length > 0) {
            const back = (await journal.list({
              ...base,
              filters,
              sort,
              limit: 2,
              position: { direction: 'before', keys: page.keys[0]! },
            }))!
            t.strictSame(
              back.rows.map(({ sequence }) => sequence),
              seen.slice(-2),
              'and back',
            )
            t.equal(back.hasMore, seen.length > 2)
          }
          seen.push(...page.rows.map(({ sequence }) => sequence))
          if (!page.hasMore) break
          position = { direction: 'after', keys: page.keys.at(-1)! }
        }
        t.strictSame(
          seen,
          expected,
          `${JSON.stringify(filters, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))} ${sort} in stretches of ${stretch}`,
        )
      }
    }
  }
})

/** Ids that a decision derives from the seed of its command. */
import t from 'tap'
import { createIdSource, idsFrom, isUuid, uuidTime } from '../../../lib/base/ids.ts'

const NOW = Date.UTC(2026, 4, 4, 9, 30)

t.test('ids of one seed are the same each time, and those of all seeds ascend and differ', async (t) => {
  const source = createIdSource({ now: () => NOW })
  const seeds = Array.from({ length: 5_000 }, () => source.next())
  const take = (seed: string): string[] => {
    const ids = idsFrom(seed)
    return Array.from({ length: 20 }, () => ids.next())
  }
  const all = seeds.flatMap(take)
  t.strictSame(seeds.flatMap(take), all, 'derived again')
  t.equal(new Set(all).size, all.length)
  t.strictSame(all, [...all].sort(), 'in the order of the seeds, and of the calls')
  for (const id of all.slice(0, 40)) {
    t.ok(isUuid(id))
    t.equal(id[14], '7')
    t.match(id[19], /[89ab]/)
    t.ok((uuidTime(id) as number) >= NOW)
  }
})

t.test('a decision has a bounded number of ids', async (t) => {
  const ids = idsFrom(createIdSource({ now: () => NOW }).next())
  const made = new Set(Array.from({ length: 0xfff }, () => ids.next()))
  t.equal(made.size, 0xfff)
  t.throws(() => ids.next(), RangeError)
})

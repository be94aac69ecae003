import fc from 'fast-check'
import t from 'tap'

import { assign } from '../../../lib/shards/shard-assignment.ts'
import { SHARD_COUNT } from '../../../lib/shards/shard.ts'

/** Shards that move beside those that must: 19 at worst in 2 000 random sets of up to 17 nodes. */
const SLACK_MAX = 32
/** And on average over the runs of a property. */
const SLACK_MEAN_MAX = 10

const nodeSets = (max: number) => fc.uniqueArray(fc.uuid(), { minLength: 2, maxLength: max })

t.test('loads differ by one at most, and every shard has a home that lives', async (t) => {
  fc.assert(
    fc.property(nodeSets(40), fc.integer({ min: 1, max: 300 }), (nodes, shardCount) => {
      const homes = assign(nodes, shardCount)
      const loads = nodes.map((node) => homes.filter((home) => home === node).length)
      return (
        homes.length === shardCount &&
        homes.every((home) => nodes.includes(home)) &&
        Math.max(...loads) - Math.min(...loads) <= 1
      )
    }),
  )
  t.pass()
})

t.test('every node computes the same, in whatever order it learned of the others', async (t) => {
  fc.assert(
    fc.property(
      nodeSets(12).chain((nodes) =>
        fc.tuple(fc.constant(nodes), fc.shuffledSubarray(nodes, { minLength: nodes.length })),
      ),
      ([nodes, shuffled]) => {
        t.strictSame(assign([...shuffled, shuffled[0]!], SHARD_COUNT), assign(nodes, SHARD_COUNT))
      },
    ),
    { numRuns: 30 },
  )
})

t.test('a join and a leave move little more than they must', async (t) => {
  const slacks: number[] = []
  fc.assert(
    fc.property(nodeSets(17), (nodes) => {
      // Read forwards the last node joins, read backwards it leaves: the same shards move.
      const without = assign(nodes.slice(0, -1), SHARD_COUNT)
      const withIt = assign(nodes, SHARD_COUNT)
      const moved = withIt.filter((home, shard) => home !== without[shard]).length
      const slack = moved - Math.ceil(SHARD_COUNT / nodes.length)
      slacks.push(slack)
      return slack <= SLACK_MAX
    }),
  )
  const mean = slacks.reduce((sum, slack) => sum + slack, 0) / slacks.length
  t.ok(mean <= SLACK_MEAN_MAX, `${mean.toFixed(1)} shards more than needed on average`)
})

t.test('two nodes becoming one, or one two, move half', async (t) => {
  const homes = assign(['a', 'b'], SHARD_COUNT)
  t.equal(homes.filter((home) => home === 'a').length, SHARD_COUNT / 2)
  t.ok(assign(['a'], SHARD_COUNT).every((home) => home === 'a'))
})

t.test('without nodes there are no homes', async (t) => {
  t.throws(() => assign([], SHARD_COUNT), RangeError)
})

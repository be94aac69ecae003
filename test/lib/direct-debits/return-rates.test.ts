import t from 'tap'
import { ACH_LIMITS, judgeReturns } from '../../../lib/direct-debits/return-rates.ts'

t.test('returns are judged by the limit that is used up most', async (t) => {
  for (const [presented, returned, level, group, bps] of [
    // Too few to say anything.
    [99, { R10: 99 }, 'fine', undefined, 0],
    [1_000, {}, 'fine', undefined, 0],
    // 0.39 per cent is below four fifths of 0.5 per cent, 0.4 is not, and 0.5 is the limit.
    [10_000, { R10: 39 }, 'fine', undefined, 0],
    [10_000, { R05: 10, R07: 10, R10: 10, R29: 10 }, 'warned', 'unauthorised', 40],
    [10_000, { R10: 49 }, 'warned', 'unauthorised', 49],
    [10_000, { R10: 50 }, 'stopped', 'unauthorised', 50],
    [1_000, { R03: 23 }, 'fine', undefined, 0],
    [1_000, { R02: 8, R03: 8, R04: 8 }, 'warned', 'administrative', 240],
    [1_000, { R03: 30 }, 'stopped', 'administrative', 300],
    [1_000, { R01: 119 }, 'fine', undefined, 0],
    [1_000, { R01: 120 }, 'warned', 'every', 1_200],
    [1_000, { R01: 150 }, 'stopped', 'every', 1_500],
    // Every return counts for the last limit.
    [1_000, { R01: 125, R03: 24, R10: 1 }, 'stopped', 'every', 1_500],
    // Two limits are passed; the unauthorised ones by more.
    [1_000, { R01: 160, R10: 20 }, 'stopped', 'unauthorised', 200],
  ] as const) {
    const verdict = judgeReturns(ACH_LIMITS, { presented, returned })
    t.strictSame(
      [verdict.level, verdict.limit?.group, verdict.bps],
      [level, group, bps],
      `${JSON.stringify(returned)} of ${presented}`,
    )
  }
  t.equal(judgeReturns([], { presented: 1_000, returned: { R10: 1_000 } }).level, 'fine', 'a scheme without limits')
})

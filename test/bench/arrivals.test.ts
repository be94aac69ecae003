/** The arrivals of an open loop: each comes once and on time, and none is waited for that does not come. */
import fc from 'fast-check'
import t from 'tap'
import { Arrivals } from '../../bench/arrivals.ts'

/** Takes what falls due, looking every `stepMs` for as long as the loop runs. */
function takeAll(arrivals: Arrivals, { endMs, stepMs }: { readonly endMs: number; readonly stepMs: number }) {
  const taken: { readonly dueMs: number; readonly counted: boolean; readonly atMs: number }[] = []
  for (let atMs = 0; atMs <= endMs + stepMs; atMs += stepMs) {
    for (let next = arrivals.take(atMs); next !== null; next = arrivals.take(atMs)) taken.push({ ...next, atMs })
  }
  return taken
}

t.test('when the time is over no arrival is left, whatever the rate and the times', async (t) => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.5, max: 5_000, noNaN: true }),
      fc.double({ min: 0, max: 3, noNaN: true }),
      fc.double({ min: 0.1, max: 3, noNaN: true }),
      (perSecond, warmupSeconds, seconds) => {
        const arrivals = new Arrivals({ perSecond, warmupSeconds, seconds })
        // Both counts are rounded up, so the last may fall due within an interval of the end.
        const endMs = (warmupSeconds + seconds) * 1000 + 1000 / perSecond
        const taken = takeAll(arrivals, { endMs, stepMs: endMs / 50 })
        return (
          arrivals.left === 0 &&
          taken.every(({ dueMs, atMs }) => dueMs <= atMs) &&
          Math.abs(taken.filter(({ counted }) => counted).length - seconds * perSecond) < 1
        )
      },
    ),
  )
  t.pass()
})

t.test('a rate that divides the time gives as many arrivals as they multiply to', async (t) => {
  // In fractions of two, 0.1 + 0.2 seconds are a little more than 0.3, and 300.00000000000006 arrivals are 301.
  for (const [perSecond, warmupSeconds, seconds, counted] of [
    [1_000, 0.1, 0.2, 200],
    [1_000, 0.7, 0.1, 100],
    [200, 0.1, 0.5, 100],
    [50, 2, 10, 500],
    [3, 1, 1 / 3, 1],
  ] as const) {
    const arrivals = new Arrivals({ perSecond, warmupSeconds, seconds })
    const taken = takeAll(arrivals, { endMs: (warmupSeconds + seconds) * 1000, stepMs: 0.5 })
    t.equal(taken.filter((arrival) => arrival.counted).length, counted, `${perSecond}/s, ${seconds} s`)
    t.equal(arrivals.left, 0)
  }
})

t.test('the warm-up is not counted', async (t) => {
  const arrivals = new Arrivals({ perSecond: 10, warmupSeconds: 1, seconds: 1 })
  const taken = takeAll(arrivals, { endMs: 2_000, stepMs: 10 })
  t.same(
    taken.map(({ counted }) => counted),
    [...Array.from({ length: 10 }, () => false), ...Array.from({ length: 10 }, () => true)],
  )
  t.equal(taken[10]?.dueMs, 1_000)
})

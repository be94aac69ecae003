/** The health of a connection from its calls. */
import t from 'tap'
import {
  countCall,
  failuresAfter,
  healthOf,
  NO_CALLS,
  NO_TALLY,
  p95Of,
  PAUSED_AFTER,
  slotOf,
  type CallTally,
} from '../../../lib/providers/health.ts'

/** Counts calls: `.` succeeds, `x` fails, `s` succeeds after six seconds. */
const tallyOf = (calls: string): CallTally =>
  [...calls].reduce(
    (tally, call) => countCall(tally, { ok: call !== 'x', latencyMs: call === 's' ? 6_000 : 40 }),
    NO_TALLY,
  )

t.test('the state follows from errors, times and failures in a row', async (t) => {
  for (const [calls, state] of [
    ['', 'healthy'],
    ['.', 'healthy'],
    ['x', 'healthy'],
    ['.....x....', 'degraded'],
    ['.........x..........', 'healthy'],
    ['..xx', 'down'],
    ['xx..', 'healthy'],
    ['xxxxxx......', 'degraded'],
    ['.xxx', 'down'],
    ['xxx', 'down'],
    ['xxx.', 'healthy'],
    ['x'.repeat(PAUSED_AFTER - 1), 'down'],
    ['x'.repeat(PAUSED_AFTER), 'paused'],
    [`${'x'.repeat(PAUSED_AFTER)}.`, 'degraded'],
    ['s', 'degraded'],
    [`${'.'.repeat(30)}s`, 'healthy'],
  ] as const) {
    const tally = tallyOf(calls)
    t.equal(healthOf(tally, tally.failuresInRow), state, calls)
  }
})

t.test('failures in a row go over the tallies of nodes, and a success ends them', async (t) => {
  t.equal(failuresAfter(4, tallyOf('xx')), 6)
  t.equal(failuresAfter(4, tallyOf('x.x')), 1)
  t.equal(failuresAfter(4, tallyOf('.')), 0)
  t.equal(failuresAfter(4, NO_TALLY), 4)
})

t.test('the 95th percentile is the bound of its class', async (t) => {
  t.equal(p95Of(NO_CALLS), null)
  t.equal(p95Of(tallyOf('.'.repeat(20))), 50)
  t.equal(p95Of(tallyOf(`${'.'.repeat(18)}ss`)), 10_000)
  t.equal(p95Of(countCall(NO_TALLY, { ok: true, latencyMs: 31_000 })), null)
  t.equal(slotOf(1_234_567), 1_230_000)
})

t.test('the last error stays until another follows', async (t) => {
  const failing = countCall(NO_TALLY, { ok: false, latencyMs: 1, error: 'The partner answered 503.' })
  t.equal(countCall(failing, { ok: true, latencyMs: 1 }).lastError, 'The partner answered 503.')
  t.match(countCall(NO_TALLY, { ok: false, latencyMs: 1 }).lastError, /did not answer/)
})

/** The pace of the follower of transactions: payments go first in a short flood, and its lag has a bound in a long one. */
import t from 'tap'
import { FIRST_PACE, paceAfter, type FollowerPace } from '../../../actors/transactions/follower-pace.ts'

const FLOOD = { commands: 10_000, elapsedMs: 250 }

t.test('in a flood of commands the follower of transactions has a ninth of its time, else all of it', (t) => {
  const rest = (passMs: number, commands: number, elapsedMs: number) =>
    paceAfter({ passMs, leftMs: 0, commands, elapsedMs }).restMs
  t.equal(rest(100, 0, 250), 0)
  t.equal(rest(100, 125, 250), 0, '500 a second it keeps up with')
  t.equal(rest(100, 126, 250), 800)
  t.equal(rest(100, 10_000, 250), 800)
  t.equal(rest(3_000, 10_000, 5_000), 1_000, 'but it never rests for long')
  t.equal(rest(1, 1, 0), 8)
  t.end()
})

t.test('no event is older than a second when a rest ends', (t) => {
  t.equal(paceAfter({ ...FLOOD, passMs: 100, leftMs: 199 }).restMs, 800)
  t.equal(paceAfter({ ...FLOOD, passMs: 100, leftMs: 700 }).restMs, 300)
  t.equal(paceAfter({ ...FLOOD, passMs: 1, leftMs: 1_000 }).restMs, 0)
  t.equal(paceAfter({ ...FLOOD, passMs: 1, leftMs: 60_000 }).restMs, 0)
  t.end()
})

t.test('a pass takes more the further the follower is behind', (t) => {
  const events = (leftMs: number) => paceAfter({ ...FLOOD, passMs: 10, leftMs }).eventsMax
  t.equal(FIRST_PACE.eventsMax, 128)
  t.equal(events(0), 128)
  t.equal(events(-5), 128, 'clocks of nodes differ')
  t.equal(events(249), 128)
  t.equal(events(250), 256)
  t.equal(events(1_000), 640)
  t.equal(events(3_600_000), 2_048)
  t.end()
})

/** What a pass and each of its events cost the follower's backend, milliseconds of a processor. */
const PASS_MS = 3
const EVENT_MS = 0.04
/** The part of a processor that the follower gets beside the processes of a machine with two. */
const SHARE = 0.4

/** A flood of `perSecond` events: the lag before each pass, milliseconds, and when the follower worked. */
function flood(perSecond: number, ms: number) {
  let [now, followed, pace]: [number, number, FollowerPace] = [0, 0, FIRST_PACE]
  const passes: { readonly begin: number; readonly end: number; readonly lagMs: number }[] = []
  while (now < ms) {
    const begin = now
    const written = Math.floor((begin * perSecond) / 1_000)
    const taken = Math.min(written - followed, pace.eventsMax)
    const lagMs = taken === 0 ? 0 : begin - (followed * 1_000) / perSecond
    followed += taken
    now += (PASS_MS + taken * EVENT_MS) / SHARE
    passes.push({ begin, end: now, lagMs })
    const more = followed < written
    const elapsedMs = now - (passes.at(-2)?.end ?? 0)
    pace = paceAfter({
      passMs: now - begin,
      leftMs: more ? begin - (followed * 1_000) / perSecond : 0,
      commands: (elapsedMs * perSecond * 1.5) / 1_000,
      elapsedMs,
    })
    // As the follower of a node: without more events it waits for its next poll, else for the end of its rest.
    now = more ? now + pace.restMs : Math.max(now + pace.restMs, begin + 250)
  }
  return passes
}

t.test('the lag stays below two seconds at every rate that a machine of two processors accepts', (t) => {
  for (const perSecond of [100, 400, 1_000, 1_200, 2_000, 4_000, 6_000, 8_000]) {
    const most = Math.max(...flood(perSecond, 120_000).map(({ lagMs }) => lagMs))
    t.ok(most < 2_000, `${perSecond} events a second: ${most.toFixed(0)} ms`)
  }
  t.end()
})

t.test('payments go first in a short flood', (t) => {
  const passes = flood(4_000, 900)
  const worked = passes.reduce((sum, { begin, end }) => sum + (end - begin), 0)
  t.ok(worked <= 900 / 8, `the follower works for ${worked.toFixed(0)} of 900 ms`)
  t.end()
})

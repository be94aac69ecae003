/** Shared commits keep a pace, and no caller waits for it in vain. */
import { mock } from 'node:test'
import { setImmediate as immediate } from 'node:timers/promises'
import t from 'tap'
import { CommitPace } from '../../../actors/runtime/commit-pace.ts'

const PACE_MS = 6

/** A pace whose clock and timers stand still until they are moved. */
function paceAt(began: number): { readonly pace: CommitPace; advance(ms: number): void } {
  let now = began
  mock.timers.enable({ apis: ['setTimeout'] })
  return {
    pace: new CommitPace(() => now),
    advance(ms) {
      now += ms
      mock.timers.tick(ms)
    },
  }
}
t.afterEach(() => mock.timers.reset())

/** Whether a pause has ended by now. */
async function isOver(pause: Promise<void> | undefined): Promise<boolean> {
  let over = false
  void pause?.then(() => {
    over = true
  })
  await immediate()
  return over
}

t.test('the first commit begins at once, and one after a single command', (t) => {
  const { pace, advance } = paceAt(1_000)
  t.equal(pace.pause(1), undefined, 'the first')
  pace.began()
  advance(2)
  pace.ended(1, 3)
  t.equal(pace.pause(3), undefined, 'after a single command')
  t.end()
})

t.test('after a shared commit the next one begins six milliseconds after that one began', async (t) => {
  const { pace, advance } = paceAt(1_000)
  pace.began()
  advance(2)
  pace.ended(20, 5)
  const pause = pace.pause(5)
  t.ok(pause)
  pace.arrived(6)
  advance(PACE_MS - 3)
  t.notOk(await isOver(pause), 'one millisecond before')
  advance(1)
  t.ok(await isOver(pause))
})

t.test('enough commands do not wait, and a pause that has begun goes on', async (t) => {
  const { pace, advance } = paceAt(1_000)
  pace.began()
  pace.ended(40, 24)
  t.equal(pace.pause(24), undefined)
  pace.began()
  pace.ended(40, 23)
  const pause = pace.pause(23)
  pace.arrived(40)
  t.notOk(await isOver(pause))
  advance(PACE_MS)
  t.ok(await isOver(pause))
})

t.test('a commit that took as long as the pace is followed at once', (t) => {
  const { pace, advance } = paceAt(1_000)
  pace.began()
  advance(PACE_MS)
  pace.ended(20, 5)
  t.equal(pace.pause(5), undefined)
  t.end()
})

t.test('a pause ends when as many commands wait as were under way', async (t) => {
  const { pace, advance } = paceAt(1_000)
  pace.began()
  advance(1)
  pace.ended(8, 4)
  const pause = pace.pause(4)
  for (let waiting = 5; waiting < 12; waiting++) pace.arrived(waiting)
  t.notOk(await isOver(pause), 'one caller is not back')
  pace.arrived(12)
  t.ok(await isOver(pause), 'all callers are back')
  t.equal(pace.pause(12), undefined, 'and none is waited for again')
})

t.test('what a commit could not write is sent again at once', (t) => {
  const { pace, advance } = paceAt(1_000)
  pace.began()
  advance(1)
  pace.ended(8, 0)
  advance(PACE_MS)
  pace.began()
  advance(1)
  t.equal(pace.pause(3), undefined)
  t.end()
})

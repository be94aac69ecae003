import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import {
  DISABLE_AFTER_MS,
  nextAttemptAt,
  PAUSE_AFTER_FAILURES,
  RETRY_DELAYS_MS,
  RETRY_WINDOW_MS,
  retryAfterMs,
} from '../../../lib/webhooks/schedule.ts'
import { streakOf } from '../../../lib/webhooks/streak.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** When attempts begin, counted from the event, if each fails at once. */
function attempts(chance: number, retryAfter: number | null = null): number[] {
  const at = [0]
  for (;;) {
    const next = nextAttemptAt({
      endedAt: at.at(-1) as number,
      attempts: at.length,
      windowEndsAt: RETRY_WINDOW_MS,
      retryAfterMs: retryAfter,
      chance,
    })
    if (next === null) return at
    at.push(next)
  }
}

t.test('a minute, five, half an hour, two hours, six, then every twelve, for 72 hours', async (t) => {
  t.strictSame(
    attempts(0).map((ms) => ms / MINUTE),
    [0, 1, 6, 36, 156, 516, 1236, 1956, 2676, 3396, 4116],
  )
})

t.test('chance adds up to a tenth', async (t) => {
  t.strictSame(
    attempts(1)
      .slice(0, 3)
      .map((ms) => ms / MINUTE),
    [0, 1.1, 6.6],
  )
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 1, max: 12 }), (chance, nth) => {
      const plain = nextAttemptAt({
        endedAt: 0,
        attempts: nth,
        windowEndsAt: Infinity,
        retryAfterMs: null,
        chance: 0,
      }) as number
      const jittered = nextAttemptAt({
        endedAt: 0,
        attempts: nth,
        windowEndsAt: Infinity,
        retryAfterMs: null,
        chance,
      }) as number
      return jittered >= plain && jittered <= plain * 1.1 + 1
    }),
  )
})

t.test('Retry-After is honoured up to the next step, and never shortens one', async (t) => {
  const first = (retryAfter: number | null) =>
    (nextAttemptAt({
      endedAt: 0,
      attempts: 1,
      windowEndsAt: RETRY_WINDOW_MS,
      retryAfterMs: retryAfter,
      chance: 0,
    }) as number) / MINUTE
  t.equal(first(1_000), 1)
  t.equal(first(3 * MINUTE), 3)
  t.equal(first(24 * HOUR), 5)
})

t.test('Retry-After is seconds or a date', async (t) => {
  const now = Date.UTC(2026, 4, 4)
  t.equal(retryAfterMs('120', now), 120_000)
  t.equal(retryAfterMs(new Date(now + 90_000).toUTCString(), now), 90_000)
  t.equal(retryAfterMs(new Date(now - 90_000).toUTCString(), now), 0)
  for (const nonsense of [undefined, '', 'soon', '-5', '1e99'])
    t.equal(retryAfterMs(nonsense, now), null, String(nonsense))
})

t.test('nothing is due after the window', async (t) => {
  t.equal(
    nextAttemptAt({
      endedAt: RETRY_WINDOW_MS - MINUTE + 1,
      attempts: 1,
      windowEndsAt: RETRY_WINDOW_MS,
      retryAfterMs: null,
      chance: 0,
    }),
    null,
  )
  t.equal(
    nextAttemptAt({
      endedAt: RETRY_WINDOW_MS - MINUTE,
      attempts: 1,
      windowEndsAt: RETRY_WINDOW_MS,
      retryAfterMs: null,
      chance: 0,
    }),
    RETRY_WINDOW_MS,
  )
})

t.test('outcomes boil down to what a row counting one by one would hold', async () => {
  fc.assert(
    fc.property(fc.nat(30), fc.array(fc.boolean(), { minLength: 1, maxLength: 60 }), (before, outcomes) => {
      let count = before
      let peak = before
      let failingSince: number | null = before > 0 ? -1 : null
      outcomes.forEach((succeeded, at) => {
        if (succeeded) {
          count = 0
          failingSince = null
        } else {
          count += 1
          failingSince ??= at
          peak = Math.max(peak, count)
        }
      })
      const streak = streakOf(outcomes.map((succeeded, endedAt) => ({ succeeded, endedAt })))
      const any = streak.lastSuccessAt !== null
      const rowCount = any ? streak.trailing : before + streak.leading
      const rowPeak = Math.max(before + streak.leading, streak.longestWithin, streak.trailing)
      const rowSince = any ? streak.failingSince : before > 0 ? -1 : streak.failingSince
      return rowCount === count && rowPeak === peak && rowSince === failingSince
    }),
  )
})

t.test('the README tells the same schedule', async (t) => {
  const readme = await readFile(join(import.meta.dirname, '../../../README.md'), 'utf8')
  const short = (ms: number): string => (ms < HOUR ? `${ms / MINUTE} min` : `${ms / HOUR} h`)
  const delays = RETRY_DELAYS_MS.slice(0, -1).map(short).join(', ')
  const last = short(RETRY_DELAYS_MS.at(-1)!)
  const told = readme.replaceAll(/\s+/g, ' ')
  t.ok(told.includes(`tried again after ${delays} and then every ${last}, up to ${short(RETRY_WINDOW_MS)} after`))
  t.ok(told.includes(`After ${PAUSE_AFTER_FAILURES} failures in a row the endpoint is paused`))
  t.ok(told.includes(`after ${short(DISABLE_AFTER_MS)} of failures disabled`))
})

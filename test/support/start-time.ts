/**
 * The time at which the clock of every world begins. `npm test` sets it for the whole run, so that neither the hour of a
 * run, nor a midnight or a cut-off in the middle of it, decides a result; set before, it stays:
 *
 *   TEST_START=2026-11-23T23:03:00Z npm test    three minutes past midnight in Brussels
 *
 * It has to be within a few days of the machine's time. Nodes that run as processes of their own go by the machine.
 */
import { systemClock } from '../../lib/base/clock.ts'

/** The environment variable, an RFC 3339 time. */
export const START_ENV = 'TEST_START'

/** Within the hours of banks in Europe, before their cut-offs. */
const HOUR_UTC = 9

/** How far the clock of a world is ahead of the machine's when it starts, milliseconds. */
export function startAheadMs(): number {
  const start = process.env[START_ENV]
  return start === undefined ? 0 : Date.parse(start) - systemClock.now()
}

/** The next time of the machine with the hour at which worlds begin: ahead of it, as all that the machine has made is. */
export function nextStart(now: number): string {
  const start = new Date(now)
  start.setUTCHours(HOUR_UTC, 0, 0, 0)
  if (start.getTime() < now) start.setUTCDate(start.getUTCDate() + 1)
  return start.toISOString()
}

/** Measures the difference between a node's clock and that of Postgres. */
import type { Clock } from '../../lib/base/clock.ts'
import type { Queries } from './transaction.ts'

/** Measurements made; the quickest counts, because it is the most exact. */
const MEASUREMENTS = 3

export interface ClockDifference {
  /** By how much the node's clock is ahead of Postgres', milliseconds; negative when it is behind. */
  readonly aheadMs: number
  /** Maximum error of the measurement: half of the round trip. */
  readonly withinMs: number
}

/** Measures the difference. @throws the driver's errors */
export async function measureClock(database: Queries, clock: Clock): Promise<ClockDifference> {
  let best: ClockDifference = { aheadMs: 0, withinMs: Number.POSITIVE_INFINITY }
  for (let nth = 0; nth < MEASUREMENTS; nth++) {
    const before = clock.now()
    const from = performance.now()
    const [row] = await database.query<[number]>({
      name: 'server_clock',
      text: 'select (extract(epoch from clock_timestamp()) * 1000)::float8',
      values: [],
    })
    const withinMs = (performance.now() - from) / 2
    if (withinMs < best.withinMs) best = { aheadMs: before + withinMs - (row as [number])[0], withinMs }
  }
  return best
}

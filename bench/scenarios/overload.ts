/**
 * Overload: three times as much as the service can take, from clients that do not wait for answers. What it takes must
 * be answered as quickly as at the peak, what it turns away must hear so at once, and nothing may pile up in memory.
 *
 * At the peak as many commands are under way as the service lets in, which is more than P2's 64 connections keep busy.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { judge, type Scenario } from '../scenario.ts'
import { paymentOperation, startService } from '../subject.ts'

/** The most requests that the service has under way (http/access/admission.ts). */
const PEAK_CONNECTIONS = 256
/** Enough for everything that is under way and everything that is being turned away. */
const CONNECTIONS = 1_024
const TIMES = 3
const REFUSED_P99_MAX_MS = 50
/** The second half of the time may take this much more memory than the first: a heap breathes. */
const GROWTH_MAX = 1.15
const LOOK_MS = 200
/** Of the peak's rate: to turn away eight or nine of ten takes the rest of the processors. */
const KEPT_MIN = 0.25

export const overload: Scenario = {
  id: 'OVERLOAD',
  title: `open loop at ${TIMES} times the peak, 1 000 balances: p99 of what is accepted`,
  async run(bench) {
    await using service = await startService(bench, { dispatch: false })
    const operations = bench.databases.payers.map(paymentOperation)
    const peak = await service.measure({ operations, connections: PEAK_CONNECTIONS, seconds: bench.seconds })
    const memory: number[] = []
    let watching = true
    const watched = (async () => {
      for (; watching; await pause(LOOK_MS)) memory.push(service.residentMb())
    })()
    const flood = await service.measure({
      operations,
      connections: CONNECTIONS,
      arrivalsPerSecond: peak.rate * TIMES,
      seconds: bench.seconds,
    })
    watching = false
    await watched
    const half = memory.length >> 1
    const [before, after] = [Math.max(...memory.slice(0, half)), Math.max(...memory.slice(half))]
    const others = Object.keys(flood.statuses).filter((status) => status !== '201' && status !== '503')
    return [
      judge({
        id: 'OVERLOAD',
        scenario: `${overload.title}, ${(peak.rate * TIMES).toFixed(0)}/s`,
        value: flood.accepted.p99Ms,
        unit: 'ms',
        p50Ms: flood.accepted.p50Ms,
        p99Ms: flood.accepted.p99Ms,
        baselines: { atPeak: peak.p99Ms },
        targets: [{ baseline: 'atPeak', times: 1.1, direction: 'atMost' }],
        conditions: [
          {
            name: '503 within 50 ms',
            holds: flood.refused.count > 0 && flood.refused.p99Ms <= REFUSED_P99_MAX_MS,
            found: `${flood.refused.count} refused, p50 ${flood.refused.p50Ms.toFixed(1)} ms, p99 ${flood.refused.p99Ms.toFixed(1)} ms`,
          },
          {
            name: 'memory flat',
            holds: after <= before * GROWTH_MAX,
            found: `at most ${before.toFixed(0)} MB, then ${after.toFixed(0)} MB`,
          },
          {
            name: 'throughput kept',
            holds: flood.rate >= peak.rate * KEPT_MIN,
            found: `${flood.rate.toFixed(0)}/s accepted, ${peak.rate.toFixed(0)}/s at the peak`,
          },
          { name: 'nothing but 201 and 503', holds: others.length === 0, found: JSON.stringify(flood.statuses) },
          ...(await service.conditions()),
        ],
      }),
    ]
  },
}

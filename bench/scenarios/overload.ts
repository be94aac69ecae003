/**
 * Overload: three times as much as the service can take, from clients that do not wait for answers. What it takes must
 * be answered as quickly as at the peak, what it turns away must hear so at once, and nothing may pile up in memory.
 *
 * At the peak as many commands are under way as the service lets in, which is more than P2's 64 connections keep busy.
 */
import { meanCpu, type CpuPerOperation } from '../cpu-shares.ts'
import type { Latencies } from '../load-plan.ts'
import { median, mergeConditions, ROUNDS } from '../measurement.ts'
import { judge, type Bench, type Condition, type Scenario } from '../scenario.ts'
import { paymentOperation, startService, type Measurement } from '../subject.ts'

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
    const rounds: Flood[] = []
    for (let round = 0; round < ROUNDS; round++) rounds.push(await flood(bench, bench.seconds / ROUNDS))
    const p99Ms = median(rounds.map(({ accepted }) => accepted.p99Ms))
    const arrivals = rounds.map(({ peak }) => (peak.rate * TIMES).toFixed(0))
    return [
      judge({
        id: 'OVERLOAD',
        scenario: `${overload.title}, ${arrivals.join(' and ')}/s`,
        value: p99Ms,
        unit: 'ms',
        p50Ms: median(rounds.map(({ accepted }) => accepted.p50Ms)),
        p99Ms,
        baselines: { atPeak: median(rounds.map(({ peak }) => peak.p99Ms)) },
        figures: {
          own: {
            each: rounds.map(({ accepted }) => accepted.p99Ms),
            cpu: meanCpu(rounds.map(({ cpu }) => cpu)),
          },
          atPeak: {
            each: rounds.map(({ peak }) => peak.p99Ms),
            cpu: meanCpu(rounds.map(({ peak }) => peak.cpu)),
          },
        },
        targets: [{ baseline: 'atPeak', times: 1.1, direction: 'atMost' }],
        conditions: mergeConditions(rounds.map(({ conditions }) => conditions)),
      }),
    ]
  },
}

interface Flood {
  readonly peak: Measurement
  readonly accepted: Latencies
  readonly cpu: CpuPerOperation | null
  readonly conditions: readonly Condition[]
}

/** A fresh process at its peak, and then with several times as much. */
async function flood(bench: Bench, seconds: number): Promise<Flood> {
  await using service = await startService(bench, { dispatch: false })
  const operations = bench.databases.payers.map(paymentOperation)
  const peak = await service.measure({ operations, connections: PEAK_CONNECTIONS, seconds })
  const memory: number[] = []
  const watched = setInterval(() => memory.push(service.residentMb()), LOOK_MS)
  const flooded = await service
    .measure({ operations, connections: CONNECTIONS, arrivalsPerSecond: peak.rate * TIMES, seconds })
    .finally(() => clearInterval(watched))
  const { accepted, cpu } = flooded
  return {
    peak,
    accepted,
    cpu,
    conditions: [...floodConditions(peak, flooded, memory), ...(await service.conditions())],
  }
}

function floodConditions(peak: Measurement, flooded: Measurement, memory: readonly number[]): Condition[] {
  const { refused, rate, statuses } = flooded
  const half = memory.length >> 1
  const [before, after] = [Math.max(...memory.slice(0, half)), Math.max(...memory.slice(half))]
  const others = Object.keys(statuses).filter((status) => status !== '201' && status !== '503')
  return [
    {
      name: '503 within 50 ms',
      holds: refused.count > 0 && refused.p99Ms <= REFUSED_P99_MAX_MS,
      found: `${refused.count} refused, p50 ${refused.p50Ms.toFixed(1)} ms, p99 ${refused.p99Ms.toFixed(1)} ms`,
    },
    {
      name: 'memory flat',
      holds: after <= before * GROWTH_MAX,
      found: `at most ${before.toFixed(0)} MB, then ${after.toFixed(0)} MB`,
    },
    {
      name: 'throughput kept',
      holds: rate >= peak.rate * KEPT_MIN,
      found: `${rate.toFixed(0)}/s accepted, ${peak.rate.toFixed(0)}/s at the peak`,
    },
    { name: 'nothing but 201 and 503', holds: others.length === 0, found: JSON.stringify(statuses) },
  ]
}

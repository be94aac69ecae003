/**
 * P13: whole lives. Payments are accepted, handed to the sandbox bank, settled and booked, and everything keeps up: the
 * number of payments under way stays what the bank's own two seconds make it.
 *
 * The rate that can be kept up is searched for first, step by step, with short runs; then it is held for the whole
 * time.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { BenchDatabase } from '../database.ts'
import { judge, type Bench, type Scenario } from '../scenario.ts'
import { paymentOperation, startBare, startService, type Subject, type SubjectLoad } from '../subject.ts'

/** How long the rate is held unless the bench is told otherwise. */
const SECONDS = 60
/** Long enough that the bank's delay has passed and growth shows. */
const PROBE_SECONDS = 6
/** The bank takes two seconds: only after that does a life end for every one that begins. */
const SETTLE_SECONDS = 4
/** Of the bare server's rate: a little more than the target, so that meeting it takes one step. */
const FIRST_GUESS = 0.22
const STEP_UP = 1.12
const STEP_DOWN = 0.9
const STEPS_MAX = 8
const RETRIES_MAX = 2
/** Of the rate, a second. Less than this is the breathing of batches, not growth. */
const GROWTH_MAX = 0.02
/** A queue also grows before the door: requests that wait this long for their answer are not being kept up with. */
const WAIT_MAX_MS = 1_000
const CONNECTIONS = 64
const DRAIN_MS = 120_000
const POLL_MS = 200

export const p13: Scenario = {
  id: 'P13',
  title: 'whole life: accepted to completed through the sandbox bank',
  async run(bench) {
    const seconds = bench.secondsAsked ?? SECONDS
    await using bare = await startBare(bench)
    await using service = await startService(bench, { dispatch: true })
    const database = service.database as BenchDatabase
    const load = { operations: bench.databases.payers.map(paymentOperation), connections: CONNECTIONS }
    const measureBare = async () => (await bare.measure({ ...load, seconds: bench.seconds / 2 })).rate
    const bareBefore = await measureBare()

    await service.heat(load)
    let rate = bareBefore * FIRST_GUESS
    let held: Held | null = null
    for (let step = 0; step < STEPS_MAX; step++) {
      const probe = await hold(bench, service, database, { ...load, arrivalsPerSecond: rate, seconds: PROBE_SECONDS })
      if (probe.keptUp) {
        held = probe
        rate *= STEP_UP
        continue
      }
      if (held !== null) break
      rate *= STEP_DOWN
    }
    // Latency that holds for a few seconds may grow over a minute.
    rate = held?.arrivalsPerSecond ?? rate
    let life = await hold(bench, service, database, { ...load, arrivalsPerSecond: rate, seconds })
    for (let retry = 0; retry < RETRIES_MAX && !life.keptUp; retry++) {
      rate *= STEP_DOWN
      life = await hold(bench, service, database, { ...load, arrivalsPerSecond: rate, seconds })
    }
    const bareAfter = await measureBare()
    const unfinished = await drain(database)
    const [row] = await database.query<{ completed: number; payments: number }>(
      `select count(*) filter (where status = 'completed')::int as completed, count(*)::int as payments from payment`,
    )
    return [
      judge({
        id: 'P13',
        scenario: `${p13.title}, ${seconds} s`,
        value: life.completedPerSecond,
        unit: 'lives/s',
        p50Ms: life.p50Ms,
        p99Ms: life.p99Ms,
        baselines: { bare: (bareBefore + bareAfter) / 2 },
        targets: [{ baseline: 'bare', times: 0.2, direction: 'atLeast' }],
        conditions: [
          {
            name: 'backlog not growing',
            holds: life.keptUp,
            found: `${life.growth.toFixed(1)} a second at ${life.arrivalsPerSecond.toFixed(0)} a second, p50 ${life.p50Ms.toFixed(0)} ms`,
          },
          { name: 'no failed request', holds: life.failures === 0, found: `${life.failures}` },
          {
            name: 'every payment completed',
            holds: unfinished === 0 && row!.completed === row!.payments,
            found: `${row!.completed} of ${row!.payments}`,
          },
          ...(await service.conditions()),
        ],
      }),
    ]
  },
}

interface Held {
  readonly arrivalsPerSecond: number
  readonly completedPerSecond: number
  /** Of payments under way, a second. */
  readonly growth: number
  readonly keptUp: boolean
  readonly failures: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Sends payments at a rate and watches how many are under way. */
async function hold(
  bench: Bench,
  service: Subject,
  database: BenchDatabase,
  load: SubjectLoad & { readonly arrivalsPerSecond: number },
): Promise<Held> {
  await drain(database)
  const watch = watchBacklog(database)
  const report = await service.measure({ ...load, warmupSeconds: SETTLE_SECONDS })
  const growth = growthOf(await watch.stop(), load.seconds)
  // Payments that were taken and are no longer under way have ended.
  const completedPerSecond = report.rate - Math.max(0, growth)
  const keptUp =
    growth <= GROWTH_MAX * load.arrivalsPerSecond &&
    report.failures === 0 &&
    report.p50Ms <= WAIT_MAX_MS &&
    report.rate >= (1 - GROWTH_MAX) * load.arrivalsPerSecond
  bench.log(
    `  at ${load.arrivalsPerSecond.toFixed(0)}/s the backlog ${keptUp ? 'holds' : 'grows'} (${growth.toFixed(0)} a second)`,
  )
  return {
    arrivalsPerSecond: load.arrivalsPerSecond,
    completedPerSecond,
    growth,
    keptUp,
    failures: report.failures,
    p50Ms: report.p50Ms,
    p99Ms: report.p99Ms,
  }
}

interface BacklogSample {
  readonly at: number
  readonly backlog: number
}

async function backlogOf(database: BenchDatabase): Promise<number> {
  // A row is written with the payment and deleted with its final outcome.
  const [row] = await database.query<{ backlog: number }>('select count(*)::int as backlog from partner_instruction')
  return row!.backlog
}

function watchBacklog(database: BenchDatabase): { stop(): Promise<readonly BacklogSample[]> } {
  const samples: BacklogSample[] = []
  let watching = true
  const watched = (async () => {
    while (watching) {
      const at = performance.now()
      samples.push({ at, backlog: await backlogOf(database) })
      await pause(Math.max(0, 1000 - (performance.now() - at)))
    }
  })()
  // Looked at in `stop`; until then a bench that is being taken down must not fall over it.
  watched.catch(() => undefined)
  return {
    stop: async () => {
      watching = false
      await watched
      return samples
    },
  }
}

/** The slope of the line through the samples of the measurement, which are the last ones. */
function growthOf(samples: readonly BacklogSample[], seconds: number): number {
  const end = samples.at(-1)!.at
  // The very last samples may be of the time when nothing more arrives.
  const used = samples.filter(({ at }) => at > end - seconds * 1000 && at < end - 1_000)
  if (used.length < 2) return 0
  const meanAt = used.reduce((sum, { at }) => sum + at, 0) / used.length
  const mean = used.reduce((sum, { backlog }) => sum + backlog, 0) / used.length
  const above = used.reduce((sum, { at, backlog }) => sum + (at - meanAt) * (backlog - mean), 0)
  const below = used.reduce((sum, { at }) => sum + (at - meanAt) ** 2, 0)
  return (above / below) * 1000
}

/** Waits until nothing is under way; returns what is left when that takes too long. */
async function drain(database: BenchDatabase): Promise<number> {
  const deadline = performance.now() + DRAIN_MS
  for (;;) {
    const backlog = await backlogOf(database)
    if (backlog === 0 || performance.now() > deadline) return backlog
    await pause(POLL_MS)
  }
}

/**
 * P13: whole lives. Payments are accepted, handed to the sandbox bank, settled and booked, and everything keeps up: the
 * number of payments under way stays what the bank's own two seconds make it, and the followers of their events are
 * little behind, so that no part of a life is left for later.
 *
 * The rate that can be kept up is searched for first, step by step, with short runs; then it is held for the whole
 * time, and once more by a second process.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { meanCpu, type CpuPerOperation } from '../cpu-shares.ts'
import type { BenchDatabase } from '../database.ts'
import { FollowersWatch, readLeft } from '../followers-lag.ts'
import { growthOf, holds, lagIsBounded, lagText, LAG_MAX_SECONDS, type Held } from '../holding.ts'
import { median, mergeConditions, ROUNDS } from '../measurement.ts'
import { judge, type Bench, type Condition, type Scenario } from '../scenario.ts'
import { measureFresh, paymentOperation, startBare, startService, type Subject, type SubjectLoad } from '../subject.ts'

/** How long the rate is held unless the bench is told otherwise. */
const SECONDS = 60
/** Long enough that the bank's delay has passed and growth shows. */
const PROBE_SECONDS = 6
/** The bank takes two seconds: only after that does a life end for every one that begins. */
const SETTLE_SECONDS = 4
/** Of the bare server's rate: a little more than the target, so that meeting it takes one step. */
const FIRST_GUESS = 0.22
const STEP_UP = 1.12
/** In the search, which goes up again from the first rate that holds; and when that rate does not hold for long. */
const SEARCH_DOWN = 0.75
const STEP_DOWN = 0.9
const STEPS_MAX = 12
/** A lag that is bounded in a short run may not be in a long one. */
const RETRIES_MAX = 4
const CONNECTIONS = 64
const DRAIN_MS = 120_000
const POLL_MS = 200

export const p13: Scenario = {
  id: 'P13',
  title: 'whole life: accepted to completed through the sandbox bank',
  async run(bench) {
    const seconds = bench.secondsAsked ?? SECONDS
    const load = { operations: bench.databases.payers.map(paymentOperation), connections: CONNECTIONS }
    const bares: number[] = []
    const bareCpu: (CpuPerOperation | null)[] = []
    const lives: Life[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const bare = await measureFresh(
        () => startBare(bench),
        (subject) => subject.measure({ ...load, seconds: bench.seconds / ROUNDS }),
      )
      bares.push(bare.rate)
      bareCpu.push(bare.cpu)
      // The first process finds the rate, and the second is held to it.
      const known = lives[0]?.held.arrivalsPerSecond ?? null
      lives.push(await live(bench, load, { seconds, known, guess: bare.rate * FIRST_GUESS }))
    }
    const rates = lives.map(({ held }) => completedPerSecond(held))
    return [
      judge({
        id: 'P13',
        scenario: `${p13.title}, ${seconds} s`,
        value: median(rates),
        unit: 'lives/s',
        p50Ms: median(lives.map(({ held }) => held.p50Ms)),
        p99Ms: median(lives.map(({ held }) => held.p99Ms)),
        baselines: { bare: median(bares) },
        figures: {
          own: { each: rates, cpu: meanCpu(lives.map(({ held }) => held.cpu)) },
          bare: { each: bares, cpu: meanCpu(bareCpu) },
        },
        note: lives.map(({ held }) => lagText(held.lags)).join('; '),
        targets: [{ baseline: 'bare', times: 0.2, direction: 'atLeast' }],
        conditions: mergeConditions(lives.map(({ conditions }) => conditions)),
      }),
    ]
  },
}

interface LifeHeld extends Held {
  readonly p99Ms: number
  readonly cpu: CpuPerOperation | null
}

/** What a process came to. */
interface Life {
  readonly held: LifeHeld
  readonly conditions: readonly Condition[]
}

/** Payments that were taken and are no longer under way have ended. */
const completedPerSecond = ({ rate, growth }: Held): number => rate - Math.max(0, growth)

/** A fresh process at the highest rate that holds: the rate that is `known`, or found from a guess. */
async function live(
  bench: Bench,
  load: Pick<SubjectLoad, 'operations' | 'connections'>,
  { seconds, known, guess }: { readonly seconds: number; readonly known: number | null; readonly guess: number },
): Promise<Life> {
  await using service = await startService(bench, { dispatch: true })
  const database = service.database as BenchDatabase
  await service.heat(load)
  let rate = known ?? (await search(bench, service, { ...load, arrivalsPerSecond: guess, seconds: PROBE_SECONDS }))
  let held = await hold(bench, service, { ...load, arrivalsPerSecond: rate, seconds })
  for (let retry = 0; retry < RETRIES_MAX && !holds(held); retry++) {
    rate *= STEP_DOWN
    held = await hold(bench, service, { ...load, arrivalsPerSecond: rate, seconds })
  }
  const unfinished = await drain(database)
  const [row] = await database.query<{ completed: number; payments: number }>(
    `select count(*) filter (where status = 'completed')::int as completed, count(*)::int as payments from payment`,
  )
  return {
    held,
    conditions: [
      {
        name: 'backlog not growing',
        holds: holds(held),
        found: `${held.growth.toFixed(1)} a second at ${held.arrivalsPerSecond.toFixed(0)} a second, p50 ${held.p50Ms.toFixed(0)} ms`,
      },
      {
        name: `followers' lag below ${LAG_MAX_SECONDS} s at the end`,
        holds: Object.values(held.lags).every(lagIsBounded),
        found: lagText(held.lags),
      },
      { name: 'no failed request', holds: held.failures === 0, found: `${held.failures}` },
      {
        name: 'every payment completed',
        holds: unfinished === 0 && row!.completed === row!.payments,
        found: `${row!.completed} of ${row!.payments}`,
      },
      ...(await service.conditions()),
    ],
  }
}

type OpenLoad = SubjectLoad & { readonly arrivalsPerSecond: number }

/** The highest rate that holds for a few seconds; one below the lowest that was tried when none did. */
async function search(bench: Bench, service: Subject, load: OpenLoad): Promise<number> {
  let rate = load.arrivalsPerSecond
  let highest: number | null = null
  for (let step = 0; step < STEPS_MAX; step++) {
    if (holds(await hold(bench, service, { ...load, arrivalsPerSecond: rate }))) {
      highest = rate
      rate *= STEP_UP
      continue
    }
    if (highest !== null) break
    rate *= SEARCH_DOWN
  }
  return highest ?? rate
}

/** Sends payments at a rate and watches how many are under way, and what follows their events. */
async function hold(bench: Bench, service: Subject, load: OpenLoad): Promise<LifeHeld> {
  const database = service.database as BenchDatabase
  await drain(database)
  await service.rest()
  const watch = new FollowersWatch(database)
  const report = await service
    .measure({ ...load, warmupSeconds: SETTLE_SECONDS }, watch.onMoment)
    .finally(() => watch.end())
  const { underWay, lags } = await watch.result()
  const { rate, failures, p50Ms, p99Ms, cpu } = report
  const { arrivalsPerSecond } = load
  const held = { arrivalsPerSecond, rate, failures, p50Ms, p99Ms, cpu, growth: growthOf(underWay), lags }
  bench.log(
    `  ${arrivalsPerSecond.toFixed(0)}/s ${holds(held) ? 'holds' : 'does not hold'}: ${held.growth.toFixed(0)} more under way a second, ${lagText(lags)}`,
  )
  return held
}

/** Waits until nothing is under way; returns what is left when that takes too long. */
async function drain(database: BenchDatabase): Promise<number> {
  const deadline = performance.now() + DRAIN_MS
  for (;;) {
    const { under_way: underWay } = await readLeft(database)
    if (underWay === 0 || performance.now() > deadline) return underWay
    await pause(POLL_MS)
  }
}

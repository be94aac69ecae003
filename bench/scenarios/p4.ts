/** P4: the ledger without HTTP, against what one connection to Postgres can do with the same rows. */
import { join } from 'node:path'
import { readConfig } from '../../lib/config/config.ts'
import { cpuText } from '../cpu-shares.ts'
import { watchOthers } from '../cpu-time.ts'
import type { Payer } from '../database.ts'
import type { EnginePlan, EngineReport } from '../engine.ts'
import { alternate, type Sample } from '../measurement.ts'
import { judge, type Bench, type Result, type Scenario } from '../scenario.ts'
import { cleanAudit, disturbance } from '../subject.ts'

/** Asks on their way: what a busy node has, and several times a lane's commit. */
const CONCURRENCY = 512

export const p4: Scenario = {
  id: 'P4',
  title: 'ledger without HTTP',
  async run(bench) {
    const { payers } = bench.databases
    return [await compare(bench, 'hot pair', payers.slice(0, 2)), await compare(bench, '1 000 balances', payers)]
  },
}

async function compare(bench: Bench, variant: string, payers: readonly Payer[]): Promise<Result> {
  const { ceiling, engine } = await alternate(bench.seconds, {
    ceiling: (seconds) => measureSide(bench, 'ceiling', payers, seconds),
    engine: (seconds) => measureSide(bench, 'engine', payers, seconds),
  })
  return judge({
    id: 'P4',
    scenario: `${p4.title}, ${variant}`,
    value: engine.rate,
    unit: 'payments/s',
    p50Ms: engine.p50Ms,
    p99Ms: engine.p99Ms,
    baselines: { ceiling: ceiling.rate },
    figures: { own: engine.rates, ceiling: ceiling.rates },
    targets: [{ baseline: 'ceiling', times: 0.6, direction: 'atLeast' }],
    conditions: [...engine.conditions, ...ceiling.conditions],
  })
}

const FILES = { engine: join('..', 'engine.ts'), ceiling: join('..', 'baselines', 'ceiling.ts') } as const

/** Measures the engine or the ceiling once, in a fresh process, on a database of its own. */
export async function measureSide(
  bench: Bench,
  name: keyof typeof FILES,
  payers: readonly Payer[],
  seconds: number,
): Promise<Sample> {
  using _ = bench.takeTurn(name)
  await using database = await bench.databases.clone(name)
  const child = bench.start<EnginePlan, EngineReport>(join(import.meta.dirname, FILES[name]))
  await using __ = { [Symbol.asyncDispose]: () => child.stop() }
  await database.checkpoint()
  const others = watchOthers()
  const watch = bench.watchCpu({ servers: [child.pid] })
  const report = await child.ask(
    {
      databaseUrl: database.url,
      payers,
      lanes: readConfig({}).commitLanes,
      concurrency: CONCURRENCY,
      warmupSeconds: bench.heatSeconds + bench.warmupSeconds,
      seconds,
    },
    watch.onMoment,
  )
  const cpu = await watch.perOperation(report.rate * seconds)
  bench.log(
    `  ${name.padEnd(9)} ${report.rate.toFixed(0).padStart(6)}/s${cpu === null ? '' : `  CPU ${cpuText(cpu)} µs`}${disturbance(others())}`,
  )
  return { ...report, failures: 0, cpu, conditions: [await cleanAudit(name, database)] }
}

/** P4: the ledger without HTTP, against what one connection to Postgres can do with the same rows. */
import { join } from 'node:path'
import { readConfig } from '../../lib/config/config.ts'
import { watchOthers } from '../cpu-time.ts'
import type { Payer } from '../database.ts'
import type { EnginePlan, EngineReport } from '../engine.ts'
import { alternate, type Sample } from '../measurement.ts'
import { judge, type Bench, type Condition, type Result, type Scenario } from '../scenario.ts'
import { disturbance } from '../subject.ts'

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
  await using engine = await startSide(bench, 'engine', join(import.meta.dirname, '..', 'engine.ts'), payers)
  await using ceiling = await startSide(
    bench,
    'ceiling',
    join(import.meta.dirname, '..', 'baselines', 'ceiling.ts'),
    payers,
  )
  const measured = await alternate(bench.seconds, { ceiling: ceiling.measure, engine: engine.measure })
  return judge({
    id: 'P4',
    scenario: `${p4.title}, ${variant}`,
    value: measured.engine.rate,
    unit: 'payments/s',
    p50Ms: measured.engine.p50Ms,
    p99Ms: measured.engine.p99Ms,
    baselines: { ceiling: measured.ceiling.rate },
    targets: [{ baseline: 'ceiling', times: 0.6, direction: 'atLeast' }],
    conditions: [await engine.condition(), await ceiling.condition()],
  })
}

interface Side extends AsyncDisposable {
  measure(seconds: number): Promise<Sample>
  condition(): Promise<Condition>
}

/** The engine or the ceiling, in a process of its own, on a database of its own. */
export async function startSide(bench: Bench, name: string, file: string, payers: readonly Payer[]): Promise<Side> {
  await using started = new AsyncDisposableStack()
  const database = started.use(await bench.databases.clone(name))
  const child = bench.start<EnginePlan, EngineReport>(file)
  started.defer(() => child.stop())
  const { commitLanes: lanes } = readConfig({})
  const resources = started.move()
  return {
    async measure(seconds) {
      await database.checkpoint()
      const others = watchOthers()
      const report = await child.ask({
        databaseUrl: database.url,
        payers,
        lanes,
        concurrency: CONCURRENCY,
        warmupSeconds: bench.warmupSeconds,
        seconds,
      })
      bench.log(`  ${name.padEnd(9)} ${report.rate.toFixed(0).padStart(6)}/s${disturbance(others())}`)
      return { ...report, failures: 0 }
    },
    async condition() {
      const wrong = await database.audit()
      return { name: `${name}: clean audit`, holds: wrong === null, ...(wrong === null ? {} : { found: wrong }) }
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/**
 * `npm run bench -- [--only P1,P2] [--seconds 10] [--heat 10] [--scale 1] [--json FILE]`: measures the scenarios
 * against their baselines, in this run and on this machine, prints a table and writes `bench/results/`. It brings its
 * own Postgres and cleans up after itself. Exits 1 when a target is missed or the books are wrong.
 */
import { mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CpuWatch } from './cpu-time.ts'
import { startDatabases } from './database.ts'
import type { LoadPlan, LoadReport } from './load-plan.ts'
import { Turn } from './measurement.ts'
import { readOptions, UsageError, type Options } from './options.ts'
import { startProcess, type BenchProcess } from './process.ts'
import {
  barPlot,
  brokenConditions,
  CPU_LEGEND,
  describeMachine,
  machineText,
  markdownTable,
  resultsJson,
  textTable,
  type Machine,
} from './report.ts'
import type { Bench, Result } from './scenario.ts'

const SECONDS = 10
const WARMUP_SECONDS = 2
/** Enough to see what is wrong; a failing run logs the same thing thousands of times. */
const COMPLAINTS_MAX = 5
const COMPLAINT_LENGTH_MAX = 600
const RESULTS = join(import.meta.dirname, 'results')

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2))
  const log = (line: string): void => {
    process.stdout.write(`${line}\n`)
  }
  await using resources = new AsyncDisposableStack()
  let interrupted = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      // Ends the children and Postgres; what waits for them fails, and is not worth a word any more.
      interrupted = true
      process.exitCode = 130
      void resources.disposeAsync()
    })
  }

  const databases = resources.use(await startDatabases())
  const childLog = join(databases.directory, 'children.log')
  const output = await open(childLog, 'a')
  resources.defer(() => output.close())
  const start = <Question, Answer>(file: string): BenchProcess<Question, Answer> => {
    const child = startProcess<Question, Answer>(file, output.fd)
    resources.defer(() => child.stop())
    return child
  }
  const seconds = options.secondsAsked ?? SECONDS
  const generator = start<LoadPlan, LoadReport>(join(import.meta.dirname, 'load.ts'))
  const turn = new Turn()
  const bench: Bench = {
    databases,
    start,
    log,
    seconds,
    secondsAsked: options.secondsAsked,
    heatSeconds: options.heatSeconds,
    warmupSeconds: WARMUP_SECONDS,
    scale: options.scale,
    generator,
    takeTurn: (name) => turn.take(name),
    watchCpu: ({ servers, others = [] }) =>
      new CpuWatch({ servers, others, generators: [generator.pid], postmaster: databases.postmaster }, () =>
        databases.applications(),
      ),
  }
  const machine = describeMachine(databases.postgresVersion)
  log(machineText(machine))
  const results: Result[] = []
  let failed = false
  for (const scenario of options.scenarios) {
    log(`\n${scenario.id}  ${scenario.title}`)
    try {
      results.push(...(await scenario.run(bench)))
    } catch (error) {
      if (interrupted) return
      failed = true
      log(`${scenario.id} could not be measured: ${(error as Error).stack}`)
    }
    for (const line of await complaints(childLog)) log(`  ${line}`)
    await output.truncate()
  }
  log(`\n${textTable(results)}\n${CPU_LEGEND}`)
  for (const sentence of brokenConditions(results)) log(sentence)
  await writeResults(results, machine, { ...options, seconds })
  if (failed || results.some(({ met }) => !met)) process.exitCode = 1
}

async function writeResults(
  results: readonly Result[],
  machine: Machine,
  { seconds, heatSeconds, json }: Options & { readonly seconds: number },
): Promise<void> {
  await mkdir(RESULTS, { recursive: true })
  const text = resultsJson(results)
  await writeFile(join(RESULTS, 'results.json'), text)
  await writeFile(join(RESULTS, 'results.md'), markdownTable(results, machine, { seconds, heatSeconds }))
  await writeFile(join(RESULTS, 'results.svg'), barPlot(results, machine))
  if (json !== null) await writeFile(json, text)
}

/** The first lines that the child processes logged as warnings or worse. */
async function complaints(file: string): Promise<string[]> {
  const lines = (await readFile(file, 'utf8')).split('\n')
  return lines
    .filter((line) => /"level":[456]0/.test(line))
    .slice(0, COMPLAINTS_MAX)
    .map((line) => line.slice(0, COMPLAINT_LENGTH_MAX))
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof UsageError ? error.message : (error as Error).stack}\n`)
  process.exitCode = 2
})

/**
 * `npm run bench -- [--only P1,P2] [--seconds 10] [--scale 1] [--json FILE]`: measures the scenarios against their
 * baselines, in this run and on this machine, prints a table and writes `bench/results/`. It brings its own Postgres
 * and cleans up after itself. Exits 1 when a target is missed or the books are wrong.
 */
import { mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startDatabases } from './database.ts'
import type { LoadPlan, LoadReport } from './load-plan.ts'
import { startProcess, type BenchProcess } from './process.ts'
import {
  barPlot,
  brokenConditions,
  describeMachine,
  machineText,
  markdownTable,
  resultsJson,
  textTable,
} from './report.ts'
import type { Bench, Result, Scenario } from './scenario.ts'
import { SCENARIOS } from './scenarios/index.ts'

const SECONDS = 10
const WARMUP_SECONDS = 2
/** Enough to see what is wrong; a failing run logs the same thing thousands of times. */
const COMPLAINTS_MAX = 5
const COMPLAINT_LENGTH_MAX = 600
const RESULTS = join(import.meta.dirname, 'results')

interface Options {
  readonly scenarios: readonly Scenario[]
  readonly secondsAsked: number | null
  readonly scale: number
  readonly json: string | null
}

class UsageError extends Error {}

function parseValues(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        only: { type: 'string' },
        seconds: { type: 'string' },
        scale: { type: 'string', default: '1' },
        json: { type: 'string' },
      },
    }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function readOptions(args: string[]): Options {
  const values = parseValues(args)
  const only = values.only
    ?.split(',')
    .map((id) => id.trim().toUpperCase())
    .filter((id) => id !== '')
  const unknown = only?.find((id) => !SCENARIOS.some((scenario) => scenario.id === id))
  if (unknown !== undefined)
    throw new UsageError(`There is no scenario ${unknown}; there are ${SCENARIOS.map(({ id }) => id).join(', ')}.`)
  const seconds = values.seconds === undefined ? null : Number(values.seconds)
  if (seconds !== null && !(seconds >= 2)) throw new UsageError('--seconds must be a number of at least 2.')
  const scale = Number(values.scale)
  if (!(scale > 0 && scale <= 1)) throw new UsageError('--scale must be a number above 0, at most 1.')
  return {
    scale,
    scenarios: only === undefined ? SCENARIOS : SCENARIOS.filter(({ id }) => only.includes(id)),
    secondsAsked: seconds,
    json: values.json ?? null,
  }
}

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
  const bench: Bench = {
    databases,
    start,
    log,
    seconds,
    secondsAsked: options.secondsAsked,
    warmupSeconds: WARMUP_SECONDS,
    scale: options.scale,
    generator: start<LoadPlan, LoadReport>(join(import.meta.dirname, 'load.ts')),
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
  log(`\n${textTable(results)}`)
  for (const sentence of brokenConditions(results)) log(sentence)
  await mkdir(RESULTS, { recursive: true })
  const json = resultsJson(results)
  await writeFile(join(RESULTS, 'results.json'), json)
  await writeFile(join(RESULTS, 'results.md'), markdownTable(results, machine, seconds))
  await writeFile(join(RESULTS, 'results.svg'), barPlot(results, machine))
  if (options.json !== null) await writeFile(options.json, json)
  if (failed || results.some(({ met }) => !met)) process.exitCode = 1
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

/**
 * The interface of a scenario, and its results. A new one is a file in `scenarios/` and a line in `scenarios/index.ts`.
 */
import type { CpuPerOperation } from './cpu-shares.ts'
import type { CpuWatch } from './cpu-time.ts'
import type { BenchDatabases } from './database.ts'
import type { LoadPlan, LoadReport } from './load-plan.ts'
import type { BenchProcess } from './process.ts'

export interface Scenario {
  readonly id: string
  readonly title: string
  /** One result for every variant it measures. @throws when something could not be measured at all */
  run(bench: Bench): Promise<readonly Result[]>
}

/** The tools of a scenario. */
export interface Bench {
  readonly databases: BenchDatabases
  readonly generator: BenchProcess<LoadPlan, LoadReport>
  /** Seconds of measurement for each subject; null when none were asked for, so a scenario may have its own idea. */
  readonly secondsAsked: number | null
  readonly seconds: number
  /** A new process runs this long under load before its first measurement. */
  readonly heatSeconds: number
  /** Before each measurement. */
  readonly warmupSeconds: number
  /** Of the sizes that a scenario makes, from 0 to 1: less than 1 only tries whether it works. */
  readonly scale: number
  /** Starts a child that ends with the bench, whatever happens to the scenario. */
  start<Question, Answer>(file: string): BenchProcess<Question, Answer>
  /** Takes the turn of a subject until the result is disposed of. @throws while another subject runs */
  takeTurn(name: string): Disposable
  /** Watches the processor time of Postgres, the generator and these processes. */
  watchCpu(processes: { readonly servers: readonly number[]; readonly others?: readonly number[] }): CpuWatch
  log(line: string): void
}

export type Baseline =
  | 'bare'
  | 'rowLock'
  | 'ceiling'
  | 'emptyLedger'
  | 'oneNode'
  | 'atPeak'
  | 'postLoop'
  | 'firstPage'
  | 'csvParse'
  | 'idle'
  | 'payments'

/** The wanted value, as a multiple of a baseline. */
export interface Target {
  readonly baseline: Baseline
  readonly times: number
  readonly direction: 'atLeast' | 'atMost'
}

/** Something that must hold besides the figures, such as clean books. */
export interface Condition {
  readonly name: string
  readonly holds: boolean
  /** The value that was found, where a condition has one. */
  readonly found?: string
}

/** What each of several fresh processes came to. */
export interface Figures {
  /** In the unit of the value. */
  readonly each: readonly number[]
  /** The mean of what an operation took; null where it was not taken. */
  readonly cpu: CpuPerOperation | null
}

export interface Measured {
  readonly id: string
  readonly scenario: string
  readonly value: number
  readonly unit: string
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  readonly baselines: Readonly<Partial<Record<Baseline, number>>>
  /** The single figures behind the value (`own`) and behind each baseline, with their processor time. */
  readonly figures?: Readonly<Partial<Record<'own' | Baseline, Figures>>>
  /** Something to read beside the verdict. */
  readonly note?: string
  readonly targets: readonly Target[]
  readonly conditions: readonly Condition[]
}

/** A line of the report. */
export interface Result extends Measured {
  readonly ratios: Readonly<Partial<Record<Baseline, number>>>
  /** The targets in words. */
  readonly target: string
  readonly met: boolean
}

const NAMES: Readonly<Record<Baseline, string>> = {
  bare: 'bare',
  rowLock: 'row-lock',
  ceiling: 'ceiling',
  emptyLedger: 'empty ledger',
  oneNode: 'one node',
  atPeak: 'at the peak',
  postLoop: 'post loop',
  firstPage: 'first page',
  csvParse: 'csv-parse',
  idle: 'idle',
  payments: 'payments',
}

/** The name of a baseline as it is printed. */
export function baselineName(baseline: Baseline): string {
  return NAMES[baseline]
}

/** Holds what was measured against its targets. */
export function judge(measured: Measured): Result {
  const ratios: Partial<Record<Baseline, number>> = {}
  for (const [baseline, figure] of Object.entries(measured.baselines) as [Baseline, number][])
    ratios[baseline] = measured.value / figure
  const target = [
    ...measured.targets.map(
      ({ baseline, times, direction }) => `${direction === 'atLeast' ? '≥' : '≤'} ${times} × ${NAMES[baseline]}`,
    ),
    ...measured.conditions.map(({ name }) => name),
  ].join(', ')
  const reached = measured.targets.every(({ baseline, times, direction }) => {
    const ratio = ratios[baseline]
    return ratio !== undefined && (direction === 'atLeast' ? ratio >= times : ratio <= times)
  })
  return { ...measured, ratios, target, met: reached && measured.conditions.every(({ holds }) => holds) }
}

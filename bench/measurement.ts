/**
 * Comparing on a noisy machine: subjects are measured in turn, A B A B, each time in fresh processes and with no other
 * subject running, and their medians are compared. Whatever slows the machine for a while slows all of them, and what a
 * subject does after its measurement is no part of the next one's.
 */
import { meanCpu, type CpuPerOperation } from './cpu-shares.ts'
import { Histogram, type SparseHistogram } from './histogram.ts'
import type { Condition, Figures } from './scenario.ts'

/** Each subject is measured in this many fresh processes, and its seconds are split over them. */
export const ROUNDS = 2

/** A measurement of one process. */
export interface Sample {
  readonly rate: number
  readonly histogram: SparseHistogram
  readonly failures: number
  readonly cpu: CpuPerOperation | null
  /** What was checked before the process was stopped. */
  readonly conditions: readonly Condition[]
}

export interface Summary {
  /** The median of the processes' rates. */
  readonly rate: number
  /** Over all processes together. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failures: number
  /** The rate of each process, and the mean of what an operation took. */
  readonly rates: Figures
  /** The 99th percentile of each process instead of its rate, milliseconds. */
  readonly p99s: Figures
  readonly conditions: readonly Condition[]
}

/** Lets one subject run at a time. */
export class Turn {
  #holder: string | null = null

  /** Takes the turn until the result is disposed of. @throws while another subject has it */
  take(name: string): Disposable {
    if (this.#holder !== null) throw new Error(`${name} is started while ${this.#holder} still runs.`)
    this.#holder = name
    let held = true
    return {
      [Symbol.dispose]: () => {
        if (held) this.#holder = null
        held = false
      },
    }
  }
}

/**
 * Measures every subject in turn, round after round. Each function starts its subject, measures it for that many
 * seconds and stops it.
 */
export async function alternate<Name extends string>(
  seconds: number,
  subjects: Readonly<Record<Name, (seconds: number) => Promise<Sample>>>,
): Promise<Record<Name, Summary>> {
  const names = Object.keys(subjects) as Name[]
  const samples = new Map<Name, Sample[]>(names.map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of names) samples.get(name)!.push(await subjects[name](seconds / ROUNDS))
  }
  return Object.fromEntries(names.map((name) => [name, summarise(samples.get(name)!)])) as Record<Name, Summary>
}

/** Several measurements of one subject as one. */
export function summarise(samples: readonly Sample[]): Summary {
  const each = samples.map(({ histogram }) => Histogram.from(histogram))
  const all = new Histogram()
  for (const { histogram } of samples) all.addAll(histogram)
  const cpu = meanCpu(samples.map((sample) => sample.cpu))
  const rates = samples.map(({ rate }) => rate)
  return {
    rate: median(rates),
    p50Ms: all.quantile(0.5) / 1000,
    p99Ms: all.quantile(0.99) / 1000,
    failures: samples.reduce((sum, { failures }) => sum + failures, 0),
    rates: { each: rates, cpu },
    p99s: { each: each.map((histogram) => histogram.quantile(0.99) / 1000), cpu },
    conditions: mergeConditions(samples.map(({ conditions }) => conditions)),
  }
}

/** The conditions of several processes as one list: each name once, and it holds if it held for all of them. */
export function mergeConditions(rounds: readonly (readonly Condition[])[]): Condition[] {
  const merged = new Map<string, Condition>()
  for (const condition of rounds.flat()) {
    const known = merged.get(condition.name)
    // Of those that did not hold the first is told.
    if (known === undefined || (known.holds && !condition.holds)) merged.set(condition.name, condition)
  }
  return [...merged.values()]
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

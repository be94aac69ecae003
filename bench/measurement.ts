/**
 * Comparing on a noisy machine: subjects are measured in turn, A B A B, each for a part of its time, and their medians
 * are compared. Whatever slows the machine for a while slows all of them.
 */
import { Histogram, type SparseHistogram } from './histogram.ts'

/** Each subject's seconds are split over this many rounds. */
const ROUNDS = 2

export interface Sample {
  readonly rate: number
  readonly histogram: SparseHistogram
  readonly failures: number
}

export interface Summary {
  /** The median of the rounds' rates. */
  readonly rate: number
  /** Over all rounds together. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failures: number
}

/** Measures every subject in turn, round after round. @param measure measures for that many seconds */
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
  const all = new Histogram()
  for (const { histogram } of samples) all.addAll(histogram)
  return {
    rate: median(samples.map(({ rate }) => rate)),
    p50Ms: all.quantile(0.5) / 1000,
    p99Ms: all.quantile(0.99) / 1000,
    failures: samples.reduce((sum, { failures }) => sum + failures, 0),
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Processor time and memory, from `/proc`; zero where there is no such thing, as it is only ever shown. */
import { cpus } from 'node:os'
import { readFileSync, readdirSync } from 'node:fs'

/** Linux counts in hundredths of a second on every platform Node runs on. */
const TICKS_PER_SECOND = 100

interface Stat {
  readonly pid: number
  readonly parent: number
  /** Of the process and of its children that have ended. */
  readonly seconds: number
}

/** Memory of a process that is really there, megabytes of 2^20 bytes; zero where there is no `/proc`. */
export function residentMb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1024
  } catch {
    // It has ended, or there is no /proc.
    return 0
  }
}

/**
 * Watches how busy the machine is with what is not ours: figures taken while something else runs are not worth much.
 *
 * @returns a function that tells the cores, on average since then, that were busy outside this process and its children
 */
export function watchOthers(): () => number {
  const begin = { at: performance.now(), busy: busySeconds(), own: ownSeconds() }
  return () => {
    const seconds = (performance.now() - begin.at) / 1000
    return Math.max(0, (busySeconds() - begin.busy - (ownSeconds() - begin.own)) / seconds)
  }
}

function busySeconds(): number {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0) / 1000
}

function ownSeconds(): number {
  const stats = allStats()
  const ours = new Set([process.pid])
  // Children have higher numbers than their parents but for a wrap-around; going round until nothing is added needs no
  // order.
  for (let before = 0; before < ours.size; ) {
    before = ours.size
    for (const { pid, parent } of stats) if (ours.has(parent)) ours.add(pid)
  }
  return stats.reduce((sum, { pid, seconds }) => (ours.has(pid) ? sum + seconds : sum), 0)
}

function allStats(): Stat[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0)
      .map(statOf)
      .filter((stat) => stat !== null)
  } catch {
    // No /proc: nothing to show.
    return []
  }
}

function statOf(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The command in parentheses may hold spaces; the fields after it do not.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const ticks = fields.slice(11, 15).reduce((sum, value) => sum + value, 0)
    return { pid, parent: fields[1] as number, seconds: ticks / TICKS_PER_SECOND }
  } catch {
    // Gone, or no /proc.
    return null
  }
}

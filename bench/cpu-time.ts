/** Processor time of processes, from `/proc`; zero where there is no such thing, as it is only ever shown. */
import { readFileSync, readdirSync } from 'node:fs'

/** Linux counts in hundredths of a second on every platform Node runs on. */
const TICKS_PER_SECOND = 100

/** User and system time of a process so far, seconds. */
export function cpuTime(pid: number): number {
  return statOf(pid)?.seconds ?? 0
}

/** The same for a process and its children: a Postgres server with its backends. Ended children count as well. */
export function cpuTimeOfTree(pid: number): number {
  let seconds = (statOf(pid)?.seconds ?? 0) + (statOf(pid)?.endedChildren ?? 0)
  for (const entry of entries()) {
    const stat = statOf(entry)
    if (stat?.parent === pid) seconds += stat.seconds
  }
  return seconds
}

function entries(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter((pid) => pid > 0)
  } catch {
    // No /proc: nothing to show.
    return []
  }
}

function statOf(pid: number): { readonly parent: number; readonly seconds: number; readonly endedChildren: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The command in parentheses may hold spaces; the fields after it do not.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ').map(Number)
    const [userTicks, systemTicks, endedUser, endedSystem] = fields.slice(11, 15) as [number, number, number, number]
    return {
      parent: fields[1] as number,
      seconds: (userTicks + systemTicks) / TICKS_PER_SECOND,
      endedChildren: (endedUser + endedSystem) / TICKS_PER_SECOND,
    }
  } catch {
    // Gone, or no /proc.
    return null
  }
}

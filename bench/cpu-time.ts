/** Processor time and memory, from `/proc`; nothing where there is no such thing, as it is only ever shown. */
import { cpus } from 'node:os'
import { readFileSync, readdirSync } from 'node:fs'
import { cpuPerOperation, parseStat, type CpuPerOperation, type Stat, type ThreadTime } from './cpu-shares.ts'
import type { Moment } from './process.ts'

const TICKS_PER_SECOND = 100

/** Memory of a process that is really there, megabytes of 2^20 bytes; zero where there is no `/proc`. */
export function residentMb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1024
  } catch {
    // It has ended, or there is no /proc.
    return 0
  }
}

/** The parent of a process; null when it has ended, or where there is no `/proc`. */
export function parentOf(pid: number): number | null {
  return statOf(`/proc/${pid}/stat`)?.parent ?? null
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

/** The processes of a measurement, by their ids. */
export interface CpuProcesses {
  /** The subject's own, whose threads are told apart. */
  readonly servers: readonly number[]
  /** What the subject needs beside Postgres. */
  readonly others: readonly number[]
  readonly generators: readonly number[]
  /** The first process of Postgres; null: not known. */
  readonly postmaster: number | null
}

/** How often the names of connections are read: a subject may open one at any time, and close it with its last answer. */
const NAMES_MS = 1_000

/** Takes the processor time of a measurement, by thread and process. */
export class CpuWatch {
  readonly #processes: CpuProcesses
  readonly #readApplications: () => Promise<ReadonlyMap<number, string>>
  readonly #applications = new Map<number, string>()
  #reading: Promise<void> = Promise.resolve()
  #names: NodeJS.Timeout | undefined
  #before: readonly ThreadTime[] | null = null
  #after: readonly ThreadTime[] | null = null

  /** `readApplications` reads the names of the connections of Postgres, by process. */
  constructor(processes: CpuProcesses, readApplications: () => Promise<ReadonlyMap<number, string>>) {
    this.#processes = processes
    this.#readApplications = readApplications
  }

  /** Takes a reading where the measurement begins, and one where it ends. */
  readonly onMoment = (moment: Moment): void => {
    if (moment === 'begin') this.#before = readTimes(this.#processes)
    if (moment === 'end') this.#after = readTimes(this.#processes)
    clearInterval(this.#names)
    this.#readNames()
    if (moment !== 'end') this.#names = setInterval(() => this.#readNames(), NAMES_MS).unref()
  }

  /** What an operation took between the two; null when either reading is missing. */
  async perOperation(operations: number): Promise<CpuPerOperation | null> {
    clearInterval(this.#names)
    await this.#reading
    const [before, after] = [this.#before, this.#after]
    if (before === null || after === null || after.length === 0) return null
    return cpuPerOperation({ before, after }, this.#applications, operations)
  }

  #readNames(): void {
    this.#reading = Promise.all([this.#reading, this.#readApplications()]).then(([, applications]) => {
      for (const [pid, application] of applications) this.#applications.set(pid, application)
    })
    // Looked at in `perOperation`; until then a bench that is being taken down must not fall over it.
    this.#reading.catch(() => undefined)
  }
}

function readTimes({ servers, others, generators, postmaster }: CpuProcesses): ThreadTime[] {
  const whole = (role: ThreadTime['role'], { id, name, ticks }: Stat): ThreadTime[] => [
    { role, process: id, thread: id, name, ticks },
  ]
  const alone = (role: ThreadTime['role'], pids: readonly number[]): ThreadTime[] =>
    pids.flatMap((pid) => {
      const stat = statOf(`/proc/${pid}/stat`)
      return stat === null ? [] : whole(role, stat)
    })
  return [
    ...servers.flatMap(threadTimes),
    ...alone('other', others),
    ...alone('generator', generators),
    ...(postmaster === null ? [] : postgresTimes(postmaster)),
  ]
}

/** The threads of a process, and what its ended threads took. */
function threadTimes(pid: number): ThreadTime[] {
  const process = statOf(`/proc/${pid}/stat`)
  if (process === null) return []
  const threads = numbersIn(`/proc/${pid}/task`).flatMap((thread): ThreadTime[] => {
    const stat = statOf(`/proc/${pid}/task/${thread}/stat`)
    return stat === null ? [] : [{ role: 'server', process: pid, thread, name: stat.name, ticks: stat.ticks }]
  })
  const living = threads.reduce((sum, { ticks }) => sum + ticks, 0)
  // User and system time of each thread are rounded down, so up to two ticks a thread are missing in their sum.
  const ended = Math.max(0, process.ticks - living - 2 * threads.length)
  return [...threads, { role: 'server', process: pid, thread: null, name: 'ended', ticks: ended }]
}

/** The first process of Postgres, its children, and what those of its children took that have ended. */
function postgresTimes(postmaster: number): ThreadTime[] {
  return allStats().flatMap(({ id, name, parent, ticks, childTicks }): ThreadTime[] => {
    if (id === postmaster) return [{ role: 'postmaster', process: id, thread: id, name, ticks: ticks + childTicks }]
    return parent === postmaster ? [{ role: 'backend', process: id, thread: id, name, ticks }] : []
  })
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
    for (const { id, parent } of stats) if (ours.has(parent)) ours.add(id)
  }
  const ticks = stats.reduce((sum, each) => (ours.has(each.id) ? sum + each.ticks + each.childTicks : sum), 0)
  return ticks / TICKS_PER_SECOND
}

function allStats(): Stat[] {
  return numbersIn('/proc').flatMap((pid) => statOf(`/proc/${pid}/stat`) ?? [])
}

function numbersIn(directory: string): number[] {
  try {
    return readdirSync(directory)
      .map(Number)
      .filter((id) => id > 0)
  } catch {
    // The process has ended, or there is no /proc.
    return []
  }
}

function statOf(path: string): Stat | null {
  try {
    return parseStat(readFileSync(path, 'latin1'))
  } catch {
    // Gone, or no /proc.
    return null
  }
}

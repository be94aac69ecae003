/**
 * The arithmetic of processor time: what each part of a measurement took, an operation. Reads nothing;
 * bench/cpu-time.ts reads `/proc`.
 */

/** Linux counts in hundredths of a second on every platform Node runs on. */
const MICROS_PER_TICK = 10_000

/** A line of `/proc/PID/stat` or `/proc/PID/task/TID/stat`, as far as it is used. */
export interface Stat {
  /** Of the process or of the thread. */
  readonly id: number
  readonly name: string
  readonly parent: number
  /** User and system time so far, hundredths of a second. */
  readonly ticks: number
  /** The same of its children that have ended and were waited for. */
  readonly childTicks: number
}

/** Reads such a line. @throws when it is none */
export function parseStat(text: string): Stat {
  // The name in parentheses may hold spaces and parentheses; the fields after it do not.
  const [opened, closed] = [text.indexOf('('), text.lastIndexOf(')')]
  const fields = text
    .slice(closed + 2)
    .trimEnd()
    .split(' ')
    .map(Number)
  const id = Number(text.slice(0, opened))
  const [, parent] = fields
  const [user, system, childUser, childSystem] = fields.slice(11, 15)
  const numbers = [id, parent, user, system, childUser, childSystem]
  if (opened < 0 || closed < opened || !numbers.every(Number.isInteger))
    throw new Error(`This is no line of /proc/PID/stat: ${text}`)
  return {
    id,
    name: text.slice(opened + 1, closed),
    parent: parent!,
    ticks: user! + system!,
    childTicks: childUser! + childSystem!,
  }
}

/** What a process is in a measurement. A backend is any child of Postgres, a background process too. */
export type Role = 'server' | 'backend' | 'postmaster' | 'generator' | 'other'

/** The processor time of a thread so far; of a process that is not a server the threads together. */
export interface ThreadTime {
  readonly role: Role
  readonly process: number
  /** The id of the process for its first thread, and where threads are not told apart; null for ended threads. */
  readonly thread: number | null
  readonly name: string
  readonly ticks: number
}

/** The parts of a measurement's processor time, in the order in which they are printed. */
export const CPU_PARTS = ['main', 'gc', 'pool', 'lane', 'postgres', 'other', 'generator'] as const
export type CpuPart = (typeof CPU_PARTS)[number]
/** Processor time by part, microseconds an operation. */
export type CpuPerOperation = Readonly<Record<CpuPart, number>>

/** The names of the parts as they are printed. */
export const CPU_PART_NAMES: Readonly<Record<CpuPart, string>> = {
  main: 'main thread',
  gc: 'GC and JIT',
  pool: 'pool threads',
  lane: `lane's backends`,
  postgres: 'other Postgres',
  other: 'other processes',
  generator: 'generator',
}

/** The threads in which V8 collects and compiles; Linux cuts names off after fifteen characters. */
const V8_THREAD = /V8Worker|^DelayedTaskSche/
/** Connections that commit payments: the lanes of the service, and those of the baselines. */
const LANE = /^vostro (lane |bench ceiling$|bench row-lock$)/
/** Connections of the bench itself. */
const BENCH = /^vostro bench$/

/** The part that a thread belongs to. `applications` are the names of the connections of Postgres, by process. */
export function partOf(
  { role, process, thread, name }: Omit<ThreadTime, 'ticks'>,
  applications: ReadonlyMap<number, string>,
): CpuPart {
  if (role === 'generator' || role === 'other') return role
  if (role === 'server') return thread === process ? 'main' : V8_THREAD.test(name) ? 'gc' : 'pool'
  const application = applications.get(process) ?? ''
  return LANE.test(application) ? 'lane' : BENCH.test(application) ? 'generator' : 'postgres'
}

/**
 * What each part took between two readings, microseconds an operation. A thread or process that began in between
 * counts from its beginning; one that ended is in what its process or Postgres says of those that ended.
 */
export function cpuPerOperation(
  { before, after }: { readonly before: readonly ThreadTime[]; readonly after: readonly ThreadTime[] },
  applications: ReadonlyMap<number, string>,
  operations: number,
): CpuPerOperation {
  const ticks = new Map<CpuPart, number>()
  const add = (times: readonly ThreadTime[], sign: 1 | -1): void => {
    for (const time of times) {
      const part = partOf(time, applications)
      ticks.set(part, (ticks.get(part) ?? 0) + sign * time.ticks)
    }
  }
  add(after, 1)
  add(before, -1)
  return byPart((part) => (Math.max(0, ticks.get(part) ?? 0) * MICROS_PER_TICK) / Math.max(1, operations))
}

/** The mean of several measurements, part by part; null when there is none. */
export function meanCpu(each: readonly (CpuPerOperation | null)[]): CpuPerOperation | null {
  const known = each.filter((cpu) => cpu !== null)
  if (known.length === 0) return null
  return byPart((part) => known.reduce((sum, cpu) => sum + cpu[part], 0) / known.length)
}

export function totalCpu(cpu: CpuPerOperation): number {
  return CPU_PARTS.reduce((sum, part) => sum + cpu[part], 0)
}

/** The parts in their order and their sum, for a narrow column: `117/10/1/66/22/0/17 = 233`. */
export function cpuText(cpu: CpuPerOperation): string {
  return `${CPU_PARTS.map((part) => microsText(cpu[part])).join('/')} = ${microsText(totalCpu(cpu))}`
}

/** Whole microseconds, or tenths below ten. */
export function microsText(micros: number): string {
  return micros === 0 ? '0' : micros.toFixed(micros < 9.95 ? 1 : 0)
}

function byPart(valueOf: (part: CpuPart) => number): CpuPerOperation {
  return Object.fromEntries(CPU_PARTS.map((part) => [part, valueOf(part)])) as Record<CpuPart, number>
}

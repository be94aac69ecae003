/** The setting WORKERS: how many processes of one machine serve its port. */

/** More processes than this need more connections than a Postgres with default settings has for anybody. */
const WORKERS_MAX = 64

/** A number of processes, or one for each core of the machine. */
export type Workers = number | 'auto'

/** Reads `auto` or a number from 1 to 64. `null`: the text is neither. */
export function parseWorkers(text: string): Workers | null {
  if (text === 'auto') return text
  const count = /^\d{1,2}$/.test(text) ? Number(text) : 0
  return count >= 1 && count <= WORKERS_MAX ? count : null
}

/** Returns the number of processes on a machine with so many cores. */
export function workerCount(workers: Workers, cores: number): number {
  return workers === 'auto' ? Math.min(Math.max(cores, 1), WORKERS_MAX) : workers
}

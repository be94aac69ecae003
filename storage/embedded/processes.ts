/** Facts about other processes, as Linux provides them; elsewhere only whether a process exists. */
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'

import { codeOf, ignore } from './error-codes.ts'

/** Whether a process has this id, including one that has ended and was not collected yet. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return codeOf(error) === 'EPERM'
  }
}

/** Reads the arguments of a process' command line; empty for a process that has ended and was not collected yet. */
export async function commandLine(pid: number): Promise<readonly string[] | 'unknown'> {
  if (process.platform !== 'linux') return 'unknown'
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(ignore('ENOENT', 'ESRCH'))
  return text === null || text === '' ? [] : text.split('\0')
}

/** Whether a command line is that of a Postgres server. */
export function isPostgres(command: readonly string[]): boolean {
  return basename(command[0] ?? '') === 'postgres'
}

/** Whether the process is a Postgres server that still runs. */
export async function isServing(pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false
  const command = await commandLine(pid)
  return command === 'unknown' || isPostgres(command)
}

/** Resolves after so many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

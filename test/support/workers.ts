/** Several workers behind one port: their settings, and their processes. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The processes that a process has started and that still run. */
export async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,stat=,comm='])
  return stdout
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent, state, name]) => Number(parent) === pid && !state!.startsWith('Z') && name !== 'ps')
    .map(([child]) => Number(child))
}

/** Whether a process runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The settings of two workers on a database and a Redis. */
export function settingsOfWorkers(databaseUrl: string, redisUrl: string): Record<string, string> {
  return {
    WORKERS: '2',
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    NODE_URL: 'http://127.0.0.1:0',
    NODE_SECRET: randomBytes(32).toString('hex'),
    SECRETS_KEY: randomBytes(32).toString('hex'),
  }
}

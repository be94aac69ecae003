/** A test file that never ends, with a process of its own, for test/start/interrupt.test.ts. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import t from 'tap'
import { POSTGRES_ENV } from '../support/postgres.ts'

/** The environment variable with the path of the file that this file writes: what has to be gone after the run. */
export const RUNNING_ENV = 'VOSTRO_TEST_RUNNING'

export interface EndlessRun {
  /** The process of the test file, and the process that it has started. */
  readonly pids: readonly number[]
  /** The URL of the server of the run. */
  readonly postgresUrl: string
  /** The directory for temporary files, which the run deletes. */
  readonly temporary: string
}

const path = process.env[RUNNING_ENV]
if (path !== undefined) {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1_000)'], { stdio: 'ignore' })
  const running: EndlessRun = {
    pids: [process.pid, child.pid!],
    postgresUrl: process.env[POSTGRES_ENV]!,
    temporary: process.env['TMPDIR']!,
  }
  writeFileSync(path, JSON.stringify(running))
  t.test('a test without an end', async () => {
    await new Promise(() => undefined)
  })
}

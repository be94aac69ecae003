/** A run of the tests that is interrupted leaves nothing behind. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { until } from '../support/until.ts'
import { RUNNING_ENV, type EndlessRun } from './endless.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const ROOT = dirname(dirname(import.meta.dirname))
/** A run starts a server and fills its templates before the first test file. */
const START_DEADLINE_MS = 120_000

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  t.test(`${signal} to the run ends its test files, their processes and the server`, async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'i-'))
    t.teardown(() => removeDirectory(directory))
    const path = join(directory, 'running.json')
    const run = spawn(process.execPath, ['test/run.ts', 'test/start/endless.ts'], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: directory, [RUNNING_ENV]: path },
    })
    t.teardown(() => run.kill('SIGKILL'))
    let output = ''
    for (const stream of [run.stdout, run.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    const ended = once(run, 'close')
    const running = await until(
      'the test file runs',
      async () => {
        if (run.exitCode !== null) throw new Error(`The run ended by itself: ${output}`)
        const text = await readFile(path, 'utf8').catch(() => '')
        return text.endsWith('}') && (JSON.parse(text) as EndlessRun)
      },
      { deadlineMs: START_DEADLINE_MS },
    )
    t.teardown(() => running.pids.filter(isAlive).forEach((pid) => process.kill(pid, 'SIGKILL')))
    t.strictSame(running.pids.map(isAlive), [true, true])
    t.ok(existsSync(running.temporary))
    await connect(running.postgresUrl)

    run.kill(signal)
    t.strictSame(await ended, [1, null], 'an interrupted run has failed')
    t.match(output, /^\d+ passed, \d+ failed$/m, 'and still counts')
    t.strictSame(running.pids.map(isAlive), [false, false], 'no process is left')
    t.notOk(existsSync(running.temporary), 'no file is left')
    await t.rejects(connect(running.postgresUrl), { code: 'ECONNREFUSED' }, 'the server has stopped')
  })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function connect(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.end()
}

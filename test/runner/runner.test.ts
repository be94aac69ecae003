/** Test files share a process: each counts for itself, and what breaks breaks that file alone. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'

import t, { type Test } from 'tap'

import type { Plan } from './messages.ts'
import { createReport } from './report.ts'

const RUNNER = join(import.meta.dirname, 'tap-files.ts')
const fixture = (name: string) => `test/runner/fixtures/${name}.ts`

/** Runs fixtures one after the other. @returns what a run prints and counts */
async function runFixtures(names: readonly string[], timeoutSeconds = 60) {
  const lines: string[] = []
  const counts = { passed: 0, failed: 0 }
  const report = createReport({ print: (line) => lines.push(line), counts })
  const code = await new Promise<number | string | null | undefined>((resolve) => {
    const plan: Plan = { timeoutSeconds, groups: [{ jobs: 1, files: names.map(fixture) }] }
    const child = execFile(process.execPath, [RUNNER, JSON.stringify(plan)], (error) =>
      resolve(error === null ? 0 : error.code),
    )
    child.stdout!.on('data', (text: string) => report.write(text))
  })
  report.end()
  return { code, counts, text: lines.join('\n') }
}

const verdicts = (text: string) =>
  [...text.matchAll(/^(ok {4}|FAILED) {2}test\/runner\/fixtures\/(\S+)\.ts {2}\d+ ms$/gm)].map(
    ([, verdict, name]) => `${verdict?.trim()} ${name}`,
  )

t.test('files that pass, in one process: every assertion counts', async (t) => {
  const { code, counts, text } = await runFixtures(['passes', 'passes-too'])
  t.strictSame(verdicts(text), ['ok passes', 'ok passes-too'])
  t.strictSame({ code, counts }, { code: 0, counts: { passed: 4, failed: 0 } })
})

/** Runs a fixture between two that pass. */
async function breaks(t: Test, name: string, failed: number, passed: number, message: RegExp, timeoutSeconds?: number) {
  const { code, counts, text } = await runFixtures(['passes', name, 'passes-too'], timeoutSeconds)
  t.strictSame(verdicts(text), ['ok passes', `FAILED ${name}`, 'ok passes-too'], 'this file alone')
  t.strictSame({ code, counts }, { code: 1, counts: { passed: 4 + passed, failed } }, text)
  t.match(text, message)
  t.match(text, new RegExp(`^FAILED  test/runner/fixtures/${name}\\.ts`, 'm'), 'the report names it')
}

t.test('an assertion that fails', (t) => breaks(t, 'fails', 1, 1, /the assertion that fails[^]*-2\s+\+1/))
t.test('a process that dies', (t) => breaks(t, 'crashes', 1, 1, /process ended with SIGKILL before the file did/))
t.test('a test that hangs', (t) => breaks(t, 'hangs', 1, 1, /a test that hangs[^]*timeout!/, 1))
t.test('errors that are thrown beside the tests', (t) =>
  breaks(t, 'throws', 2, 0, /a test that is disturbed > thrown in a callback[^]*thrown while it loads/),
)
t.test('a timer that still runs', (t) => breaks(t, 'leaves-a-timer', 1, 1, /has left open: Timeout/, 1))
t.test('a teardown that throws', (t) => breaks(t, 'fails-to-clean-up', 1, 1, /FAILED/))
t.test('a file without a test', (t) => breaks(t, 'has-no-test', 1, 0, /The file has no test/))

/**
 * Runs test files and writes their results to standard output as TAP, each file as one subtest.
 *
 *   node test/runner/tap-files.ts '{"timeoutSeconds": 300, "groups": [{"jobs": 2, "files": ["test/x.test.ts"]}]}'
 *
 * Each group has so many files under way at once. Jobs whose group has no file left go on with those of the last group.
 *
 * The files share processes (test/runner/file-process.ts), which are plain Node, as the product is. A file that crashes
 * its process or does not end fails alone: the next file gets a new process.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'

import type { FileEnded, FromFile, Plan, RunFile } from './messages.ts'

/** How long a process whose file is out of time may still take to say which test it was. */
const GRACE_MS = 40_000

/**
 * Files that need a process of their own. Some change the environment before they load what reads it, and run the tests
 * of another file, which a process loads once; one compares the names of statements, which the process numbers.
 */
const ALONE = /(-on-two-nodes|\/commit-statements)\.test\.ts$/

const { timeoutSeconds, groups } = JSON.parse(process.argv[2]!) as Plan
const timeoutMs = timeoutSeconds * 1_000

const queues = groups.map(({ files }) => files.values())
/** The file that a process has run last, in case what it has left breaks the next file. */
const lastRun = new WeakMap<ChildProcess, string>()
let reported = 0
let failed = false
console.log('TAP version 14')
await Promise.all(
  groups.flatMap(({ jobs }, nth) => Array.from({ length: jobs }, () => runSome([queues[nth]!, queues.at(-1)!]))),
)
console.log(`1..${reported}`)
process.exitCode = failed ? 1 : 0

/** Runs one file after the other, in one process as long as it is good for another file. */
async function runSome(waiting: readonly Iterator<string>[]): Promise<void> {
  let shared: ChildProcess | null = null
  for (;;) {
    const file = nextOf(waiting)
    if (file === null) break
    const child: ChildProcess = ALONE.test(file) ? start() : (shared ?? start())
    const atRest = await runIn(child, file)
    if (!ALONE.test(file)) shared = atRest ? child : null
    else if (atRest) await end(child)
  }
  if (shared !== null) await end(shared)
}

/** Takes the first file of the first queue that has one. */
function nextOf(waiting: readonly Iterator<string>[]): string | null {
  for (const queue of waiting) {
    const next = queue.next()
    if (next.done !== true) return next.value
  }
  return null
}

function start(): ChildProcess {
  return fork(join(import.meta.dirname, 'file-process.ts'), {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    // tap's own root test, which no file uses, must not run out of time.
    env: { ...process.env, TAP_TIMEOUT: '0' },
  })
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('close', () => resolve())
    if (child.connected) child.send({ file: null, timeoutMs: 0 } satisfies RunFile)
  })
}

/** Runs a file and reports it. @returns whether the process can run another file */
function runIn(child: ChildProcess, file: string): Promise<boolean> {
  const from = performance.now()
  const earlier = lastRun.get(child) ?? 'no other file'
  lastRun.set(child, file)
  let text = ''
  const append = (part: string) => {
    text += part
  }
  return new Promise((resolve) => {
    const killer = setTimeout(() => child.kill('SIGKILL'), timeoutMs + GRACE_MS)
    const finish = (ended: FileEnded) => {
      clearTimeout(killer)
      child.stdout!.removeListener('data', append)
      child.removeListener('message', listen).removeListener('close', crashed)
      report(file, text, ended)
      resolve(ended.atRest)
    }
    const listen = (message: unknown) => {
      const part = message as FromFile
      if (part.kind === 'text') append(part.text)
      else if (part.kind === 'ended') finish(part)
    }
    const crashed = (code: number | null, signal: NodeJS.Signals | null) =>
      finish({
        kind: 'ended',
        passed: false,
        time: performance.now() - from,
        problems: [`Its process ended with ${signal ?? code} before the file did, and had run ${earlier} before.`],
        atRest: false,
      })
    // Text that a test prints beside its results.
    child.stdout!.setEncoding('utf8').on('data', append)
    child.on('message', listen).on('close', crashed)
    if (child.connected) child.send({ file, timeoutMs } satisfies RunFile)
    else crashed(child.exitCode, child.signalCode)
  })
}

function report(file: string, text: string, { passed, time, problems }: FileEnded): void {
  const ok = passed && problems.length === 0
  failed ||= !ok
  const lines = [
    `# Subtest: ${file}`,
    ...text
      .trimEnd()
      .split('\n')
      .map((line) => `    ${line}`),
  ]
  lines.push(`${ok ? 'ok' : 'not ok'} ${++reported} - ${file} # time=${time}ms`)
  if (problems.length > 0) lines.push('  ---', `  message: ${JSON.stringify(problems.join('\n'))}`, '  ...')
  console.log(lines.join('\n'))
}

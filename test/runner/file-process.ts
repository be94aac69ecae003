/**
 * A process of test files: runs each file that the runner names, one at a time, and sends its TAP. Loading the service
 * costs a second of CPU time, and code that has run before runs twice as fast, so a process takes one file after the
 * other. What a file may not leave to the next one is checked: after each file the process waits until nothing of it
 * is open any more, no socket, timer, thread or child; otherwise that file has failed, and the process ends.
 */
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'

import type { Test, TestOpts } from 'tap'

import type { FileEnded, FileText, RunFile } from './messages.ts'
import { setRunningFile } from './running-file.ts'

/** How long what a file has begun may go on after its last test: sockets close, a pool's connections time out. */
const REST_DEADLINE_MS = 60_000
const REST_POLL_MS = 2

const projectRoot = join(import.meta.dirname, '../..')
const urlOf = (name: string) => new URL(name, import.meta.url).href

let nth = 0
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'async-hook-domain') return next(urlOf('domain.ts'), context)
    if (specifier !== 'tap' || context.parentURL === import.meta.url) return next(specifier, context)
    if (/\/support(\/|\.ts$)/.test(context.parentURL ?? ''))
      throw new Error(`${context.parentURL} is loaded once for many test files, so it may import types of tap alone.`)
    return next(`${urlOf('file-tap.ts')}?${nth}`, context)
  },
})
const { Test: TapTest } = await import('tap')

let running: Test | null = null
const late: string[] = []
process.on('uncaughtException', (error: unknown) => {
  if (running === null || running.results !== undefined) late.push(`${inspect(error)} was thrown after the last test.`)
  else innermost(running).threw(error instanceof Error ? error : new Error(inspect(error)))
})

/** The test that runs at the moment, within a test. */
function innermost(test: Test): Test {
  const [active] = [...test.activeSubtests].slice(-1)
  return active === undefined ? test : innermost(active as Test)
}

/** The kinds of what keeps this process alive, the channel to the runner included. */
const open = () => process.getActiveResourcesInfo().sort()

async function runFile({ file, timeoutMs }: RunFile & { readonly file: string }): Promise<FileEnded> {
  nth += 1
  const before = open()
  const options: TestOpts = {
    name: file,
    timeout: timeoutMs,
    omitVersion: true,
    cb: async () => {
      setRunningFile(test)
      await import(pathToFileURL(join(projectRoot, file)).href)
    },
  }
  const test = new TapTest(options)
  running = test
  test.on('data', (text: string) => send({ kind: 'text', text }))
  const ended = new Promise((resolve) => test.once('end', resolve))
  test.runMain(() => undefined)
  await ended
  test.setTimeout(0)
  const problems = []
  const left =
    test.time >= timeoutMs ? ['a test that did not end'] : await leftOpen(before, Math.min(REST_DEADLINE_MS, timeoutMs))
  if (left.length > 0) problems.push(`The file has left open: ${left.join(', ')}.`)
  problems.push(...late.splice(0))
  if (test.count === 0) problems.push('The file has no test.')
  running = null
  return { kind: 'ended', passed: test.passing(), time: test.time, problems, atRest: left.length === 0 }
}

/** Waits until nothing is open that was not open `before`. @returns what remains */
async function leftOpen(before: readonly string[], deadlineMs: number): Promise<string[]> {
  const deadline = performance.now() + deadlineMs
  for (;;) {
    const known = [...before]
    const left = open().filter((kind) => {
      const at = known.indexOf(kind)
      if (at !== -1) known.splice(at, 1)
      return at === -1
    })
    if (left.length === 0 || performance.now() > deadline) return left
    await new Promise((resolve) => setTimeout(resolve, REST_POLL_MS).unref())
  }
}

function send(message: FileText | FileEnded): Promise<void> {
  return new Promise((resolve) => process.send!(message, () => resolve()))
}

// The runner is gone.
process.once('disconnect', () => process.exit(1))
process.on('message', async (message: RunFile) => {
  const { file } = message
  if (file === null) return process.exit()
  const ended = await runFile({ ...message, file })
  await send(ended)
  // By its own hand, so that what its tests have started is ended by their own handlers.
  if (!ended.atRest) process.exit(1)
})

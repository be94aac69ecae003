/**
 * Processes of the bench: a parent that asks, children that answer one message at a time. Servers under test, baselines
 * and the load generator each run in one, so that none of them shares an event loop with another.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The flags with which `npm start` starts Node: the service is measured as it runs, and the baselines likewise. */
const START_FLAGS = (
  JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as { scripts: { start: string } }
).scripts.start
  .split(' ')
  .filter((word) => word.startsWith('--'))

/** A child that does not end by itself within this time is killed. */
const STOP_MS = 15_000

/** When a child's warm-up begins, and the ends of the time in which it measures. */
export type Moment = 'warm' | 'begin' | 'end'

/** Tells the parent that such a moment has come. */
export type Tell = (moment: Moment) => void

type Reply<Result> = { readonly result: Result } | { readonly error: string }
type Message<Result> = Reply<Result> | { readonly moment: Moment }

/** A running child. */
export interface BenchProcess<Question, Answer> {
  readonly pid: number
  /**
   * Asks and waits. One question at a time. `onMoment` is called while the child works, by a child that tells.
   *
   * @throws what the child threw, as text; or when the child ends instead
   */
  ask(question: Question, onMoment?: Tell): Promise<Answer>
  stop(): Promise<void>
}

/**
 * Starts a file of the bench as a child; it must call `answerParent`.
 *
 * @param output the file descriptor its standard output goes to; what the service logs costs something, so it is
 * written
 *   as it would be in life.
 */
export function startProcess<Question, Answer>(
  file: string,
  output: number | 'inherit' = 'inherit',
): BenchProcess<Question, Answer> {
  const child = fork(file, {
    stdio: ['ignore', output, 'inherit', 'ipc'],
    execArgv: START_FLAGS,
    serialization: 'advanced',
  })
  const pid = child.pid as number
  return {
    pid,
    async ask(question, onMoment = () => undefined) {
      const reply = await nextReply<Answer>(child, { file, onMoment, send: () => child.send(question as object) })
      if ('error' in reply) throw new Error(`${file}: ${reply.error}`)
      return reply.result
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      const patience = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      await gone
      clearTimeout(patience)
    },
  }
}

async function nextReply<Answer>(
  child: ChildProcess,
  { file, onMoment, send }: { readonly file: string; readonly onMoment: Tell; readonly send: () => void },
): Promise<Reply<Answer>> {
  return await new Promise((resolve, reject) => {
    const onMessage = (received: unknown): void => {
      const message = received as Message<Answer>
      if ('moment' in message) {
        onMoment(message.moment)
        return
      }
      child.off('message', onMessage)
      child.off('exit', onExit)
      resolve(message)
    }
    const onExit = (code: number | null, signal: string | null): void => {
      child.off('message', onMessage)
      reject(new Error(`${file} ended (${signal ?? code}) without an answer.`))
    }
    child.on('message', onMessage)
    child.once('exit', onExit)
    send()
  })
}

/**
 * The child's side: answers every message, and ends on SIGTERM or when the parent is gone.
 *
 * @param close releases what the answers have opened; the process ends by itself after it.
 */
export function answerParent<Question, Answer>(
  answer: (question: Question, tell: Tell) => Promise<Answer>,
  close?: () => Promise<void>,
): void {
  const post = (message: Message<Answer>): void => {
    if (process.connected) process.send!(message)
  }
  process.on('message', (question) => {
    answer(question as Question, (moment) => post({ moment })).then(
      (result) => post({ result }),
      (error: unknown) => post({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    )
  })
  let closing = false
  const end = async (): Promise<void> => {
    if (closing) return
    closing = true
    await close?.()
    if (process.connected) process.disconnect!()
  }
  process.once('SIGTERM', () => void end())
  // Ctrl-C reaches the whole group; the parent decides when its children end.
  process.on('SIGINT', () => undefined)
  process.once('disconnect', () => void end())
}

/**
 * Tells the moments of a measurement whose warm-up begins now, and that takes `seconds` after it.
 *
 * @returns ends it early: a beginning that was not told by then is not told any more; an end after a beginning is
 */
export function tellMeasurement(
  tell: Tell,
  { warmupSeconds, seconds }: { readonly warmupSeconds: number; readonly seconds: number },
): Disposable {
  let measuring = false
  tell('warm')
  const timers = [
    setTimeout(() => {
      measuring = true
      tell('begin')
    }, warmupSeconds * 1000),
    setTimeout(
      () => {
        measuring = false
        tell('end')
      },
      (warmupSeconds + seconds) * 1000,
    ),
  ]
  return {
    [Symbol.dispose]() {
      for (const timer of timers) clearTimeout(timer)
      if (measuring) tell('end')
    },
  }
}

/**
 * Processes of the bench: a parent that asks, children that answer one message at a time. Servers under test, baselines
 * and the load generator each run in one, so that none of them shares an event loop with another.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpuTime } from './cpu-time.ts'

/** A child that does not end by itself within this time is killed. */
const STOP_MS = 15_000

type Reply<Result> = { readonly result: Result } | { readonly error: string }

/** A running child. */
export interface BenchProcess<Question, Answer> {
  readonly pid: number
  /** Asks and waits. One question at a time. @throws what the child threw, as text; or when the child ends instead */
  ask(question: Question): Promise<Answer>
  /** Processor time used so far, seconds, all threads together. */
  cpuSeconds(): number
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
  const child = fork(file, { stdio: ['ignore', output, 'inherit', 'ipc'], execArgv: [], serialization: 'advanced' })
  const pid = child.pid as number
  return {
    pid,
    async ask(question) {
      const reply = await nextMessage<Reply<Answer>>(child, file, () => child.send(question as object))
      if ('error' in reply) throw new Error(`${file}: ${reply.error}`)
      return reply.result
    },
    cpuSeconds: () => cpuTime(pid),
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

async function nextMessage<Message>(child: ChildProcess, file: string, send: () => void): Promise<Message> {
  return await new Promise((resolve, reject) => {
    const onMessage = (message: unknown): void => {
      child.off('exit', onExit)
      resolve(message as Message)
    }
    const onExit = (code: number | null, signal: string | null): void => {
      child.off('message', onMessage)
      reject(new Error(`${file} ended (${signal ?? code}) without an answer.`))
    }
    child.once('message', onMessage)
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
  answer: (question: Question) => Promise<Answer>,
  close?: () => Promise<void>,
): void {
  const reply = (message: Reply<Answer>): void => {
    if (process.connected) process.send!(message)
  }
  process.on('message', (question) => {
    answer(question as Question).then(
      (result) => reply({ result }),
      (error: unknown) => reply({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
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

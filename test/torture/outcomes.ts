/** The outcomes of commands as the clients know them (C1), and the report of violations. */
import { ANSWERS, classOf, type Call, type Command, type History } from './history.ts'

export interface Violation {
  readonly rule: 'C1' | 'C2' | 'C3' | 'C4' | 'C5'
  readonly what: string
  readonly evidence: unknown
}

export type Report = (rule: Violation['rule'], what: string, evidence: unknown) => void

/** The outcome of one command as its client knows it. */
export interface Outcome {
  readonly calls: readonly Call[]
  /** The first final answer to arrive. */
  readonly final: Call | null
  readonly yes: boolean
  readonly no: boolean
  readonly firstStart: number
}

export type Outcomes = ReadonlyMap<string, Outcome>

/** C1 */
export function outcomesOf({ commands, calls }: History, report: Report): Outcomes {
  const byKey = Map.groupBy(calls, ({ key }) => key)
  const outcomes = new Map<string, Outcome>()
  for (const { key, kind } of commands) {
    if (outcomes.has(key)) report('C1', 'a key was used for two commands', { key })
    outcomes.set(key, outcomeOf(kind, byKey.get(key) ?? [], report))
  }
  for (const key of byKey.keys()) if (!outcomes.has(key)) report('C1', 'a call of no command', { key })
  return outcomes
}

function outcomeOf(kind: Command['kind'], calls: readonly Call[], report: Report): Outcome {
  const finals: Call[] = []
  for (const call of calls) {
    switch (classOf(kind, call)) {
      case 'final':
        finals.push(call)
        break
      case 'later':
        if ((call.status === 503 || call.status === 429) && !call.retryAfter)
          report('C1', `a ${call.status} without Retry-After`, call)
        break
      case 'unexpected':
        report('C1', 'an answer that no fault excuses', call)
    }
  }
  finals.sort((a, b) => a.end - b.end)
  const final = finals[0] ?? null
  const other = finals.find(({ status, answer }) => status !== final?.status || answer !== final.answer)
  if (other !== undefined) report('C1', 'a key has two final answers', { first: final, other })
  const yes = final?.status === ANSWERS[kind].yes
  return {
    calls,
    final,
    yes,
    no: final !== null && !yes,
    firstStart: calls.reduce((first, { start }) => Math.min(first, start), Infinity),
  }
}

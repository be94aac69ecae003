/**
 * The parts that histories share: thousands of commands from many clients at once, drawn from a seed, to either of two
 * nodes or to both at the same moment.
 *
 *   SEED=123 npm test -- test/histories
 *
 * The seed decides what is said; when exactly the machine hears it it cannot decide, so a failure may need a few runs.
 */
import { Overloaded } from '../../actors/runtime/lane.ts'
import type { CommandBytes } from '../../lib/commands/command.ts'
import type { ManualClock } from '../../lib/base/clock.ts'
import { ProblemError, type ProblemSlug } from '../../lib/base/problems.ts'
import type { Random } from '../support/random.ts'

/** Two in the ordinary run, or the one that is asked for. */
export const SEEDS: readonly number[] = process.env['SEED'] === undefined ? [1, 2] : [Number(process.env['SEED'])]

/** Says so many words, so many askers at a time; the clock moves by a moment with each. */
export async function tell(
  { words, askers, clock }: { readonly words: number; readonly askers: number; readonly clock: ManualClock },
  next: () => Promise<void>,
): Promise<void> {
  let left = words
  await Promise.all(
    Array.from({ length: askers }, async () => {
      while (left-- > 0) {
        clock.advance(1)
        await next()
      }
    }),
  )
}

/** Picks one of the nodes; half of the time all of them get the command at once. */
export function hearers<Node>(random: Random, nodes: readonly Node[]): readonly Node[] {
  return random.chance(0.5) ? nodes : [random.pick(nodes)]
}

/** Two nodes that lose to each other too often say so; nothing was done. */
export function overloaded(error: unknown): null {
  if (error instanceof Overloaded) return null
  throw error
}

/** How often each word was heard, and how often it was refused, by name. */
export class Tally {
  readonly #counts = new Map<string, number>()

  add(what: string, by = 1): void {
    this.#counts.set(what, this.of(what) + by)
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0
  }

  toString(): string {
    return JSON.stringify(Object.fromEntries([...this.#counts].sort()))
  }
}

/**
 * What people ask for: a yes is counted by its name, a no of these kinds as well, thrown or kept under its key; any
 * other no is a bug.
 *
 * @returns what was answered; null for a no
 */
export async function asked<Answer>(
  tally: Tally,
  what: string,
  refusals: readonly ProblemSlug[],
  ask: () => Promise<Answer>,
): Promise<Answer | null> {
  const refused = (slug: string): null => {
    tally.add(`${what} ${slug}`)
    return null
  }
  try {
    const answer = await ask()
    const { status, body }: Partial<CommandBytes> = answer ?? {}
    if (typeof status === 'number' && status >= 400) {
      const { code } = JSON.parse(body!) as { readonly code: ProblemSlug }
      if (!refusals.includes(code)) throw new Error(`${what} was answered with ${body}`)
      return refused(code)
    }
    tally.add(what)
    return answer
  } catch (error) {
    if (!(error instanceof ProblemError) || !refusals.includes(error.problem.slug)) throw error
    return refused(error.problem.slug)
  }
}

/** A change of a status, as events and trails tell it: where from (empty: it was made) and where to. */
export type Change = readonly [object: string, from: string, to: string]

/**
 * What is wrong with the changes of one kind of thing: one that its table does not have, and things whose changes, in
 * some order, do not lead from nothing to what they are now, each begun where another ended.
 */
export function faultsOf(
  changes: readonly Change[],
  legal: ReadonlySet<string>,
  now: ReadonlyMap<string, string>,
): readonly string[] {
  const faults = changes
    .filter(([, from, to]) => !legal.has(`${from}→${to}`))
    .map(([id, from, to]) => `${id} ${from}→${to}`)
  const balance = new Map<string, number>()
  const add = (id: string, status: string, by: number): void => {
    balance.set(`${id} ${status}`, (balance.get(`${id} ${status}`) ?? 0) + by)
  }
  for (const [id, status] of now) {
    add(id, '', 1)
    add(id, status, -1)
  }
  for (const [id, from, to] of changes) {
    add(id, from, -1)
    add(id, to, 1)
  }
  return [...faults, ...[...balance].filter(([, left]) => left !== 0).map(([what, left]) => `${what}: ${left}`)]
}

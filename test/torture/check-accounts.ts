/** Balances, each as an account that changes and is looked at (C3). */
import { isPrompt } from './check-money.ts'
import { problemOf, type Books, type Change, type Decided, type History, type Wanted } from './history.ts'
import type { Outcome, Outcomes, Report } from './outcomes.ts'

/** An account between two transactions that changed it. */
interface Moment {
  readonly from: number
  until: number
  readonly posted: bigint
  readonly held: bigint
}

/** A no that tells what was there, and when it was decided. */
interface Denial {
  readonly wanted: Wanted
  readonly answer: string
  readonly decision: Pick<Decided, 'transaction' | 'at'>
}

export function checkAccounts(
  history: History,
  books: Books,
  outcomes: Outcomes,
  toleranceMs: number,
  report: Report,
): void {
  const { looks } = history
  checkClosed(history, books, toleranceMs, report)
  const asked = askedAt(history, outcomes)
  checkTimes(history, books, outcomes, asked, toleranceMs, report)
  const changes = Map.groupBy(books.changes, ({ balanceId }) => balanceId)
  const denied = Map.groupBy(denialsOf(history, books, outcomes), ({ wanted }) => wanted.from)
  const taken = takenIn(books)
  const seen = Map.groupBy(looks, ({ balanceId }) => balanceId)
  for (const balance of books.balances) {
    const moments = momentsOf(balance.id, changes.get(balance.id) ?? [], report)
    const last = moments.at(-1) as Moment
    if (last.posted !== balance.posted || last.held !== balance.held)
      report('C3', 'a balance is not what its history makes of it', { balance, last })
    for (const denial of denied.get(balance.id) ?? [])
      checkDenial(denial, asked.get(denial.wanted.name) as number, moments, taken, toleranceMs, report)
    for (const look of seen.get(balance.id) ?? []) {
      const possible = momentsWithin(moments, look.start - toleranceMs, look.end + toleranceMs)
      if (!possible.some(({ posted, held }) => posted === look.posted && held === look.held)) {
        report('C3', 'somebody saw a balance that it had at no moment while they looked', {
          look,
          possible: possible.slice(-20),
        })
      }
    }
  }
}

/** No money comes to a balance whose owner was told that it is closed, and none leaves it. */
function checkClosed({ closings }: History, { changes }: Books, toleranceMs: number, report: Report): void {
  for (const closing of closings) {
    const late = changes.filter(
      ({ balanceId, at }) => balanceId === closing.balanceId && at > closing.from + toleranceMs,
    )
    if (late.length > 0) report('C3', 'a closed balance has moved', { closing, late })
  }
}

/** When money was first asked for, by its name: the same may be wanted again. */
function askedAt({ commands }: History, outcomes: Outcomes): ReadonlyMap<string | null, number> {
  const asked = new Map<string, number>()
  for (const { key, wants } of commands) {
    const { firstStart } = outcomes.get(key) as Outcome
    for (const { name } of wants) asked.set(name, Math.min(asked.get(name) ?? Infinity, firstStart))
  }
  return asked
}

/** A command is decided between its question and its answer; what it promises comes after the question. */
function checkTimes(
  { commands }: History,
  { decisions, effects }: Books,
  outcomes: Outcomes,
  asked: ReadonlyMap<string | null, number>,
  toleranceMs: number,
  report: Report,
): void {
  const decided = new Map(decisions.map((decision) => [decision.key, decision]))
  for (const command of commands) {
    const { final, firstStart } = outcomes.get(command.key) as Outcome
    const decision = decided.get(command.key)
    if (
      decision !== undefined &&
      (decision.at < firstStart - toleranceMs || (final !== null && decision.at > final.end + toleranceMs))
    ) {
      report('C3', 'a command was decided before it was asked or after it was answered', {
        command,
        decision,
        firstStart,
        final,
      })
    }
  }
  for (const effect of effects)
    if (effect.at < (asked.get(effect.name) ?? -Infinity) - toleranceMs)
      report('C3', 'money moved before anybody asked for it', { effect, asked: asked.get(effect.name) })
}

/** The commands refused for want of funds: by their answer, or later, where the answer was kept. */
function denialsOf({ commands }: History, { decisions, failures }: Books, outcomes: Outcomes): Denial[] {
  const decided = new Map(decisions.map((decision) => [decision.key, decision]))
  const prompt = commands.filter(isPrompt).flatMap((command): Denial[] => {
    const { final } = outcomes.get(command.key) as Outcome
    const decision = decided.get(command.key)
    return final === null || decision === undefined
      ? []
      : command.wants.map((wanted) => ({ wanted, answer: final.answer, decision }))
  })
  const promised = new Map(
    commands
      .filter((command) => !isPrompt(command))
      .flatMap(({ wants }) => wants)
      .map((wanted) => [wanted.name, wanted]),
  )
  const later = failures.flatMap(({ name, answer, transaction, at }): Denial[] => {
    const wanted = promised.get(name)
    return wanted === undefined || answer === null || transaction === undefined || at === undefined
      ? []
      : [{ wanted, answer, decision: { transaction, at } }]
  })
  return [...prompt, ...later].filter(({ answer }) => problemOf(answer)?.code === 'insufficient-funds')
}

/** The amounts taken from a balance within a transaction, change by change; credits are negative. */
function takenIn({ changes }: Books): (balanceId: string, transaction: string) => bigint[] {
  const byTransaction = Map.groupBy(changes, ({ transaction }) => transaction)
  return (balanceId, transaction) =>
    (byTransaction.get(transaction) ?? []).flatMap(({ balanceId: id, posted, held }) =>
      id === balanceId && held !== posted ? [held - posted] : [],
    )
}

function checkDenial(
  { wanted, answer, decision }: Denial,
  asked: number,
  moments: readonly Moment[],
  takenBy: ReturnType<typeof takenIn>,
  toleranceMs: number,
  report: Report,
): void {
  const problem = problemOf(answer)
  const available = BigInt(problem?.available?.amountMinor ?? -1)
  const required = BigInt(problem?.required?.amountMinor ?? -1)
  if ((required !== wanted.amount && required !== wanted.or) || available >= required) {
    report('C3', 'a no for want of funds that were there', { wanted, answer })
    return
  }
  // Decided one after the other on what was read: yeses before it in the same transaction have taken theirs, or brought
  // it.
  const taken = partialSums(takenBy(wanted.from as string, decision.transaction))
  const possible = momentsWithin(moments, asked - toleranceMs, decision.at + toleranceMs)
  if (!possible.some(({ posted, held }) => taken.has(posted - held - available))) {
    report('C3', 'a no tells of funds that the balance had at no moment between the question and the answer', {
      wanted,
      answer,
      asked,
      decision,
      taken: [...taken].slice(0, 100),
      moments: possible.slice(-20),
    })
  }
}

/** The account from its beginning on, transaction by transaction. */
function momentsOf(balanceId: string, changes: readonly Change[], report: Report): Moment[] {
  const moments: Moment[] = [{ from: -Infinity, until: Infinity, posted: 0n, held: 0n }]
  const transactions = [...Map.groupBy(changes, ({ transaction }) => transaction).values()].sort(
    ([a], [b]) =>
      (a as Change).at - (b as Change).at ||
      Number((firstLine([a as Change]) ?? 0n) - (firstLine([b as Change]) ?? 0n)),
  )
  let sequence = 0n
  for (const transaction of transactions) {
    const before = moments.at(-1) as Moment
    let { posted, held } = before
    let running = before.posted
    const lines = transaction
      .filter(({ line }) => line !== null)
      .sort((a, b) => Number(a.line!.sequence - b.line!.sequence))
    for (const { line, posted: change } of lines) {
      if (line!.sequence !== sequence + 1n)
        report('C3', 'the lines of a balance are not numbered in the order of their transactions', {
          balanceId,
          line,
          after: sequence,
        })
      sequence = line!.sequence
      running += change
      if (line!.running !== running)
        report('C3', 'a line does not continue from the one before it', { balanceId, line, expected: running })
      running = line!.running
    }
    for (const change of transaction) {
      posted += change.posted
      held += change.held
    }
    if (held < 0n || posted - held < 0n)
      report('C3', 'a balance fell below zero', { balanceId, posted, held, transaction })
    const { at } = transaction[0] as Change
    before.until = at
    moments.push({ from: at, until: Infinity, posted, held })
  }
  return moments
}

/** The possible sums of these amounts. The few of one balance in one transaction have few sums. */
function partialSums(amounts: readonly bigint[]): ReadonlySet<bigint> {
  const sums = new Set([0n])
  for (const amount of amounts) for (const sum of [...sums]) sums.add(sum + amount)
  return sums
}

const firstLine = (changes: readonly Change[]): bigint | undefined =>
  changes.find(({ line }) => line !== null)?.line?.sequence

/**
 * The moments of which some instant lies between the two times. They are in order, so the first is searched by halves.
 */
function momentsWithin(moments: readonly Moment[], start: number, end: number): Moment[] {
  let low = 0
  let high = moments.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((moments[middle] as Moment).until < start) low = middle + 1
    else high = middle
  }
  const within: Moment[] = []
  for (let i = low; i < moments.length && (moments[i] as Moment).from <= end; i++) within.push(moments[i] as Moment)
  return within
}

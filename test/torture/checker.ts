/**
 * The judge of a torture: given everything that clients sent and heard, and everything that the books say, it lists what
 * cannot both be true. Pure, so that it is tested itself with made-up histories, good and bad.
 *
 * What it holds the service to
 *  * C1 A key has one final answer for ever, byte for byte; everything else is 503 with Retry-After, 409 or no answer.
 *  * C2 acknowledged ⊆ journal ⊆ acknowledged ∪ unknown: what was answered yes is there once, and what is there was
 *    answered yes or not at all. A no never moved money. A quote is used once, and nobody is told that it was when it was not.
 *  * C3 Every balance is one that a single account could have had: its changes in the order in which they were committed
 *    number their lines without a gap, continue each other's running balance and never fall below zero; whatever was
 *    decided was decided between the question and the answer; a no told what was available at a moment between the two;
 *    and so did whoever looked at the balance.
 *  * C4 Every change of a status has exactly one event, and every payment and exchange ends as its trigger says.
 *
 * Times are epoch milliseconds of one machine: the clients' and those of the commits (Postgres, track_commit_timestamp).
 */

export interface Command {
  readonly key: string
  readonly kind: 'payment' | 'transfer' | 'exchange'
  readonly from: string
  /** The balance credited by a transfer, or by an exchange in the end; null for a payment. */
  readonly to: string | null
  /** What leaves the balance; of an exchange what is sold. */
  readonly amount: bigint
  /** How a payment or an exchange ends. */
  readonly ends: 'completed' | 'failed' | 'returned' | 'exception'
  /** What an exchange is made from. */
  readonly quoteId?: string
}

/** One sending of a command, and what came back. */
export interface Call {
  readonly key: string
  readonly node: string
  readonly start: number
  readonly end: number
  /** Null: no answer. */
  readonly status: number | null
  readonly answer: string
  readonly retryAfter: boolean
}

/** What somebody saw who looked at a balance. */
export interface Look {
  readonly balanceId: string
  readonly node: string
  readonly start: number
  readonly end: number
  readonly posted: bigint
  readonly held: bigint
}

export interface History {
  readonly commands: readonly Command[]
  readonly calls: readonly Call[]
  readonly looks: readonly Look[]
}

/** What a transaction changed about a balance: one line of its journal, or a hold. */
export interface Change {
  readonly balanceId: string
  /** The transaction, and when it was committed. */
  readonly transaction: string
  readonly at: number
  readonly posted: bigint
  readonly held: bigint
  /** Null for a hold. */
  readonly line: { readonly sequence: bigint; readonly running: bigint } | null
}

/** A decided command, yes or no, as it is remembered. In which order those of a transaction were decided is not written down. */
export interface Decided {
  readonly key: string
  readonly transaction: string
  readonly at: number
  readonly yes: boolean
}

/** A payment, transfer or exchange in the books. */
export interface Effect {
  readonly id: string
  readonly key: string | null
  readonly kind: Command['kind']
  readonly from: string
  readonly to: string | null
  readonly amount: bigint
  readonly status: string
}

export interface Books {
  readonly balances: readonly { readonly id: string; readonly posted: bigint; readonly held: bigint }[]
  readonly effects: readonly Effect[]
  readonly changes: readonly Change[]
  readonly decisions: readonly Decided[]
  readonly updates: readonly { readonly objectId: string; readonly version: number; readonly previous: string | null; readonly status: string }[]
  readonly events: readonly { readonly objectId: string; readonly type: string; readonly status: string }[]
}

export interface Violation {
  readonly rule: 'C1' | 'C2' | 'C3' | 'C4'
  readonly what: string
  readonly evidence: unknown
}

export interface Verdict {
  readonly violations: readonly Violation[]
  readonly commands: number
  readonly acknowledged: number
  readonly refused: number
  /** Commands whose outcome the clients never learned. */
  readonly unknown: number
  readonly looks: number
}

/**
 * @param toleranceMs how far a commit's own time may lie from the moment at which everybody can see it: a backend that
 *   was not given the processor in between.
 */
export function check(history: History, books: Books, toleranceMs = 0): Verdict {
  const violations: Violation[] = []
  const report = (rule: Violation['rule'], what: string, evidence: unknown) => { violations.push({ rule, what, evidence }) }
  const outcomes = outcomesOf(history, report)
  checkEffects(history, books, outcomes, report)
  checkAccounts(history, books, outcomes, toleranceMs, report)
  checkStatuses(history, books, report)
  const count = (is: (outcome: Outcome) => boolean) => [...outcomes.values()].filter(is).length
  return {
    violations,
    commands: history.commands.length,
    acknowledged: count(({ final }) => final?.status === 201),
    refused: count(({ final }) => final !== null && final.status !== 201),
    unknown: count(({ final }) => final === null),
    looks: history.looks.length,
  }
}

type Report = (rule: Violation['rule'], what: string, evidence: unknown) => void

/** What the clients know of one command. */
interface Outcome {
  readonly calls: readonly Call[]
  /** The first final answer to arrive. */
  readonly final: Call | null
  readonly firstStart: number
}

/** C1 */
function outcomesOf({ commands, calls }: History, report: Report): Map<string, Outcome> {
  const byKey = Map.groupBy(calls, ({ key }) => key)
  const outcomes = new Map<string, Outcome>()
  for (const { key } of commands) {
    if (outcomes.has(key)) report('C1', 'a key was used for two commands', { key })
    const own = byKey.get(key) ?? []
    const finals: Call[] = []
    for (const call of own) {
      switch (classOf(call)) {
        case 'final': finals.push(call); break
        case 'later': if (call.status === 503 && !call.retryAfter) report('C1', 'a 503 without Retry-After', call); break
        case 'unexpected': report('C1', 'an answer that no fault excuses', call)
      }
    }
    finals.sort((a, b) => a.end - b.end)
    const final = finals[0] ?? null
    const other = finals.find(({ status, answer }) => status !== final?.status || answer !== final.answer)
    if (other !== undefined) report('C1', 'a key has two final answers', { first: final, other })
    outcomes.set(key, { calls: own, final, firstStart: own.reduce((first, { start }) => Math.min(first, start), Infinity) })
  }
  for (const key of byKey.keys()) if (!outcomes.has(key)) report('C1', 'a call of no command', { key })
  return outcomes
}

/** What a command may be refused with: funds, and of an exchange its quote, whose time was over or which another had used. */
const NOES: ReadonlySet<string> = new Set(['insufficient-funds', 'quote-expired', 'invalid-transition'])

/** Final: decided, and remembered so. Later: the same request may be sent again. */
export function classOf({ status, answer }: Pick<Call, 'status' | 'answer'>): 'final' | 'later' | 'unexpected' {
  if (status === null || status === 503) return 'later'
  if (status === 201) return 'final'
  const code = problemOf(answer)?.code ?? ''
  if (NOES.has(code)) return 'final'
  return code === 'idempotency-key-in-use' ? 'later' : 'unexpected'
}

interface ProblemAnswer {
  readonly code?: string
  readonly available?: { readonly amountMinor: string }
  readonly required?: { readonly amountMinor: string }
}

function problemOf(answer: string): ProblemAnswer | null {
  try {
    return JSON.parse(answer) as ProblemAnswer
  } catch {
    // Not JSON: certainly no answer of ours.
    return null
  }
}

/** C2 */
function checkEffects({ commands }: History, { effects, decisions }: Books, outcomes: ReadonlyMap<string, Outcome>, report: Report): void {
  const byKey = Map.groupBy(effects, ({ key }) => key)
  const decided = Map.groupBy(decisions, ({ key }) => key)
  const known = new Set(commands.map(({ key }) => key))
  for (const effect of effects) if (effect.key === null || !known.has(effect.key)) report('C2', 'money moved for nobody', effect)
  for (const command of commands) {
    const { final, calls } = outcomes.get(command.key) as Outcome
    const made = byKey.get(command.key) ?? []
    if (made.length > 1) report('C2', 'one key has moved money more than once', { command, made })
    const [effect] = made
    if (final?.status === 201 && effect === undefined) report('C2', 'what was acknowledged is not there', { command, final })
    if (final !== null && final.status !== 201 && effect !== undefined) report('C2', 'what was refused has moved money', { command, final, effect })
    if (effect !== undefined && calls.length === 0) report('C2', 'what was never sent has moved money', { command, effect })
    if (effect !== undefined && final?.status === 201 && (JSON.parse(final.answer) as { id: string }).id !== effect.id) {
      report('C2', 'the answer names another resource than the one that was made', { command, final, effect })
    }
    if (effect !== undefined && (effect.kind !== command.kind || effect.from !== command.from || effect.to !== command.to || effect.amount !== command.amount)) {
      report('C2', 'what was made is not what was asked for', { command, effect })
    }
    const records = decided.get(command.key) ?? []
    if (records.length > 1) report('C2', 'a key was decided twice', { command, records })
    const [record] = records
    if (final !== null && record === undefined) report('C2', 'an answer was given that is not remembered', { command, final })
    if (final !== null && record !== undefined && record.yes !== (final.status === 201)) report('C2', 'what is remembered is not what was answered', { command, final, record })
    if ((record?.yes ?? false) !== (effect !== undefined)) report('C2', 'what is remembered is not what was done', { command, record, effect })
  }
  for (const [quoteId, of] of Map.groupBy(commands.filter((command) => command.quoteId !== undefined), (command) => command.quoteId)) {
    const used = of.filter(({ key }) => byKey.has(key))
    if (used.length > 1) report('C2', 'a quote was used twice', { quoteId, used })
    const told = of.find(({ key }) => problemOf(outcomes.get(key)?.final?.answer ?? '')?.code === 'invalid-transition')
    if (told !== undefined && used.length === 0) report('C2', 'a quote was said to be used that nobody has used', { quoteId, told })
  }
}

/** An account between two transactions that changed it. */
interface Moment {
  readonly from: number
  until: number
  readonly posted: bigint
  readonly held: bigint
}

/** C3 */
function checkAccounts({ commands, looks }: History, books: Books, outcomes: ReadonlyMap<string, Outcome>, toleranceMs: number, report: Report): void {
  const changes = Map.groupBy(books.changes, ({ balanceId }) => balanceId)
  const decided = new Map(books.decisions.map((decision) => [decision.key, decision]))
  const ofBalance = Map.groupBy(commands, ({ from }) => from)
  const seen = Map.groupBy(looks, ({ balanceId }) => balanceId)
  for (const balance of books.balances) {
    const moments = momentsOf(balance.id, changes.get(balance.id) ?? [], report)
    const last = moments.at(-1) as Moment
    if (last.posted !== balance.posted || last.held !== balance.held) report('C3', 'a balance is not what its history makes of it', { balance, last })
    const accepted = Map.groupBy((ofBalance.get(balance.id) ?? []).filter(({ key }) => decided.get(key)?.yes === true), ({ key }) => (decided.get(key) as Decided).transaction)
    for (const command of ofBalance.get(balance.id) ?? []) {
      const outcome = outcomes.get(command.key) as Outcome
      const decision = decided.get(command.key)
      if (decision === undefined) continue
      const { final, firstStart } = outcome
      if (decision.at < firstStart - toleranceMs || (final !== null && decision.at > final.end + toleranceMs)) {
        report('C3', 'a command was decided before it was asked or after it was answered', { command, decision, firstStart, final })
      }
      if (final === null || final.status === 201) continue
      const problem = problemOf(final.answer)
      if (problem?.code !== 'insufficient-funds') continue
      const available = BigInt(problem?.available?.amountMinor ?? -1)
      if (BigInt(problem?.required?.amountMinor ?? -1) !== command.amount || available >= command.amount) {
        report('C3', 'a no for want of funds that were there', { command, final })
        continue
      }
      // Decided one after the other on what was read: yeses before it in the same transaction have taken theirs.
      const taken = partialSums((accepted.get(decision.transaction) ?? []).map(({ amount }) => amount))
      if (!momentsWithin(moments, firstStart - toleranceMs, decision.at + toleranceMs).some(({ posted, held }) => taken.has(posted - held - available))) {
        report('C3', 'a no tells of funds that the balance had at no moment between the question and the answer', {
          command, final, decision, taken: [...taken], moments: momentsWithin(moments, firstStart - toleranceMs, decision.at + toleranceMs).slice(-20) })
      }
    }
    for (const look of seen.get(balance.id) ?? []) {
      const possible = momentsWithin(moments, look.start - toleranceMs, look.end + toleranceMs)
      if (!possible.some(({ posted, held }) => posted === look.posted && held === look.held)) {
        report('C3', 'somebody saw a balance that it had at no moment while they looked', { look, possible: possible.slice(-20) })
      }
    }
  }
}

/** The account from its beginning on, transaction by transaction. */
function momentsOf(balanceId: string, changes: readonly Change[], report: Report): Moment[] {
  const moments: Moment[] = [{ from: -Infinity, until: Infinity, posted: 0n, held: 0n }]
  const transactions = [...Map.groupBy(changes, ({ transaction }) => transaction).values()]
    .sort(([a], [b]) => (a as Change).at - (b as Change).at || Number((firstLine([a as Change]) ?? 0n) - (firstLine([b as Change]) ?? 0n)))
  let sequence = 0n
  for (const transaction of transactions) {
    const before = moments.at(-1) as Moment
    let { posted, held } = before
    let running = before.posted
    const lines = transaction.filter(({ line }) => line !== null).sort((a, b) => Number(a.line!.sequence - b.line!.sequence))
    for (const { line, posted: change } of lines) {
      if (line!.sequence !== sequence + 1n) report('C3', 'the lines of a balance are not numbered in the order of their transactions', { balanceId, line, after: sequence })
      sequence = line!.sequence
      running += change
      if (line!.running !== running) report('C3', 'a line does not continue from the one before it', { balanceId, line, expected: running })
      running = line!.running
    }
    for (const change of transaction) { posted += change.posted; held += change.held }
    if (held < 0n || posted - held < 0n) report('C3', 'a balance fell below zero', { balanceId, posted, held, transaction })
    const { at } = transaction[0] as Change
    before.until = at
    moments.push({ from: at, until: Infinity, posted, held })
  }
  return moments
}

/** What any of these may come to together. The few of one balance in one transaction have few sums. */
function partialSums(amounts: readonly bigint[]): ReadonlySet<bigint> {
  const sums = new Set([0n])
  for (const amount of amounts) for (const sum of [...sums]) sums.add(sum + amount)
  return sums
}

const firstLine = (changes: readonly Change[]): bigint | undefined => changes.find(({ line }) => line !== null)?.line?.sequence

/** The moments of which some instant lies between the two times. They are in order, so the first is searched by halves. */
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

/** C4 */
function checkStatuses({ commands }: History, { effects, updates, events }: Books, report: Report): void {
  const count = <Row>(rows: readonly Row[], name: (row: Row) => string) => {
    const counts = new Map<string, number>()
    for (const row of rows) counts.set(name(row), (counts.get(name(row)) ?? 0) + 1)
    return counts
  }
  const kinds = new Map(effects.map(({ id, kind }) => [id, kind]))
  const expected = count(updates.flatMap(({ objectId, version, previous, status }) => {
    const kind = kinds.get(objectId) ?? 'payment'
    if (kind === 'transfer') return version === 1 ? [`${objectId} transfer.completed ${status}`] : []
    if (kind === 'exchange') return [`${objectId} exchange.status_changed ${status}`, ...(status === 'completed' ? [`${objectId} exchange.completed ${status}`] : [])]
    if (version === 1) return [`${objectId} payment.created ${status}`]
    if (previous === status) return []
    return [`${objectId} payment.status_changed ${status}`, ...(status === 'completed' || status === 'failed' || status === 'returned' ? [`${objectId} payment.${status} ${status}`] : [])]
  }), (name) => name)
  const sent = count(events, ({ objectId, type, status }) => `${objectId} ${type} ${status}`)
  for (const [name, times] of expected) if (sent.get(name) !== times) report('C4', 'a change of a status has not exactly its event', { name, changes: times, events: sent.get(name) ?? 0 })
  for (const [name, times] of sent) if (!expected.has(name)) report('C4', 'an event tells of no change', { name, events: times })

  const last = new Map<string, (typeof updates)[number]>()
  for (const update of updates) if ((last.get(update.objectId)?.version ?? 0) < update.version) last.set(update.objectId, update)
  const wanted = new Map(commands.map((command) => [command.key, command]))
  for (const effect of effects) {
    if (last.get(effect.id)?.status !== effect.status) report('C4', 'the last update is not the status', { effect, last: last.get(effect.id) })
    const ends = effect.key === null ? undefined : wanted.get(effect.key)?.ends
    if (ends !== undefined && effect.status !== (effect.kind === 'transfer' ? 'completed' : ends)) {
      report('C4', 'a payment did not end as its trigger says', { effect, ends })
    }
  }
}

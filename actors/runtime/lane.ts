/**
 * A commit lane: one connection to Postgres, one commit in flight, and the actors of the shards that belong to this
 * lane.
 *
 * Promises:
 *  * I1: no ask is answered before the transaction that justifies the answer has committed.
 *  * I3: a turn that was decided on a stale version is decided again on fresh state; the other turns are sent again. An
 *    activation whose row has other writers too is loaded under lock, so it makes progress with any number of writers.
 *  * I7: a connection lost during a commit answers OutcomeUnknown and repeats nothing.
 *  * A command that throws while it is decided fails alone. A command whose caller has given up is not decided.
 *  * Of commands that change one row, the first is committed: the others are left out of the commit, and learn of the
 *    conflict only when it has ended. Told at once, they would read the row as it was and meet the first again, for as
 *    long as they ask faster than it commits.
 *
 * Group commit: while a commit is in flight, asks gather in mailboxes. The next round decides all of them as late as
 * possible and writes them in one statement. A command that is alone commits at once; while commands come from many
 * callers, shared commits keep a pace (commit-pace.ts).
 *
 * Answers are sent while the next commit is in flight: rendering and sending a hundred answers takes this thread as
 * long as the commit takes Postgres, so doing both in turn would double the time.
 */
import { setImmediate as immediate } from 'node:timers/promises'
import type { Clock } from '../../lib/base/clock.ts'
import { OperatingError } from '../../lib/base/errors.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { commit, type Conflict } from '../../storage/sections/commit.ts'
import type { BalanceAfter } from '../../storage/balances/balance-section.ts'
import type { CommitConnection } from '../../storage/commit/turn.ts'
import { Connection } from '../../storage/db/connection.ts'
import type { Activation } from './activation.ts'
import type { Ask } from './actor.ts'
import { commitFailure, type Stage } from './commit-failure.ts'
import { CommitPace } from './commit-pace.ts'
import {
  commitTurnOf,
  isDecidedAgain,
  kindsInLockOrder,
  leaveOut,
  sortConflicts,
  takeTurns,
  type ConflictOutcome,
  type LateAsk,
  type Turn,
} from './turn.ts'

/** The service has more work than it can do; the caller may repeat the request with the same key. */
export class Overloaded extends OperatingError {
  override readonly name = 'Overloaded'
}

export interface LaneOptions {
  readonly databaseUrl: string
  readonly nth: number
  readonly clock: Clock
  /** A monotonic clock, milliseconds; absent: the machine's. */
  readonly monotonic?: (() => number) | undefined
  readonly onBug: (error: unknown, what: string) => void
  /** Called after each commit, before its answers are sent. */
  readonly onCommitted?: (() => void) | undefined
  /**
   * Called when a connection was replaced, before the new one reads anything. The callback must drop all state of this
   * lane's actors.
   */
  readonly onReconnected?: (() => void) | undefined
  /** Returns the activation of a balance when it is in memory. */
  readonly balanceInMemory: (id: string) => Activation | undefined
}

const NOTHING_TO_COMMIT = { ok: true, balances: [] } as const

export class Lane {
  readonly #options: LaneOptions
  #connection: Connection | undefined
  #wasConnected = false
  #ready: Activation[] = []
  #backlog = 0
  #running: Promise<void> | undefined
  readonly #pace: CommitPace
  /** The replies decided by the previous commit and not sent yet. */
  #pendingReplies: (() => void)[] = []
  /** Counts of commits and commands so far, for metrics and the bench. */
  readonly counters = { commits: 0, commands: 0, conflicts: 0 }

  constructor(options: LaneOptions) {
    this.#options = options
    this.#pace = new CommitPace(options.monotonic)
  }

  get backlog(): number {
    return this.#backlog
  }

  /** Queues one ask. @throws Overloaded when the mailbox or the lane is full; nothing was queued then (I8). */
  enqueue(activation: Activation, ask: Ask<unknown, unknown>): void {
    if (activation.waiting >= LIMITS.mailboxMax || this.#backlog >= LIMITS.laneBacklogMax) {
      throw new Overloaded('Too many requests are waiting; try again shortly.')
    }
    activation.put(ask)
    this.#backlog += 1
    this.#schedule(activation)
    this.#pace.arrived(this.#backlog)
  }

  /** Waits until everything that was queued has been answered, then closes the connection. */
  async close(): Promise<void> {
    while (this.#running !== undefined) await this.#running
    await this.#connection?.close()
    this.#connection = undefined
  }

  #schedule(activation: Activation): void {
    if (activation.scheduled) return
    activation.scheduled = true
    this.#ready.push(activation)
    this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    while (this.#ready.length > 0) {
      const pause = this.#pace.pause(this.#backlog)
      if (pause !== undefined) {
        this.#sendReplies()
        await pause
      }
      // Requests that have already arrived are read first, so that they share this commit.
      await immediate()
      const { turns, later } = takeTurns(this.#ready)
      this.#ready = later
      try {
        await this.#round(turns)
      } catch (error) {
        // #round answers every error that it expects. Any other error is a bug, and must not leave a caller waiting.
        this.#options.onBug(error, 'commit round')
        for (const turn of turns) this.#reject(turn, turn.asks, error as Error)
      }
      this.#release(turns)
    }
    this.#sendReplies()
    this.#running = undefined
    if (this.#ready.length > 0) this.#running = this.#run()
  }

  /**
   * Releases the activations of a round. Runs before the answers are sent, so that a caller that gets one may drop the
   * actor at once.
   */
  #release(turns: readonly Turn[]): void {
    for (const turn of turns) {
      if (turn.released) continue
      turn.released = true
      const { activation } = turn
      activation.scheduled = false
      if (activation.waiting > 0) this.#schedule(activation)
      else activation.isolated = 0
    }
  }

  async #round(turns: readonly Turn[]): Promise<void> {
    const underLock = turns[0]?.activation.contended ?? false
    let connection: Connection
    try {
      connection = await this.#connect()
    } catch (error) {
      this.#sendReplies()
      for (const turn of turns) this.#reject(turn, turn.asks, error as Error)
      return
    }
    let stage: Stage = 'reading'
    const wire: CommitConnection = {
      query: (statement) => {
        stage = 'sent'
        this.#pace.began()
        const result = connection.query(statement)
        this.#sendReplies()
        return result
      },
    }
    const late: LateAsk[] = []
    try {
      if (underLock) await connection.begin()
      for (let undecided = turns; ; ) {
        stage = 'reading'
        await this.#decide(connection, undecided, underLock)
        const committing = turns.filter((turn) => turn.decided.some(({ decision }) => decision.effects !== null))
        if (committing.length > 0) stage = 'encoding'
        const result =
          committing.length > 0
            ? await commit(wire, committing.map(commitTurnOf), this.#options.clock.now())
            : NOTHING_TO_COMMIT
        if (!result.ok && result.late) {
          const leftOut = leaveOut(committing, result.conflicts)
          late.push(...leftOut)
          undecided = [...new Set(leftOut.map(({ turn }) => turn))]
          continue
        }
        if (underLock) await connection.end(result.ok)
        this.#sendReplies()
        if (result.ok && committing.length > 0) this.#options.onCommitted?.()
        this.#answerLate(late)
        if (result.ok) this.#succeed(turns, committing, result.balances)
        else this.#resolveConflicts(turns, committing, result.conflicts)
        return
      }
    } catch (error) {
      this.#sendReplies()
      if (underLock && !connection.lost)
        await connection.end(false).catch(() => {
          /* The connection is replaced below. */
        })
      this.#answerLate(late)
      this.#fail(turns, error, stage, connection)
    }
  }

  /** Answers the commands that were left out of a commit which has ended, or puts them back into their mailboxes. */
  #answerLate(late: LateAsk[]): void {
    for (const { turn, ask, conflict } of late.splice(0)) {
      if (isDecidedAgain(turn, conflict)) {
        ask.attempts += 1
        this.#again(turn, [ask])
      } else this.#answer(ask, conflict)
    }
  }

  #answer(ask: Ask<unknown, unknown>, conflict: ConflictOutcome): void {
    this.#backlog -= 1
    ask.resolve(conflict)
  }

  /** Sends the replies decided by the previous commit. */
  #sendReplies(): void {
    const pendingReplies = this.#pendingReplies
    this.#pendingReplies = []
    for (const send of pendingReplies) send()
  }

  async #connect(): Promise<Connection> {
    if (this.#connection?.lost) {
      void this.#connection.close()
      this.#connection = undefined
    }
    if (this.#connection !== undefined) return this.#connection
    const connection = await Connection.open(this.#options.databaseUrl, `vostro lane ${this.#options.nth}`)
    // The new connection may lead to another server, which took over and lost the last commits: it may give out
    // versions again that memory already has, for other changes. State that was read through the old connection is
    // therefore dropped.
    if (this.#wasConnected) this.#options.onReconnected?.()
    this.#wasConnected = true
    return (this.#connection = connection)
  }

  /** Loads missing state and decides every turn; a refusal from memory is decided again on fresh state (I4). */
  async #decide(connection: Connection, turns: readonly Turn[], underLock: boolean): Promise<void> {
    let undecided = turns
    for (let fresh = underLock; undecided.length > 0; fresh = true) {
      const toLoad = fresh ? undecided : undecided.filter(({ activation }) => activation.state === undefined)
      const loaded = new Set(toLoad)
      await this.#load(connection, toLoad, underLock)
      undecided = undecided.filter((turn) => !this.#fold(turn) && !loaded.has(turn))
    }
  }

  async #load(connection: Connection, turns: readonly Turn[], underLock: boolean): Promise<void> {
    for (const kind of kindsInLockOrder(turns)) {
      const ofKind = turns.filter(({ activation }) => activation.kind.name === kind.name)
      const ids = ofKind.map(({ activation }) => activation.id)
      if (underLock)
        for (const { asks } of ofKind) for (const { command } of asks) ids.push(...(kind.credits?.(command) ?? []))
      const loading = kind.load(connection, ids, underLock)
      this.#sendReplies()
      const states = await loading
      for (const { activation } of ofKind) activation.state = states.get(activation.id) ?? null
    }
  }

  /** Decides one turn. @returns false when it contains a refusal that needs fresh state */
  #fold(turn: Turn): boolean {
    const { activation } = turn
    const now = this.#options.clock.now()
    let state = activation.state as unknown
    let refused = false
    turn.decided = []
    turn.fence = activation.kind.fence(state)
    for (const ask of turn.asks) {
      if (ask.deadline <= now) {
        // The caller has given up, and may send another request instead (I8).
        this.#reject(turn, [ask], new Overloaded('The request waited longer than it may; try again.'))
        continue
      }
      try {
        const decision = activation.kind.decide(state, ask.command, now)
        refused ||= decision.refused === true
        state = decision.state
        turn.decided.push({ ask, decision })
      } catch (error) {
        // A command that throws fails alone; the other commands of the turn do not.
        this.#options.onBug(error, `${activation.kind.name} ${activation.id}`)
        this.#reject(turn, [ask], error as Error)
      }
    }
    return !refused
  }

  #succeed(turns: readonly Turn[], committing: readonly Turn[], balances: readonly BalanceAfter[]): void {
    this.counters.commits += 1
    const before = this.counters.commands
    const decided = new Set(committing.map(({ fence }) => fence?.balanceId))
    for (const turn of turns) {
      const { activation } = turn
      activation.contended = false
      activation.isolated = Math.max(0, activation.isolated - turn.asks.length)
      // The absence of a row is not remembered: another writer may insert the row, and no message would tell this actor
      // (I4).
      activation.state = turn.decided.at(-1)?.decision.state ?? undefined
    }
    for (const after of balances) {
      const balance = this.#options.balanceInMemory(after.id)
      if (balance === undefined || balance.lane !== this || balance.state === undefined || balance.state === null)
        continue
      balance.state = balance.kind.committed?.(balance.state, after, decided.has(after.id))
    }
    this.#release(turns)
    for (const turn of turns) {
      this.counters.commands += turn.decided.length
      this.#backlog -= turn.decided.length
      for (const { ask, decision } of turn.decided)
        this.#pendingReplies.push(() => ask.resolve({ kind: 'decided', reply: decision.reply }))
    }
    if (committing.length > 0) this.#pace.ended(this.counters.commands - before, this.#backlog)
  }

  #resolveConflicts(turns: readonly Turn[], committing: readonly Turn[], conflicts: readonly Conflict[]): void {
    this.counters.conflicts += 1
    const { stale, answers } = sortConflicts(committing, conflicts)
    for (const [ask, conflict] of answers) this.#answer(ask, conflict)
    for (const turn of turns) {
      if (stale.has(turn)) {
        turn.activation.state = undefined
        const { onStale } = turn.activation.kind
        turn.activation.contended = onStale === 'lock'
        if (onStale === 'isolate') turn.activation.isolated ||= turn.asks.length
        for (const ask of turn.asks) ask.attempts += 1
      }
      this.#again(
        turn,
        turn.asks.filter((ask) => !answers.has(ask)),
      )
    }
  }

  #fail(turns: readonly Turn[], error: unknown, stage: Stage, connection: Connection): void {
    const failure = commitFailure(error, stage)
    if (failure.connectionLost) {
      void connection.close()
      this.#connection = undefined
    }
    for (const turn of turns) {
      turn.activation.state = undefined
      if (failure.answer !== null) this.#reject(turn, turn.asks, failure.answer)
      else if (failure.repeatable || !turn.activation.isolated) {
        // A fault of one command, such as a duplicate key, must not fail the other commands: from here on, each command
        // runs alone.
        const alone = turn.activation.isolated > 0
        if (!failure.lostRace) turn.activation.isolated ||= turn.asks.length
        for (const ask of turn.asks) ask.attempts += 1
        // The conflicting row is visible by now, so a duplicate that repeats is a bug, and is reported as one.
        this.#again(turn, turn.asks, alone && failure.duplicate ? (error as Error) : undefined)
      } else {
        this.#fault(turn, turn.asks, error as Error)
      }
    }
  }

  #again(turn: Turn, asks: readonly Ask<unknown, unknown>[], bug?: Error): void {
    const exhausted = asks.filter((ask) => ask.attempts >= LIMITS.attemptsMax)
    if (exhausted.length > 0 && bug !== undefined) this.#fault(turn, exhausted, bug)
    else if (exhausted.length > 0)
      this.#reject(turn, exhausted, new Overloaded('Too many writers for one balance; try again.'))
    turn.activation.putBack(asks.filter((ask) => ask.attempts < LIMITS.attemptsMax))
  }

  /** Rejects the isolated command, which is the faulty one. */
  #fault(turn: Turn, asks: readonly Ask<unknown, unknown>[], error: Error): void {
    this.#options.onBug(error, `commit of ${turn.activation.kind.name} ${turn.activation.id}`)
    turn.activation.isolated = Math.max(0, turn.activation.isolated - asks.length)
    this.#reject(turn, asks, error)
  }

  #reject(turn: Turn, asks: readonly Ask<unknown, unknown>[], error: Error): void {
    this.#backlog -= asks.length
    turn.asks = turn.asks.filter((ask) => !asks.includes(ask))
    for (const ask of asks) ask.reject(error)
  }
}

/**
 * A commit lane: one connection, one commit in flight, and the actors of the shards that are its own.
 *
 * What it promises
 *  * I1: no ask is answered before the transaction that justifies the answer has committed.
 *  * I3: a turn that rested on a stale version is decided again on fresh state, the others are sent again; an activation
 *    that somebody else writes to as well is loaded under lock, so it makes progress however many writers there are.
 *  * I7: a connection lost during a commit answers OutcomeUnknown and repeats nothing.
 *  * A command that throws while it is decided fails alone; one that nobody waits for any more is not decided.
 *
 * Group commit without a timer: while a commit is in flight, asks gather in mailboxes; the next round decides all of
 * them, as late as possible, and writes them in one statement. Alone, a command commits at once.
 *
 * Answers leave when the next commit is on its way: rendering and sending a hundred of them takes this thread as long as
 * the commit takes Postgres, and either would wait for the other.
 */
import { setImmediate as immediate } from 'node:timers/promises'
import type { Clock } from '../../lib/base/clock.ts'
import { OperatingError } from '../../lib/base/errors.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { commit, isBeyondLimit, type BalanceAfter, type CommitCommand, type CommitConnection, type CommitTurn, type Conflict } from '../../storage/commit/commit.ts'
import { Connection, DatabaseUnavailable, OutcomeUnknown } from '../../storage/db/connection.ts'
import { LOST_RACE_SQLSTATES, provesRollback, REPEATED_COMMIT_SQLSTATES, sqlState, UNAVAILABLE_SQLSTATES, UNIQUE_VIOLATION } from '../../storage/db/sqlstates.ts'
import type { Activation } from './activation.ts'
import { ACTOR_NAMES, type Ask, type Decision } from './actor.ts'

/** The service has more to do than it can; the caller may repeat with the same key. */
export class Overloaded extends OperatingError {
  override readonly name = 'Overloaded'
}

interface Decided {
  readonly ask: Ask<unknown, unknown>
  readonly decision: Decision<unknown, unknown>
}

/** One activation's part of a round. */
interface Turn {
  readonly activation: Activation
  asks: Ask<unknown, unknown>[]
  decided: Decided[]
  fence: CommitTurn['fence']
  /** Its activation has been let go, to be scheduled again or forgotten. */
  released: boolean
}

export interface LaneOptions {
  readonly databaseUrl: string
  readonly nth: number
  readonly clock: Clock
  readonly onBug: (error: unknown, what: string) => void
  /** Called after each commit, before its answers leave. */
  readonly onCommitted?: (() => void) | undefined
  /** Called when a connection was replaced, before anything is read through the new one: all state of this lane's actors is to be forgotten. */
  readonly onReconnected?: (() => void) | undefined
  /** The activation of a balance, when it is in memory. */
  readonly balanceInMemory: (id: string) => Activation | undefined
}

/** How far a round had come: an error while rows are turned into parameters is a bug of one command, nothing was sent. */
type Stage = 'reading' | 'encoding' | 'sent'

const NOTHING_TO_COMMIT = { ok: true, balances: [] } as const

export class Lane {
  readonly #options: LaneOptions
  #connection: Connection | undefined
  #wasConnected = false
  #ready: Activation[] = []
  #backlog = 0
  #running: Promise<void> | undefined
  /** What the commit before has decided, not answered yet. */
  #pendingReplies: (() => void)[] = []
  /** Commits and commands so far, for metrics and the bench. */
  readonly counters = { commits: 0, commands: 0, conflicts: 0 }

  constructor(options: LaneOptions) { this.#options = options }

  get backlog(): number { return this.#backlog }

  /** Queues one ask. @throws Overloaded when the mailbox or the lane is full; nothing was queued then (I8). */
  enqueue(activation: Activation, ask: Ask<unknown, unknown>): void {
    if (activation.waiting >= LIMITS.mailboxMax || this.#backlog >= LIMITS.laneBacklogMax) {
      throw new Overloaded('Too many requests are waiting; try again shortly.')
    }
    activation.put(ask)
    this.#backlog += 1
    this.#schedule(activation)
  }

  /** Waits until everything that was queued has been answered, then gives the connection back. */
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
      // Let the requests that have arrived by now be read first: they share the commit.
      await immediate()
      const turns = this.#takeTurns()
      try {
        await this.#round(turns)
      } catch (error) {
        // #round answers for everything it foresees; whatever is left is a bug, and must not leave a caller waiting.
        this.#options.onBug(error, 'commit round')
        for (const turn of turns) this.#reject(turn, turn.asks, error as Error)
      }
      this.#release(turns)
    }
    this.#sendReplies()
    this.#running = undefined
    if (this.#ready.length > 0) this.#running = this.#run()
  }

  /** Lets the activations of a round go. Before the answers leave, so that whoever gets one may forget the actor at once. */
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

  /** Takes turns up to a commit's size. Contended activations get rounds of their own, under lock. */
  #takeTurns(): Turn[] {
    const turns: Turn[] = []
    const later: Activation[] = []
    const contended = this.#ready[0]?.contended ?? false
    const isolated = (this.#ready[0]?.isolated ?? 0) > 0
    let room: number = LIMITS.commitCommandsMax
    let next = 0
    for (; next < this.#ready.length && room > 0; next++) {
      const activation = this.#ready[next] as Activation
      if (activation.contended !== contended || activation.isolated > 0 !== isolated) { later.push(activation); continue }
      const asks = activation.take(Math.min(room, activation.kind.turnMax ?? room))
      room = isolated ? 0 : room - asks.length
      turns.push({ activation, asks, decided: [], fence: null, released: false })
    }
    this.#ready = [...later, ...this.#ready.slice(next)]
    return turns
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
    try {
      if (underLock) await connection.begin()
      await this.#decide(connection, turns, underLock)
      const committing = turns.filter((turn) => turn.decided.some(({ decision }) => decision.effects !== null))
      const commitTurns = committing.map((turn) => ({
        fence: turn.fence,
        commands: turn.decided.flatMap(({ decision }) => (decision.effects === null ? [] : [decision as CommitCommand])),
      }))
      const wire: CommitConnection = {
        query: (statement) => {
          stage = 'sent'
          const result = connection.query(statement)
          this.#sendReplies()
          return result
        },
      }
      if (committing.length > 0) stage = 'encoding'
      const result = committing.length > 0 ? await commit(wire, commitTurns, this.#options.clock.now()) : NOTHING_TO_COMMIT
      if (underLock) await connection.end(result.ok)
      this.#sendReplies()
      if (result.ok && committing.length > 0) this.#options.onCommitted?.()
      if (result.ok) this.#succeed(turns, result.balances)
      else this.#resolveConflicts(turns, committing, result.conflicts)
    } catch (error) {
      this.#sendReplies()
      if (underLock && !connection.lost) await connection.end(false).catch(() => { /* The connection is replaced below. */ })
      this.#fail(turns, error, stage, connection)
    }
  }

  /** Answers what the commit before has decided. */
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
    // Behind another connection may be another server, that has taken over and lost the last commits: versions that memory knows
    // may be given out again there for something else. What was read through the connection before is forgotten with it.
    if (this.#wasConnected) this.#options.onReconnected?.()
    this.#wasConnected = true
    return this.#connection = connection
  }

  /** Loads what is not in memory and decides every turn; a no from memory is decided again on fresh state (I4). */
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
    // In the order in which the commit locks them.
    for (const name of ACTOR_NAMES) {
      const ofKind = turns.filter(({ activation }) => activation.kind.name === name)
      if (ofKind.length === 0) continue
      const { kind } = (ofKind[0] as Turn).activation
      const ids = ofKind.map(({ activation }) => activation.id)
      if (underLock) for (const { asks } of ofKind) for (const { command } of asks) ids.push(...(kind.credits?.(command) ?? []))
      const loading = kind.load(connection, ids, underLock)
      this.#sendReplies()
      const states = await loading
      for (const { activation } of ofKind) activation.state = states.get(activation.id) ?? null
    }
  }

  /** Decides one turn. @returns false when it holds a no that only fresh state may give */
  #fold(turn: Turn): boolean {
    const { activation } = turn
    const now = this.#options.clock.now()
    let state = activation.state as unknown
    let refused = false
    turn.decided = []
    turn.fence = activation.kind.fence(state)
    for (const ask of turn.asks) {
      if (ask.deadline <= now) {
        // Its caller has given up, and may ask for something else instead (I8).
        this.#reject(turn, [ask], new Overloaded('The request waited longer than it may; try again.'))
        continue
      }
      try {
        const decision = activation.kind.decide(state, ask.command, now)
        refused ||= decision.refused === true
        state = decision.state
        turn.decided.push({ ask, decision })
      } catch (error) {
        // One poisoned command fails alone; its neighbours in the turn do not.
        this.#options.onBug(error, `${activation.kind.name} ${activation.id}`)
        this.#reject(turn, [ask], error as Error)
      }
    }
    return !refused
  }

  #succeed(turns: readonly Turn[], balances: readonly BalanceAfter[]): void {
    this.counters.commits += 1
    for (const turn of turns) {
      const { activation } = turn
      activation.contended = false
      activation.isolated = Math.max(0, activation.isolated - turn.asks.length)
      // That there is no such row is not remembered: somebody else may insert it, and nothing would tell (I4).
      activation.state = turn.decided.at(-1)?.decision.state ?? undefined
    }
    for (const after of balances) {
      const balance = this.#options.balanceInMemory(after.id)
      if (balance === undefined || balance.lane !== this || balance.state === undefined || balance.state === null) continue
      balance.state = balance.kind.committed?.(balance.state, after) ?? undefined
    }
    this.#release(turns)
    for (const turn of turns) {
      this.counters.commands += turn.decided.length
      this.#backlog -= turn.decided.length
      for (const { ask, decision } of turn.decided) this.#pendingReplies.push(() => ask.resolve({ kind: 'decided', reply: decision.reply }))
    }
  }

  #resolveConflicts(turns: readonly Turn[], committing: readonly Turn[], conflicts: readonly Conflict[]): void {
    this.counters.conflicts += 1
    const ofCommand = new Map<CommitCommand, { turn: Turn; ask: Ask<unknown, unknown> }>()
    for (const turn of committing) {
      for (const { ask, decision } of turn.decided) ofCommand.set(decision as CommitCommand, { turn, ask })
    }
    const answered = new Set<Ask<unknown, unknown>>()
    const stale = new Set<Turn>()
    for (const conflict of conflicts) {
      if (conflict.kind === 'balance_stale') { stale.add(committing[conflict.turn] as Turn); continue }
      const { turn, ask } = ofCommand.get(conflict.command) as { turn: Turn; ask: Ask<unknown, unknown> }
      // The actor of a row decides again on what is there now. Who brings a payment to its balance has to read it again.
      if (turn.activation.kind.staleAs?.includes(conflict.kind) === true) { stale.add(turn); continue }
      if (answered.has(ask)) continue
      answered.add(ask)
      this.#backlog -= 1
      ask.resolve(conflict)
    }
    for (const turn of turns) {
      if (stale.has(turn)) {
        turn.activation.state = undefined
        // A payment has a handful of moves, so whoever lost one wins soon enough; a balance may have writers without end.
        turn.activation.contended = turn.activation.kind.name === 'balance'
        // Its contract may have been changed by another one of the same round: a round of its own.
        if (turn.activation.kind.name === 'exchange') turn.activation.isolated ||= turn.asks.length
        for (const ask of turn.asks) ask.attempts += 1
      }
      this.#again(turn, turn.asks.filter((ask) => !answered.has(ask)))
    }
  }

  #fail(turns: readonly Turn[], error: unknown, stage: Stage, connection: Connection): void {
    const code = sqlState(error)
    const unknown = stage === 'sent' && !provesRollback(error)
    if (stage !== 'encoding' && !provesRollback(error)) { void connection.close(); this.#connection = undefined }
    for (const turn of turns) {
      turn.activation.state = undefined
      if (unknown) {
        this.#reject(turn, turn.asks, new OutcomeUnknown('The outcome is not known yet; repeat with the same Idempotency-Key.', { cause: error }))
      } else if (stage !== 'encoding' && (code === null || UNAVAILABLE_SQLSTATES.test(code))) {
        this.#reject(turn, turn.asks, new DatabaseUnavailable('The database cannot take this at present.', { cause: error }))
      } else if ((code !== null && REPEATED_COMMIT_SQLSTATES.has(code)) || isBeyondLimit(error) || !turn.activation.isolated) {
        // 23505 and whatever else is wrong with one command must not take its neighbours along: one at a time from here.
        const alone = turn.activation.isolated > 0
        if (code === null || !LOST_RACE_SQLSTATES.has(code)) turn.activation.isolated ||= turn.asks.length
        for (const ask of turn.asks) ask.attempts += 1
        // A duplicate that stays one although what it collides with is visible by now is a bug, and is said to be one.
        this.#again(turn, turn.asks, alone && code === UNIQUE_VIOLATION ? (error as Error) : undefined)
      } else {
        this.#fault(turn, turn.asks, error as Error)
      }
    }
  }

  #again(turn: Turn, asks: readonly Ask<unknown, unknown>[], bug?: Error): void {
    const exhausted = asks.filter((ask) => ask.attempts >= LIMITS.attemptsMax)
    if (exhausted.length > 0 && bug !== undefined) this.#fault(turn, exhausted, bug)
    else if (exhausted.length > 0) this.#reject(turn, exhausted, new Overloaded('Too many writers for one balance; try again.'))
    turn.activation.putBack(asks.filter((ask) => ask.attempts < LIMITS.attemptsMax))
  }

  /** The one command that was isolated is wrong. */
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

/**
 * The follower that chains the journal by hashes (storage/journal/journal-chain.ts), some seconds behind the commits.
 * Every node polls and one at a time writes. A pass that chained many lines is followed at once by the next. A pass
 * that took long is followed by an even longer pause, so that a ledger of millions of balances is not searched all the
 * time.
 */
import { HOUR_MS, type Clock } from '../../lib/base/clock.ts'
import type { Database } from '../../storage/db/database.ts'
import { chainJournal } from '../../storage/journal/journal-chain.ts'
import { REST_MS } from '../runtime/poller.ts'
import type { Wakes } from '../runtime/wakes.ts'

/** The pause between two passes. */
const PAUSE_MS = 5_000
/** Passes go on for this time after the last commit of this node: a pass of another node may have begun before it. */
const SETTLED_MS = 2 * PAUSE_MS
/** While little is found, passes may take one part in this many of the time. */
const SHARE = 50
/** A pass that chained this many lines has left more behind. */
const MUCH = 8_192
/** The interval at which the newest block is logged, so that a copy can be kept elsewhere. */
const TELL_MS = HOUR_MS

export interface JournalChainOptions {
  readonly wakes: Pick<Wakes, 'add'>
  readonly database: Database
  readonly clock: Clock
  readonly log: { info(fields: object, message: string): void }
  readonly onError: (error: unknown, what: string) => void
}

export class JournalChain {
  readonly #options: JournalChainOptions
  #timer: NodeJS.Timeout | undefined
  /** Whether the next pass waits for a commit. */
  #resting = false
  /** When this node last committed, by the monotonic clock. */
  #wokenAt = Number.NEGATIVE_INFINITY
  #leave: (() => void) | undefined
  #running = false
  #pass: Promise<void> | undefined
  #lookedAt: number | null = null
  #toldAt = Number.NEGATIVE_INFINITY
  #told = ''
  #lag = 0

  constructor(options: JournalChainOptions) {
    this.#options = options
  }

  /** The number of balance lines that were not chained at the last pass. */
  get lag(): number {
    return this.#lag
  }

  /** Starts polling after a pause. Does not keep the process alive. */
  start(): void {
    this.#running = true
    this.#leave = this.#options.wakes.add(['events'], () => this.#wake())
    this.#wait(PAUSE_MS)
  }

  /** Stops polling; finishes the pass in progress. */
  async stop(): Promise<void> {
    this.#running = false
    this.#leave?.()
    clearTimeout(this.#timer)
    await this.#pass
  }

  #wake(): void {
    this.#wokenAt = performance.now()
    if (!this.#resting) return
    clearTimeout(this.#timer)
    this.#wait(PAUSE_MS)
  }

  #wait(ms: number): void {
    this.#resting = false
    this.#timer = setTimeout(() => {
      this.#pass = this.#look()
    }, ms).unref()
  }

  async #look(): Promise<void> {
    const begin = performance.now()
    const lines = await this.#once().catch((error: unknown) => {
      this.#options.onError(error, 'journal chain')
      return 0
    })
    if (!this.#running) return
    // All that was committed is chained: the next commit ends a long pause.
    const settled = lines === 0 && performance.now() - this.#wokenAt >= SETTLED_MS
    const pauseMs = settled ? REST_MS : PAUSE_MS
    this.#wait(lines >= MUCH ? 0 : Math.max(pauseMs, (performance.now() - begin) * SHARE))
    this.#resting = settled
  }

  async #once(): Promise<number> {
    const { database, clock, log, onError } = this.#options
    const now = clock.now()
    const pass = await chainJournal(database, { now, lookedAt: this.#lookedAt })
    this.#lookedAt = now
    if (pass === null) return 0
    this.#lag = pass.lag
    for (const id of pass.holes)
      onError(new Error(`The journal of the balance ${id} has a hole; the audit says where.`), 'journal chain')
    if (pass.block !== null && pass.block.number !== this.#told && now - this.#toldAt >= TELL_MS) {
      this.#toldAt = now
      this.#told = pass.block.number
      log.info({ block: pass.block.number, hash: pass.block.hash }, 'journal block')
    }
    return pass.lines
  }
}

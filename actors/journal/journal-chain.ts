/**
 * The follower that chains the journal (storage/journal/journal-chain.ts), some seconds behind the commits. Every node looks and one at a
 * time writes. A look that found much is followed by the next at once; one that took long, by a pause that is longer still, so
 * that a ledger of millions of balances is not searched all the time.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { Database } from '../../storage/db/database.ts'
import { chainJournal } from '../../storage/journal/journal-chain.ts'

/** How long after a look the next one begins. */
const PAUSE_MS = 5_000
/** The share of the time that looking may take while little is found: one part in so many. */
const SHARE = 50
/** A pass that chained this much left more behind. */
const MUCH = 8_192
/** How often the newest block is told to the log, for whoever keeps it elsewhere. */
const TELL_MS = 60 * 60_000

export interface JournalChainOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: { info(fields: object, message: string): void }
  readonly onError: (error: unknown, what: string) => void
}

export class JournalChain {
  readonly #options: JournalChainOptions
  #timer: NodeJS.Timeout | undefined
  #running = false
  #pass: Promise<void> | undefined
  #lookedAt: number | null = null
  #toldAt = Number.NEGATIVE_INFINITY
  #told = ''
  #lag = 0

  constructor(options: JournalChainOptions) { this.#options = options }

  /** Lines of balances that were not chained at the last look. */
  get lag(): number { return this.#lag }

  /** Begins to look after a pause. Does not keep the process alive. */
  start(): void {
    this.#running = true
    this.#wait(PAUSE_MS)
  }

  /** Stops looking; a pass that was begun is finished. */
  async stop(): Promise<void> {
    this.#running = false
    clearTimeout(this.#timer)
    await this.#pass
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => { this.#pass = this.#look() }, ms).unref()
  }

  async #look(): Promise<void> {
    const begin = performance.now()
    const lines = await this.#once().catch((error: unknown) => {
      this.#options.onError(error, 'journal chain')
      return 0
    })
    if (this.#running) this.#wait(lines >= MUCH ? 0 : Math.max(PAUSE_MS, (performance.now() - begin) * SHARE))
  }

  async #once(): Promise<number> {
    const { database, clock, log, onError } = this.#options
    const now = clock.now()
    const pass = await chainJournal(database, { now, lookedAt: this.#lookedAt })
    this.#lookedAt = now
    if (pass === null) return 0
    this.#lag = pass.lag
    for (const id of pass.holes) onError(new Error(`The journal of the balance ${id} has a hole; the audit says where.`), 'journal chain')
    if (pass.block !== null && pass.block.number !== this.#told && now - this.#toldAt >= TELL_MS) {
      this.#toldAt = now
      this.#told = pass.block.number
      log.info({ block: pass.block.number, hash: pass.block.hash }, 'journal block')
    }
    return pass.lines
  }
}
